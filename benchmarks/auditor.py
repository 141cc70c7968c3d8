"""How long an auditor's check takes, and its memory; ``python -m benchmarks.auditor 65536 roce`` measures the largest.

A subnet of InfiniBand ends at 49,151 addresses: measure 32,768 there, half of what two planes have.
"""

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
    """Write the bundle of a fat tree and check it as an auditor does.

    Of the largest RoCE fabrics the tables and certificates are written without the files of switches: these are
    compared by their digests only, at some 500 MB a second, and rendering them takes many minutes.
    """
    is_bare = technology == "roce" and endpoints > SMALL
    with tempfile.TemporaryDirectory() as name:
        place, bundle = Path(name) / "fabric.yaml", Path(name) / "bundle"
        place.write_text(TEXT.format(technology=technology, hosts=endpoints // 8), encoding="utf-8")
        seconds, size = time_call(lambda: write_bare(place, bundle) if is_bare else write_whole(place, bundle))
        processor, wall, memory = check(bundle)
    words = f"{endpoints:,} endpoints, {technology}{' without device files' if is_bare else ''}"
    return [
        Figure(f"auditor: {words}, processor time", processor, "s", must=MUST_S.get(endpoints)),
        Figure(f"auditor: {words}, wall time", wall, "s"),
        Figure(f"auditor: {words}, peak memory", memory, "GiB"),
        Figure(f"bundle: {words}, proofs included", seconds, "s"),
        Figure(f"bundle: {words}, peak memory", peak_gib(), "GiB"),
        Figure(f"bundle: {words}, size", size / 2**20, "MiB"),
    ]


def write_whole(place: Path, bundle: Path) -> int:
    """Write a bundle as the command does; returns its bytes."""
    from weftline.app.certify import certify

    return certify(place, bundle).size


def write_bare(place: Path, bundle: Path) -> int:
    """Write a bundle without device files; returns its bytes."""
    from weftline.app.certify import _find_owners, _list_files
    from weftline.app.pipeline import run_to_routes
    from weftline.model.artifact import Artifact, ArtifactSet
    from weftline.model.proof import ProofRules
    from weftline.prove import deadlock, reach
    from weftline.prove.tables import read_tables
    from weftline.render import write

    routed = run_to_routes(place)
    fabric, routes, rules = routed.built.fabric, routed.routes, ProofRules()
    tables = read_tables(fabric, routes)
    distance = reach.measure_distances(tables, rules)
    proofs = {
        reach.CLAIM: reach.prove_reach(fabric, routes, tables, distance, rules),
        deadlock.CLAIM: deadlock.prove_deadlock(fabric, routes, tables, rules),
    }
    owners = _find_owners(routed, is_judged=False)
    files = dict(_list_files(routed, owners, proofs, ArtifactSet("", ())))
    artifacts = tuple(Artifact(path, content, "", "") for path, content in sorted(files.items()))
    write(ArtifactSet(routes.digest, artifacts), bundle, forced=False)
    return sum(len(content) for content in files.values())


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
