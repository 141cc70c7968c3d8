"""Headroom of a switch port by the formula that SONiC publishes for NVIDIA's chips.

Source: sonic-net/sonic-swss, cfgmgr/buffer_headroom_mellanox.lua, and doc/qos/dynamically-headroom-calculation.md of
sonic-net/SONiC. It is computed in fractions, since a result is rounded up to a KiB and must be exact before that.
"""

from __future__ import annotations

import functools
import math
from fractions import Fraction

from weftline.model.headroom import HeadroomAsic, HeadroomPort, LosslessTraffic, SwitchHeadroom, Term

KIB = 1024
LIGHT_M_PER_S = 198_000_000
"""Speed of light in fibre, and near enough in copper."""
SMALL_PACKET = 64
"""The smallest Ethernet frame, in bytes: the worst case for cells."""
QUANTUM_BYTES = 64
"""A pause quantum is 512 bit times. IEEE 802.3, 31B.2."""
PAUSE_QUANTA = {
    100: 1, 1_000: 2, 10_000: 67, 25_000: 80, 40_000: 118, 50_000: 147, 100_000: 394, 200_000: 453, 400_000: 905,
    800_000: 905,
}  # fmt: skip
"""Quanta after which a station must have stopped, by speed in Mb/s. IEEE 802.3, 31B.3.7, as the script lists them."""
TILE_NS = 120
"""Time on a tile of Spectrum-4 and Spectrum-5."""
WIDE_LANES = 8
"""A port of eight lanes has two pipelines to empty."""
HALF_SMALL = LosslessTraffic(mtu=4096, small_percent=50)
"""What the tables of SN5600-C256S1, SN5610N and SN5640 are made for."""
ONLY_SMALL = LosslessTraffic(mtu=1024, small_percent=100)
"""What the table of ACS-SN5600 is made for, and SONiC's default pattern: nothing but packets of 64 bytes."""


@functools.lru_cache(maxsize=4096)  # thousands of ports have a few dozen speeds and lengths
def switch_headroom(
    port: HeadroomPort,
    asic: HeadroomAsic,
    traffic: LosslessTraffic,
    *,
    is_pool_shared: bool,
    counts_packets: bool = False,
) -> SwitchHeadroom | None:
    """Size the headroom of one lossless priority group; None where the response of a peer, or the cable, is unknown.

    With ``is_pool_shared`` the bytes above xon come from the shared headroom pool. ``counts_packets`` takes the older
    form of the formula, in which the share of small packets was a share of the bytes (tables of SN5600-V256).
    """
    response = peer_response(port.speed_mbps, asic)
    if response is None or not math.isfinite(port.cable_m) or port.cable_m < 0:
        return None
    terms = _list_terms(port, asic, response)
    in_flight = sum((amount for _, amount, _ in terms), Fraction(0))
    small = _small_share(traffic, counts_packets=counts_packets)
    factor = _cells_per_small(asic.cell_bytes)
    occupancy = 1 + small * (factor - 1)
    raw = traffic.mtu + in_flight * occupancy
    xoff = _round_up(raw) + _round_up(_fraction(asic.extra_kib) * KIB)
    wide = port.lanes >= WIDE_LANES
    xon = _round_up(_fraction(asic.pipeline_kib) * KIB * (2 if wide else 1))
    return SwitchHeadroom(
        xoff=xoff,
        xon=xon,
        size=xon if is_pool_shared else _round_up(Fraction(xoff + xon + (port.mtu if wide else 0))),
        terms=tuple(Term(name, float(amount), how) for name, amount, how in terms),
        in_flight=float(in_flight),
        small_share=float(small),
        cells_per_small=float(factor),
        occupancy=float(occupancy),
        lossless_mtu=traffic.mtu,
        rounded_from=float(raw),
    )


def peer_response(speed_mbps: int, asic: HeadroomAsic | None = None) -> int | None:
    """Give the bytes that a peer may send before it obeys a pause; None for a speed without a figure."""
    quanta = dict(() if asic is None else asic.pause_quanta).get(speed_mbps, PAUSE_QUANTA.get(speed_mbps))
    return None if quanta is None else quanta * QUANTUM_BYTES


def cable_bytes(speed_mbps: int, cable_m: float) -> Fraction:
    """Count the bytes that are on a cable in both directions."""
    return 2 * _fraction(cable_m) * speed_mbps * 1_000_000 / (8 * LIGHT_M_PER_S)


def _list_terms(port: HeadroomPort, asic: HeadroomAsic, response: int) -> list[tuple[str, Fraction, str]]:
    rate = f"{port.speed_mbps / 1000:g} Gb/s"
    terms = [
        ("port MTU", Fraction(port.mtu), "a frame that the peer had begun"),
        ("cable", cable_bytes(port.speed_mbps, port.cable_m), f"2 * {port.cable_m:g} m * {rate} / 198,000 km/s"),
        ("MAC and PHY", _fraction(asic.mac_phy_kib) * KIB, f"{asic.mac_phy_kib:g} KiB"),
        ("peer response", Fraction(response), f"{response // QUANTUM_BYTES} quanta of 64 B"),
    ]
    if port.gearbox_ns:
        # Bits in t ns at s Mb/s: s * t / 1000; there and back.
        gearbox = 2 * _fraction(port.gearbox_ns) * port.speed_mbps / (8 * 1000)
        terms.append(("gearbox", gearbox, f"2 * {port.gearbox_ns:g} ns * {rate}"))
    if asic.is_tiled:
        terms.append(("tile", Fraction(port.speed_mbps * TILE_NS, 8 * 1000), f"{TILE_NS} ns * {rate}"))
    return terms


def _small_share(traffic: LosslessTraffic, *, counts_packets: bool) -> Fraction:
    percent = _fraction(traffic.small_percent)
    if counts_packets:
        return percent / 100
    # The script divides the small packet by the mean one and not by all bytes: at 50 percent twice the true share.
    return 100 * SMALL_PACKET / (percent * SMALL_PACKET + (100 - percent) * traffic.mtu)


def _cells_per_small(cell: int) -> Fraction:
    """Compare cells taken with bytes: a packet of 64 bytes, or with small cells one of a byte more than a cell."""
    if cell > 2 * SMALL_PACKET:
        return Fraction(-(-cell // SMALL_PACKET))
    return Fraction(-(-2 * cell // (1 + cell)))


def _round_up(amount: Fraction) -> int:
    return -(-amount // KIB) * KIB


def _fraction(number: float) -> Fraction:
    """Take a decimal as it is written: 0.8 is 8/10, not the nearest binary number."""
    return Fraction(str(number))
