"""Packets: the speed and memory of the packet machine, and the spread of permutations over seeds; processor time."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.measure import ROOT, Figure
from tests.packets import make_machine
from tests.s400 import HOSTS, IDEAL_PS, LOSSLESS, PERMUTATION, make_load, make_tree, permute, selective
from weftline.model.packet import PacketOptions, PacketResult
from weftline.model.result import SimOptions
from weftline.model.traffic import Collective
from weftline.simulate.packet.drive import drive
from weftline.simulate.packet.run import FOREVER, simulate_packets
from weftline.simulate.packet.ways import find_ways
from weftline.simulate.packet.world import lay_world, wire

MIB = 2**20
OPTIONS = PacketOptions()
SEEDS = range(16)
LOADS = (
    ("permutation of 1,024 hosts, 4 MiB, flow hash", 16, PERMUTATION, 1024, 4.0, 2.0),
    ("ring all-reduce of 128 ranks, 64 MiB", 8, Collective("all-reduce", "ring", 64 * MIB, 0), 128, 8.0, 4.0),
    ("all-to-all of 128 ranks, 16 MiB", 8, Collective("all-to-all", "ring", 16 * MIB, 0), 128, 2.5, 1.2),
    ("ring all-reduce of 1,024 ranks, 64 MiB", 16, Collective("all-reduce", "ring", 64 * MIB, 0), 1024, 90.0, 40.0),
)
BOUNDS = {4: (1.9, 3.2), 8: (4.0, 6.0), 16: (5.5, 8.5)}
"""Median time of the last flow of a permutation, over the ideal, by ports of a switch."""
GROWTH = 2.0
"""What a hop may cost more at 1,024 hosts than at 16."""
ROUNDS = 8
"""Permutations of 16 hosts that are measured together; one is too short."""


def run() -> list[Figure]:
    """Measure each load once, after one small run that compiles the kernels or loads them."""
    permute(4, 0, OPTIONS)
    figures = [_measure(*load) for load in LOADS]
    figures += _measure_memory()
    figures += _measure_growth()
    figures.append(Figure("packets: a process that simulates 16 hosts, kernels ready", _measure_warm(), "s", must=2.0))
    for ports in BOUNDS:
        figures += _spread(ports)
    return figures + _measure_spraying()


def _measure(words: str, ports: int, load: Collective, ranks: int, must: float, aim: float) -> Figure:
    fabric, routes = make_tree(ports)
    machine = make_machine(fabric, LOSSLESS)
    start = time.process_time()
    flows = make_load(fabric, load, ranks)
    result = simulate_packets(flows, fabric, routes, machine, OPTIONS)
    seconds = time.process_time() - start
    _hold(result)
    return Figure(f"packets: {words}, {result.hops / 1e6:.1f} M hops", seconds, "s", must=must, aim=aim)


def _hold(result: PacketResult) -> None:
    if result.ending != "done" or result.loss is not None or result.again:
        message = f"a lossless load ended as {result.ending}, {result.loss}, {result.again} packets sent again"
        raise SystemExit(message)


def _measure_memory() -> list[Figure]:
    """Measure the first load in a process of its own, whose kernels are ready."""
    code = "from benchmarks.packet import tell_memory; tell_memory()"
    state, whole = _run_python(code).split()
    return [
        Figure("packets: memory of that permutation, state of the machine", float(state), "MB", must=128.0, aim=64.0),
        Figure("packets: memory of that permutation, whole process", float(whole), "MB", must=400.0, aim=300.0),
    ]


def tell_memory() -> None:
    """Run the first load and print the bytes of its world and the most that the process held, in MB."""
    fabric, routes = make_tree(16)
    flows = make_load(fabric, PERMUTATION, HOSTS[16])
    machine = make_machine(fabric, LOSSLESS)
    ways = find_ways(flows, fabric, routes, machine.medium, SimOptions(0.0))
    world, _ = drive(lay_world(flows, wire(fabric, routes), machine, ways, OPTIONS), FOREVER, lambda _: None)
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    most = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))  # getrusage may tell the parent's
    print(sum(column.nbytes for column in world) / 1e6, most * 1024 / 1e6)


def _measure_growth() -> list[Figure]:
    """Compare what a hop costs in a small and in a large fabric under the same load."""
    costs: list[float] = []
    for ports, seeds in ((4, range(ROUNDS)), (16, range(1))):
        permute(ports, 0, replace(OPTIONS, until_ps=1_000_000))
        start = time.process_time()
        hops = sum(permute(ports, seed, OPTIONS).hops for seed in seeds)
        costs.append((time.process_time() - start) / hops * 1e6)
    return [
        Figure("packets: one hop of one packet among 16 hosts", costs[0], "us"),
        Figure("packets: one hop of one packet among 1,024 hosts", costs[1], "us"),
        Figure("packets: what a hop costs at 1,024 hosts over 16", costs[1] / costs[0], "", must=GROWTH),
    ]


def _measure_warm() -> float:
    # As a command begins; and without coverage, which numba looks for and which no user has.
    bare = "import sys; sys.modules['coverage'] = None"
    begin = "from weftline.cli.main import relax_collector; relax_collector()"
    code = f"{bare}; {begin}; from benchmarks.packet import tell_time; tell_time()"
    return statistics.median(float(_run_python(code)) for _ in range(3))


def tell_time() -> None:
    """Run a small load and print the processor time of the whole process, in seconds."""
    permute(4, 0, OPTIONS)
    print(time.process_time())


def _measure_spraying() -> list[Figure]:
    """Spray the largest permutation to receivers that keep what overtakes."""
    fabric, _ = make_tree(16)
    result = permute(16, 0, replace(OPTIONS, spread="spray"), selective(fabric))
    words = "packets: spraying of 1,024 hosts over ideal, receivers take any order"
    return [Figure(words, float(result.finish_ps.max()) / IDEAL_PS, "x", must=1.25)]


def _spread(ports: int) -> list[Figure]:
    """Run 16 permutations; their least, median and most, and how far the median is outside its bounds."""
    times = [permute(ports, seed, OPTIONS).finish_ps for seed in SEEDS]
    last = sorted(float(time.max()) / IDEAL_PS for time in times)
    mean = statistics.median(float(np.mean(time)) / IDEAL_PS for time in times)
    median = statistics.median(last)
    low, high = BOUNDS[ports]
    words = f"packets: permutation of {HOSTS[ports]:,} hosts over ideal,"
    print(f"{words} {low} to {high} expected: {' '.join(f'{one:.2f}' for one in last)}", file=sys.stderr)
    return [
        Figure(f"{words} least of 16 seeds", last[0], "x"),
        Figure(f"{words} median", median, "x", must=high),
        Figure(f"{words} what the median lacks of {low}", max(0.0, low - median), "x", must=0.0),
        Figure(f"{words} most of 16 seeds", last[-1], "x"),
        Figure(f"{words} mean flow, median", mean, "x"),
    ]


def _run_python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr[-2000:])
    return done.stdout
