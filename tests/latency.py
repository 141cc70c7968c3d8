"""The smallest message, end to end, on the parts of the catalogue: simulated, and summed from what the parts say."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from tests.packets import make_flows
from weftline.app.packets import PacketChoice, make_machine
from weftline.app.pipeline import Routed, run_to_routes, silent
from weftline.model.fabric import NodeKind
from weftline.model.packet import Machine, PacketOptions
from weftline.model.parameters import CarriageChoice
from weftline.model.result import SimOptions
from weftline.simulate.packet.run import simulate_packets
from weftline.simulate.paths import walk_ports

SMALLEST = 8
"""Bytes of a message."""
PLACE = """\
fabric: {{name: small}}
technology: {technology}
hosts: {{count: 128, rate_gbps: 400, unit_size: 4, part: thin}}
topology: {{kind: fat-tree, tiers: 3, leaf: box, spine: box, core: box}}
parts:
  hosts: {{thin: {{base: DGX-H100, gpus: 1, rails: 1}}}}
  switches: {{box: {{base: {part}, ports: [{{rate_gbps: 400, count: 8}}]}}}}
"""
PARTS = {"infiniband": "QM9700", "roce": "SN5600"}
PS_PER_BYTE = 8_000_000
"""Of one Mb/s."""


@dataclass(frozen=True)
class Stage:
    """A fabric of three tiers, and what packets meet on it."""

    routed: Routed
    machine: Machine

    def far(self, switches: int) -> tuple[int, int]:
        """Find two ports of hosts with so many switches between them."""
        ends = self.routed.built.fabric.endpoint_port
        return int(ends[0]), int(ends[{1: 1, 3: 4, 5: -1}[switches]])


@cache
def make_stage(technology: str) -> Stage:
    """Build the fabric with the parts of a technology; nobody slows down for marks."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "small.yaml"
        place.write_text(PLACE.format(technology=technology, part=PARTS[technology]), encoding="utf-8")
        routed = run_to_routes(place)
        choice = PacketChoice(carriage=CarriageChoice(pacing="none") if technology == "roce" else CarriageChoice())
        return Stage(routed, make_machine(routed, choice, silent))


def simulate_one(stage: Stage, switches: int) -> int:
    """Send one smallest message; picoseconds from its start to its arrival."""
    flows = make_flows([stage.far(switches)], SMALLEST)
    fabric = stage.routed.built.fabric
    result = simulate_packets(flows, fabric, stage.routed.routes, stage.machine, PacketOptions())
    return int(result.finish_ps[0])


def sum_parts(stage: Stage, switches: int) -> int:
    """Sum what the parts on the way say: adapters, cables, switches, and its bytes where they are stored.

    A packet that every switch begins to send before it has come costs its bytes once, where it is received.
    """
    fabric, medium = stage.routed.built.fabric, stage.machine.medium
    source, target = (np.array([end], dtype=np.int32) for end in stage.far(switches))
    _, ports = walk_ports(source, target, fabric, stage.routed.routes, SimOptions(0.0))
    nodes = fabric.port_node[ports]
    assert (fabric.node_kind[nodes[1:]] == NodeKind.SWITCH).all()
    assert len(nodes) == switches + 1
    wire = SMALLEST + stage.machine.carriage.overhead_bytes
    length = -(-wire * PS_PER_BYTE // int(medium.rate_mbps[ports[0]]))
    through = medium.is_cut_through[nodes[1:]] == 1
    stored = int((~through).sum()) + 1
    cables = int(medium.propagation_ps[ports].sum())
    last = int(medium.receive_ps[fabric.port_node[target[0]]])
    return int(medium.latency_ps[nodes].sum()) + cables + last + stored * length


def measure_rate(stage: Stage, messages: int, peers: int) -> tuple[float, float]:
    """Send so many smallest messages from one host to peers in turn; how many a second, and the most of the line."""
    fabric = stage.routed.built.fabric
    ends = fabric.endpoint_port
    pairs = [(int(ends[0]), int(ends[1 + turn % peers])) for turn in range(messages)]
    flows = make_flows(pairs, SMALLEST, queue=[turn % peers for turn in range(messages)])
    result = simulate_packets(flows, fabric, stage.routed.routes, stage.machine, replace(PacketOptions(), samples=0))
    assert result.ending == "done"
    # A message begins when the one before it to the same peer has been sent; the first to each begin at once.
    first, last = int(result.start_ps.min()), int(result.start_ps.max())
    wire = SMALLEST + stage.machine.carriage.overhead_bytes
    most = float(stage.machine.medium.rate_mbps[int(ends[0])]) * 1e6 / 8 / wire
    return (messages - peers) / (last - first) * 1e12, most
