"""What the whole suite shares: the corpus, hypothesis profiles, and a warm kernel cache."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests import warm

ROOT = Path(__file__).resolve().parents[1]
CORPUS = ROOT.parent / "shared" / "corpus"
NO_CORPUS = "the corpus is absent"

QUIET = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
settings.register_profile("ci", derandomize=True, deadline=None, database=None, suppress_health_check=QUIET)
settings.register_profile("nightly", deadline=None, max_examples=1000, suppress_health_check=QUIET)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


def pytest_configure(config: pytest.Config) -> None:
    """Fill the kernel cache once before workers start, so that they neither race nor compile the same code twice."""
    is_worker = hasattr(config, "workerinput")
    if not is_worker and getattr(config.option, "numprocesses", None):
        warm.warm_kernels()


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return ROOT


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of real dumps beside the repository; tests that read it are skipped where it is absent."""
    if not CORPUS.is_dir():
        pytest.skip(NO_CORPUS)
    return CORPUS
