"""What a broken declaration costs at worst: time until it is refused, and memory."""

from __future__ import annotations

from pathlib import Path

from benchmarks.measure import OUT, Figure, peak_gib, time_call
from tests.properties.broken import broken_declarations
from weftline.app.check import check
from weftline.errors import WeftlineError

COUNT = 200


def run() -> list[Figure]:
    """Check generated broken declarations one by one; each must be refused with a code."""
    folder = OUT / "hostile"
    folder.mkdir(parents=True, exist_ok=True)
    times: list[float] = []
    for name, text in broken_declarations(COUNT, seed=1):
        path = folder / f"{name}.yaml"
        path.write_bytes(text)
        seconds, code = time_call(lambda path=path: refusal_code(path))
        if not code:
            message = f"{name} was accepted"
            raise SystemExit(message)
        times.append(seconds)
    return [
        Figure(f"worst of {COUNT} broken declarations", max(times), "s", must=30.0, aim=2.0),
        Figure(f"mean of {COUNT} broken declarations", sum(times) / COUNT, "s", aim=0.1),
        Figure("memory for all of them", peak_gib(), "GiB", must=1.0, aim=0.5),
    ]


def refusal_code(path: Path) -> str:
    """Check one declaration; the code with which it is refused, or nothing."""
    try:
        check(path)
    except WeftlineError as error:
        return error.code
    return ""
