"""The one door: what is our fault is said so, with a code, and never as a traceback."""

from __future__ import annotations

import json

import pytest

from tests.cli.running import hold
from weftline.app import explain
from weftline.cli.main import call

FAULTS = (
    (RuntimeError("boom"), 70, "internal.bug"),
    (KeyError("x" * 10_000), 70, "internal.bug"),
    (RecursionError(), 70, "internal.bug"),
    (AssertionError("\x1b[2J"), 70, "internal.bug"),
    (MemoryError(), 70, "internal.memory"),
    (OSError(5, "Input/output error"), 1, "artifact.system"),
)


def break_explain(monkeypatch: pytest.MonkeyPatch, fault: BaseException) -> None:
    def fail(_code: str) -> explain.Explanation:
        raise fault

    monkeypatch.setattr(explain, "explain", fail)


@pytest.mark.parametrize(("fault", "status", "code"), FAULTS, ids=lambda value: type(value).__name__)
def test_faults_of_ours(
    fault: BaseException, status: int, code: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("WEFTLINE_TRACEBACK", raising=False)
    break_explain(monkeypatch, fault)
    assert call(["explain", "x", "--json"]) == status
    error = hold(json.loads(capsys.readouterr().out), "error")
    assert error["code"] == code
    assert error["hint"]
    assert len(error["message"]) <= 500
    assert call(["explain", "x"]) == status
    out, err = capsys.readouterr()
    assert out == ""
    assert f"[{code}]" in err
    assert "\x1b" not in err
    assert "Traceback" not in err


def test_a_developer_sees_the_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEFTLINE_TRACEBACK", "1")
    break_explain(monkeypatch, RuntimeError("boom"))
    with pytest.raises(RuntimeError, match="boom"):
        call(["explain", "x"])


@pytest.mark.parametrize(("fault", "status"), [(KeyboardInterrupt(), 130), (BrokenPipeError(), 141)])
def test_leaving_early(
    fault: BaseException, status: int, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    break_explain(monkeypatch, fault)
    assert call(["explain", "x"]) == status
    assert capfd.readouterr().out == ""
