# Weftline: `make run` and `make test` set up what they need; the second time they use no network.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help

# uv has certificates of its own; companies have others. Nobody compiles bytecode unless told, and then --help is slow.
export UV_SYSTEM_CERTS := 1
export UV_COMPILE_BYTECODE := 1
unexport PYTHONDONTWRITEBYTECODE VIRTUAL_ENV PYTHONPATH PYTHONHOME

VENV := .venv
BIN := $(VENV)/bin
UV := $(BIN)/uv
STAMPS := $(VENV)/.stamps
INSTALL := $(UV) pip install --quiet --python $(BIN)/python
COMPILE := $(UV) pip compile --quiet --universal --generate-hashes --no-header --fork-strategy fewest --python-version 3.11

EXAMPLE := examples/sovereign-512.yaml
PYTEST_ARGS ?=
MUTATE_ARGS ?=

# Debian packages: without the required ones `make test` stops, without the optional ones some tests are skipped.
REQUIRED_PACKAGES :=
OPTIONAL_PACKAGES := chromium opensm ibsim-utils infiniband-diags ibutils frr frr-pythontools iproute2 iputils-ping nftables \
	shellcheck tcpdump

.PHONY: help run test oracle bench mutate lint format docs coverage lock clean setup

help: ## Show what can be made
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1\t/' | expand -t 18

run: setup ## Set everything up, then run the main job on the 512-GPU example
	@$(BIN)/weftline up $(EXAMPLE)

test: setup $(STAMPS)/dev $(STAMPS)/packages ## Set everything up, then run the whole test suite
	@echo "Running the test suite" >&2
	@$(BIN)/python -m pytest $(PYTEST_ARGS)

oracle: setup $(STAMPS)/dev $(STAMPS)/packages ## OpenSM's own tables on every fabric of the corpus, held against ibdmchk; writes their table (an hour)
	@mkdir -p out; rm -f out/oracle.jsonl; status=0; \
	  WEFTLINE_ORACLE=all WEFTLINE_ORACLE_ROWS=$(CURDIR)/out/oracle.jsonl nice $(BIN)/python -m pytest -n 0 \
	  tests/oracle/test_engine_tables.py $(PYTEST_ARGS) || status=$$?; \
	  $(BIN)/python -m tests.oracle.engine_rows out/oracle.jsonl docs/reference/opensm-engines.md; exit $$status

bench: setup $(STAMPS)/dev ## Measure, print a table, write out/bench.json
	@$(BIN)/python -m benchmarks

mutate: setup $(STAMPS)/dev ## Put small faults into the dangerous modules: the tests must notice each (takes an hour)
	@$(BIN)/python tools/mutate.py $(MUTATE_ARGS)

lint: setup $(STAMPS)/dev $(STAMPS)/docs ## Check style, types, contracts between rooms, and dependencies
	@status=0; for check in "ruff check" "ruff format --check" pyright "lint-imports --no-cache --no-logo" "deptry src"; do \
	  echo "-- $$check" >&2; $(BIN)/$$check || status=1; done; exit $$status

format: setup $(STAMPS)/dev ## Format the code and mend what can be mended
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

docs: setup $(STAMPS)/docs ## Build the documentation into docs/_build/html; warnings are errors
	@$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

coverage: setup $(STAMPS)/dev ## Count covered lines: the suite compiled, the kernels once more as plain Python
	@rm -f .coverage .coverage.*
	@$(BIN)/coverage run -m pytest -q
	@NUMBA_DISABLE_JIT=1 $(BIN)/coverage run -m pytest -q tests/kernels
	@$(BIN)/coverage combine --quiet
	@$(BIN)/coverage report

lock: $(UV) ## Make requirements/*.txt anew from pyproject.toml
	@$(COMPILE) pyproject.toml -o requirements/run.txt
	@$(COMPILE) --group dev -c requirements/run.txt -o requirements/dev.txt
	@$(COMPILE) --group lab -c requirements/run.txt -o requirements/lab.txt
	@$(COMPILE) --group docs -c requirements/run.txt -c requirements/dev.txt -o requirements/docs.txt
	@echo uv | $(COMPILE) - -o requirements/uv.txt

clean: ## Remove the environment and everything that was made
	rm -rf $(VENV) .cache out dist docs/_build .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	rm -f .coverage .coverage.*

setup: $(STAMPS)/run

$(UV): requirements/uv.txt
	@tools/make-venv $(VENV)
	@touch $@

$(STAMPS)/run: requirements/run.txt pyproject.toml | $(UV)
	@echo "Setting up: the program and what it needs" >&2
	@$(INSTALL) --require-hashes -r requirements/run.txt
	@$(INSTALL) --no-deps --offline -e .
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/dev: requirements/dev.txt | $(STAMPS)/run
	@echo "Setting up: the test and lint tools" >&2
	@$(INSTALL) --require-hashes -r requirements/dev.txt
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/docs: requirements/docs.txt | $(STAMPS)/run
	@echo "Setting up: the documentation tools" >&2
	@$(INSTALL) --require-hashes -r requirements/docs.txt
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/packages: Makefile tools/debian-packages | $(STAMPS)/run
	@tools/debian-packages --required "$(REQUIRED_PACKAGES)" --optional "$(OPTIONAL_PACKAGES)"
	@mkdir -p $(STAMPS) && touch $@
