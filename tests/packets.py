"""Machines and flows for tests of packets."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from weftline.kernels.column import NIL
from weftline.model.fabric import Fabric
from weftline.model.packet import Carriage, FlowControl, LaneProfile, Machine, Medium
from weftline.model.traffic import Flows, Via

LINK_PS = 500_000
"""Propagation of each link."""
BIG = 1 << 40

LOSSY = LaneProfile(control=FlowControl.NONE, is_lossless=False, cell_bytes=1, static_bytes=200_000)
PAUSED = LaneProfile(
    control=FlowControl.PAUSE, is_lossless=True, cell_bytes=1, static_bytes=200_000, headroom_bytes=200_000,
    resume_offset_bytes=10_000,
)  # fmt: skip
CREDITED = LaneProfile(
    control=FlowControl.CREDIT, is_lossless=True, cell_bytes=64, buffer_bytes=131_072, window_bytes=131_072
)
ROCE = Carriage(
    mtu_bytes=4096, overhead_bytes=82, unstored_bytes=20, ack_bytes=86, notice_bytes=98, pause_bytes=84,
    recovery="go-back-n", ack_every=16, timeout_ps=1_000_000_000, window_packets=1024, reorder_packets=512,
    pacing=None, assumptions=(),
)  # fmt: skip


def make_machine(fabric: Fabric, profile: LaneProfile = PAUSED, carriage: Carriage = ROCE, **columns: Any) -> Machine:
    """Make a machine whose ports are all alike; 400 Gb/s and 500 ns a link unless columns say otherwise."""
    ports, nodes = fabric.port_count, len(fabric.switch_row)
    profiles = columns.pop("profiles", (profile,))
    lanes = columns.pop("lanes", 1)
    values: dict[str, Any] = {
        "profile": np.zeros((ports, lanes), dtype=np.int32),
        "rate_mbps": np.full(ports, 400_000),
        "propagation_ps": np.full(ports, LINK_PS),
        "response_ps": np.zeros(ports, dtype=np.int64),
        "latency_ps": np.zeros(nodes, dtype=np.int64),
        "receive_ps": np.zeros(nodes, dtype=np.int64),
        "pool_bytes": np.full(nodes, BIG),
        "is_cut_through": np.zeros(nodes, dtype=np.int64),
        "data_lane": 0,
        "ack_lane": 0,
        "notice_lane": NIL,
        "assumptions": (),
    }
    return Machine(Medium(lanes=lanes, profiles=profiles, **(values | columns)), carriage)


def make_flows(
    ends: list[tuple[int, int]], size: float | list[float] = 1e6, needs: list[list[int]] | None = None, **columns: Any
) -> Flows:
    """Make flows between fabric ports."""
    count = len(ends)
    needs = needs or [[] for _ in ends]
    return Flows(
        source=np.array([a for a, _ in ends], dtype=np.int32),
        target=np.array([b for _, b in ends], dtype=np.int32),
        via=np.array(columns.get("via", [Via.FABRIC] * count), dtype=np.int8),
        size_bytes=np.broadcast_to(np.array(size, dtype=np.float64), count).copy(),
        need_ptr=np.cumsum([0, *map(len, needs)]).astype(np.int64),
        need_flow=np.array([need for row in needs for need in row], dtype=np.int32),
        queue=np.array(columns.get("queue", [NIL] * count), dtype=np.int32),
        tag=np.zeros(count, dtype=np.int32),
        start_us=np.array(columns.get("start", []), dtype=np.float64),
        delay_us=np.array(columns.get("delay", []), dtype=np.float64),
    )


def tell(*words: object) -> None:
    """Show measured figures to those who ask: ``pytest -rP``."""
    sys.stdout.write(" ".join(map(str, words)) + "\n")
