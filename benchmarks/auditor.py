"""How long an auditor's check takes, and its memory; ``python -m benchmarks.auditor 65536`` measures the largest."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.measure import KIBIBYTE, ROOT, Figure, peak_gib, time_call

AUDITOR = ROOT / "auditor" / "weftline_audit.py"
SMALL, LARGE = 4_096, 65_536
MUST_S = {SMALL: 10.0, LARGE: 600.0}
WATCH = """import resource, subprocess, sys, time
start = time.perf_counter()
status = subprocess.call(sys.argv[1:])
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(usage.ru_utime + usage.ru_stime, time.perf_counter() - start, usage.ru_maxrss, file=sys.stderr)
sys.exit(status)
"""
"""In a small process between, since the kernel counts the memory of whoever starts a process as its own."""
TEXT = """fabric:
  name: audited
technology: {technology}
hosts:
  count: {hosts}
  gpus: 8
  rails: 8
  rate_gbps: 400
topology:
  kind: fat-tree
  tiers: 3
  oversubscription: 1.0
claims:
  required: [reach, deadlock]
"""


def run() -> list[Figure]:
    """Measure 4,096 endpoints of both technologies."""
    return [figure for technology in ("infiniband", "roce") for figure in measure(technology, SMALL)]


def measure(technology: str, endpoints: int) -> list[Figure]:
    """Write the bundle of a fat tree and check it as an auditor does."""
    from weftline.app.certify import certify

    with tempfile.TemporaryDirectory() as name:
        place = Path(name) / "fabric.yaml"
        place.write_text(TEXT.format(technology=technology, hosts=endpoints // 8), encoding="utf-8")
        seconds, certified = time_call(lambda: certify(place, Path(name) / "bundle"))
        processor, wall, memory = check(Path(name) / "bundle")
    words = f"{endpoints:,} endpoints, {technology}"
    return [
        Figure(f"auditor: {words}, processor time", processor, "s", must=MUST_S.get(endpoints)),
        Figure(f"auditor: {words}, wall time", wall, "s"),
        Figure(f"auditor: {words}, peak memory", memory, "GiB"),
        Figure(f"certificates written: {words}, proofs and files included", seconds, "s"),
        Figure(f"certificates written: {words}, peak memory", peak_gib(), "GiB"),
        Figure(f"certificates: {words}, size", certified.size / 2**20, "MiB"),
    ]


def check(bundle: Path) -> tuple[float, float, float]:
    """Run the auditor in a process of its own: processor and wall time in seconds, and peak memory in GiB."""
    command = [sys.executable, "-I", "-S", "-c", WATCH, sys.executable, "-I", "-S", str(AUDITOR), str(bundle), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, env={}, check=False)
    if done.returncode:
        raise SystemExit(f"the auditor left with {done.returncode}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    processor, wall, peak = (float(word) for word in done.stderr.split())
    return processor, wall, peak * KIBIBYTE / 2**30


if __name__ == "__main__":
    from benchmarks.__main__ import print_figures

    for technology in sys.argv[2:] or ("infiniband", "roce"):
        print_figures(measure(technology, int(sys.argv[1]) if sys.argv[1:] else SMALL))
