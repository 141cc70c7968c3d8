"""How long a person waits: help, check, and the whole walk with warm caches."""

from __future__ import annotations

from benchmarks.measure import EXAMPLE, OUT, Figure, time_command


def run() -> list[Figure]:
    """Measure commands as a person runs them, in new processes."""
    up = ("up", str(EXAMPLE), "--out", str(OUT / "up"), "--quiet")
    time_command(*up, repeat=1)  # fills the cache of compiled kernels
    return [
        Figure("weftline --help", time_command("--help"), "s", must=0.4, aim=0.3),
        Figure("weftline check, 512 GPUs", time_command("check", str(EXAMPLE)), "s", must=1.0, aim=0.6),
        Figure("weftline up, 512 GPUs, warm", time_command(*up, repeat=3), "s", must=10.0, aim=5.0),
    ]
