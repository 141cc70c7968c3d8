"""Run every benchmark, print a table, write ``out/bench.json``: ``python -m benchmarks [NAME ...]``."""

from __future__ import annotations

import json
import os
import pkgutil
import platform
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import benchmarks
from benchmarks.measure import ROOT, Figure

INTERNAL = {"__main__", "measure"}


def name_machine() -> dict[str, str | int | float]:
    """Name the machine that the figures belong to."""
    facts = Path("/proc/cpuinfo").read_text(encoding="utf-8") if Path("/proc/cpuinfo").exists() else ""
    models = [line.split(":", 1)[1].strip() for line in facts.splitlines() if line.startswith("model name")]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "cpu": models[0] if models else platform.machine(),
        "cores": os.cpu_count() or 0,
        "memory_gib": round(memory, 1),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "load": round(os.getloadavg()[0], 1),
    }


def list_benchmarks() -> list[str]:
    """Name the modules with a ``run`` function, in order."""
    return sorted(module.name for module in pkgutil.iter_modules(benchmarks.__path__) if module.name not in INTERNAL)


def run_one(name: str) -> list[Figure]:
    """Run one benchmark in a process of its own, so that memory and caches are its own."""
    code = (
        "import json; from dataclasses import asdict; "
        f"from benchmarks.{name} import run; "
        "print(json.dumps([asdict(figure) for figure in run()]))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False, capture_output=True, text=True)
    if done.returncode:
        print(f"{name} failed:\n{done.stderr}", file=sys.stderr)
        return []
    return [Figure(**values) for values in json.loads(done.stdout.strip().splitlines()[-1])]


def print_figures(figures: list[Figure]) -> None:
    """Print figures as a table."""
    for figure in figures:
        must = "" if figure.must is None else f"{figure.must:g}"
        aim = "" if figure.aim is None else f"{figure.aim:g}"
        verdict = "ok" if figure.is_ok() else "MISSED"
        print(f"{figure.name:<68} {figure.value:>10.3f} {figure.unit:<6} {must:>7} {aim:>7}  {verdict}", flush=True)


def main(wanted: list[str]) -> int:
    """Measure, print, write; 1 if a benchmark failed or a bound was missed."""
    machine = name_machine()
    print(", ".join(f"{key} {value}" for key, value in machine.items()))
    print(f"{'name':<68} {'value':>10} {'unit':<6} {'must':>7} {'aim':>7}  ok")
    names = [name for name in list_benchmarks() if not wanted or name in wanted]
    figures: list[Figure] = []
    failed = not names
    for name in names:
        measured = run_one(name)
        failed |= not measured
        print_figures(measured)
        figures += measured
    out = ROOT / "out" / "bench.json"
    out.parent.mkdir(exist_ok=True)
    document = {"schema": "weftline/bench/1", "machine": machine, "figures": [asdict(figure) for figure in figures]}
    out.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    print(out.relative_to(ROOT))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
