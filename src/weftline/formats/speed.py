"""InfiniBand link widths and speeds, to and from Gb/s."""

from __future__ import annotations

LANE_GBPS = {
    "SDR": 2.5, "DDR": 5.0, "QDR": 10.0, "FDR10": 10.0, "FDR": 14.0,
    "EDR": 25.0, "HDR": 50.0, "NDR": 100.0, "XDR": 200.0,
}  # fmt: skip
"""Nominal rate of one lane, as links are sold by (4xNDR is 400 Gb/s); IBTA vol 1, 14.2.5.6."""
WIDTHS = (1, 2, 4, 8, 12)


def link_gbps(width: int, speed: str) -> float:
    """Return the nominal rate in Gb/s; 0 where width or speed is unknown."""
    return width * LANE_GBPS.get(speed, 0.0) if width in WIDTHS else 0.0


def name_rate(rate_gbps: float) -> str:
    """Name a rate as ``4xNDR``: four lanes where that fits, then two, one and more; empty where nothing fits."""
    for width in (4, 2, 1, 8, 12):
        for speed, lane in LANE_GBPS.items():
            if speed != "FDR10" and abs(width * lane - rate_gbps) < 0.01:
                return f"{width}x{speed}"
    return ""
