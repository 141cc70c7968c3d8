"""Run the command: in this process for speed, in one of its own where streams, signals or limits matter."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from weftline.cli.main import call

SCHEMAS = Path(__file__).parent / "schemas"
COMMAND = (sys.executable, "-m", "weftline")
LIMIT_S = 120


@dataclass(frozen=True)
class Ran:
    """What one run left: its exit status and what it printed."""

    status: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """The one JSON document on stdout."""
        return json.loads(self.out)


def run(*arguments: object, cwd: Path | None = None) -> Ran:
    """Run the command in this process; a traceback fails the test."""
    out, err = io.StringIO(), io.StringIO()
    folder = contextlib.nullcontext() if cwd is None else contextlib.chdir(cwd)
    with folder, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = call([str(argument) for argument in arguments])
    return _sound(Ran(status, out.getvalue(), err.getvalue()))


def start(*arguments: object, cwd: Path | None = None, env: dict[str, str] | None = None, stdin: str = "") -> Ran:
    """Run the command in a process of its own; a traceback fails the test."""
    done = subprocess.run(
        [*COMMAND, *(str(argument) for argument in arguments)],
        cwd=cwd,
        env=environment(env),
        input=stdin,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    return _sound(Ran(done.returncode, done.stdout, done.stderr))


def environment(more: dict[str, str] | None = None) -> dict[str, str]:
    """Give the environment of a run: ours, without what would change the output."""
    ours = {"NO_COLOR", "WEFTLINE_TRACEBACK", "PYTHONUNBUFFERED"}
    kept = {name: value for name, value in os.environ.items() if name not in ours}
    return {**kept, **(more or {})}


def refused(ran: Ran, status: int, code: str) -> dict[str, Any]:
    """Hold a run with ``--json`` that failed against its contract; returns the error."""
    error = hold(ran.document, "error")
    assert (ran.status, error["code"]) == (status, code), error
    assert error["hint"]
    return error


def hold(document: dict[str, Any], name: str) -> dict[str, Any]:
    """Hold a document against the schema of its name, and hand it back."""
    validator(name).validate(document)  # pyright: ignore[reportUnknownMemberType]
    return document


@cache
def validator(name: str) -> Draft202012Validator:
    """Make the validator of one schema."""
    files = [(path.name, json.loads(path.read_text(encoding="utf-8"))) for path in sorted(SCHEMAS.glob("*.json"))]
    resources = [(key, Resource[Any].from_contents(content)) for key, content in files]
    registry = cast("Registry[Any]", Registry()).with_resources(resources)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType, reportUnknownArgumentType]
    return Draft202012Validator(dict(files)[f"{name}.json"], registry=registry)


def _sound(ran: Ran) -> Ran:
    assert "Traceback" not in ran.out + ran.err, ran.err
    assert ran.status != 70, ran.out + ran.err
    return ran
