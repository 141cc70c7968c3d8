"""Scenario S400: k-ary fat trees of three tiers, 400 Gb/s and 500 ns a link, 4 MiB from each host of a permutation."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from tests.fabrics import make_fabric
from tests.packets import PAUSED, ROCE, make_machine
from weftline.model.fabric import Fabric
from weftline.model.packet import Machine, PacketOptions, PacketResult
from weftline.model.routes import Routes
from weftline.model.traffic import Collective, Flows
from weftline.route import compute_routes
from weftline.schedule import expand, place_ranks
from weftline.simulate.packet.run import simulate_packets

HOSTS = {4: 16, 8: 128, 16: 1024}
"""Hosts by the ports of a switch."""
MESSAGE = 4 * 2**20
PERMUTATION = Collective("permutation", "ring", MESSAGE, 0)
BYTE_PS = 20
FULL = 4096 + 82
IDEAL_PS = MESSAGE // 4096 * FULL * BYTE_PS + 5 * FULL * BYTE_PS + 6 * 500_000
"""Of a flow across the core that is alone: 89.0 us."""
LOSSLESS = replace(PAUSED, static_bytes=500_000, headroom_bytes=400_000, resume_offset_bytes=3000)


@cache
def make_tree(ports: int) -> tuple[Fabric, Routes]:
    """Build the tree of switches with so many ports, with all equal ways in its tables."""
    fabric = make_fabric("fat-tree", hosts=HOSTS[ports], ports=ports, tiers=3, technology="roce")
    return fabric, compute_routes(fabric, "ecmp", to_switches=False)


def make_load(fabric: Fabric, load: Collective, ranks: int, seed: int = 0) -> Flows:
    """Make flows of a collective among the first hosts, in their order."""
    placed = place_ranks(fabric, ranks, "order", seed)
    return expand(replace(load, ranks=placed.ranks), placed)


def permute(ports: int, seed: int, options: PacketOptions, machine: Machine | None = None) -> PacketResult:
    """Run the permutation of a seed, which also picks the paths."""
    fabric, routes = make_tree(ports)
    flows = make_load(fabric, PERMUTATION, HOSTS[ports], seed)
    meets = machine or make_machine(fabric, LOSSLESS)
    return simulate_packets(flows, fabric, routes, meets, replace(options, seed=seed, samples=0))


def selective(fabric: Fabric) -> Machine:
    """Make a machine whose receivers keep what comes out of order."""
    return make_machine(
        fabric, LOSSLESS, replace(ROCE, recovery="selective", window_packets=4096, reorder_packets=2048)
    )
