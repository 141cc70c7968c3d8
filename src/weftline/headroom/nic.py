"""Headroom of a NIC's receive buffer by the formula of its driver.

Source: Linux, drivers/net/ethernet/mellanox/mlx5/core/en/port_buffer.c: xoff = (301 + 2.16 * length) * rate +
2.72 * MTU, with the length in m, the rate in Gb/s and at least 40, and the MTU in bytes; and port_buffer.h.
"""

from __future__ import annotations

import math
from fractions import Fraction

from weftline.model.headroom import NicHeadroom, Term

DEFAULT_CABLE_M = 7
"""What the driver takes a cable for that nobody told it the length of."""
LEAST_GBPS = 40
LEAST_MAX_MTU = 9216
CELL_BYTES = 128
"""The cell of a port that does not say its own."""
_BASE = 301
_PER_METRE = Fraction(216, 100)
_PER_MTU_BYTE = Fraction(272, 100)


def nic_headroom(
    rate_gbps: float, cable_m: float | None, mtu: int, max_mtu: int = LEAST_MAX_MTU, cell_bytes: int = CELL_BYTES
) -> NicHeadroom | None:
    """Size the headroom of one lossless receive buffer; without a length as the driver does, for 7 m.

    None where the length or the rate is no number. The driver's own figure is in integers, and so a little smaller
    than the formula asks for.
    """
    length = DEFAULT_CABLE_M if cable_m is None else cable_m
    if not (math.isfinite(length) and math.isfinite(rate_gbps)) or length < 0 or mtu < 0:
        return None
    rate = max(Fraction(str(rate_gbps)), Fraction(LEAST_GBPS))
    base, metres, frames = _BASE * rate, _PER_METRE * Fraction(str(length)) * rate, _PER_MTU_BYTE * mtu
    driver = (_BASE + 216 * int(length) // 100) * int(rate * 1000) // 1000 + 272 * mtu // 100
    return NicHeadroom(
        xoff=float(base + metres + frames),
        driver_xoff=driver,
        buffer=driver + max(max_mtu, LEAST_MAX_MTU) + cell_bytes,
        terms=(
            Term("base", float(base), f"{_BASE} B per Gb/s * {float(rate):g} Gb/s"),
            Term("cable", float(metres), f"2.16 B per m and Gb/s * {length:g} m * {float(rate):g} Gb/s"),
            Term("frames", float(frames), f"2.72 * {mtu} B"),
        ),
    )
