"""Named sets of figures by which a sender slows down: DCQCN as its paper, vendors and simulators set it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from weftline.model.packet import Pacing

US = 1_000_000
"""Picoseconds."""
NONE = "none"
DEFAULT = "paper"
"""The set that is published with the algorithm.

With that of ConnectX a flow of 400 Gb/s that was marked in a burst stays far below its rate for milliseconds.
"""
SCALE_GBPS = 25.0
"""The rate that the vendor-style increases are given for; they grow with the rate of the line."""


def _make_paper(_rate_gbps: float) -> Pacing:
    return Pacing(
        name="paper", gain=1 / 256, alpha_ps=55 * US, decrease_ps=50 * US, increase_ps=55 * US,
        increase_bytes=10_000_000, stages=5, additive_mbps=40.0, hyper_mbps=400.0, least_mbps=10.0, notice_ps=50 * US,
    )  # fmt: skip


def _make_vendor(rate_gbps: float) -> Pacing:
    times = rate_gbps / SCALE_GBPS
    return Pacing(
        name="vendor", gain=1 / 256, alpha_ps=US, decrease_ps=4 * US, increase_ps=300 * US, increase_bytes=0, stages=1,
        additive_mbps=5.0 * times, hyper_mbps=50.0 * times, least_mbps=1000.0, notice_ps=4 * US,
    )  # fmt: skip


def _make_simai(_rate_gbps: float) -> Pacing:
    return Pacing(
        name="simai", gain=1 / 256, alpha_ps=US, decrease_ps=4 * US, increase_ps=900 * US, increase_bytes=0, stages=1,
        additive_mbps=50.0, hyper_mbps=100.0, least_mbps=100.0, notice_ps=4 * US,
    )  # fmt: skip


def _make_mlx5(_rate_gbps: float) -> Pacing:
    return Pacing(
        # dce_tcp_g is the weight of the old estimate, in 1,024 parts.
        name="mlx5", gain=(1024 - 1019) / 1024, alpha_ps=US, decrease_ps=4 * US, increase_ps=300 * US,
        increase_bytes=32_767, stages=1, additive_mbps=5.0, hyper_mbps=50.0, least_mbps=1.0, notice_ps=4 * US,
    )  # fmt: skip


PACINGS: Mapping[str, tuple[Callable[[float], Pacing], str]] = MappingProxyType(
    {
        "mlx5": (
            _make_mlx5,
            "defaults of ConnectX: NVIDIA DOCA, DCQCN CC Parameters; DOC-2790; the notice interval is unverified",
        ),
        "paper": (
            _make_paper,
            "Zhu et al., SIGCOMM 2015, as uet-htsim has it; the hyper increase and the least rate are unverified",
        ),
        "vendor": (
            _make_vendor,
            "simulator of HPCC, run.py, dcqcn: 5 and 50 Mb/s for each 25 Gb/s; notices as often as decreases",
        ),
        "simai": (_make_simai, "SimAI.conf of aliyun/SimAI; notices as often as decreases"),
    }
)
"""How to make each set for a rate of the line in Gb/s, and who published it."""
