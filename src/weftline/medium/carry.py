"""Adapters: how messages become packets, what acknowledges them, and what is sent again."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weftline.errors import UsageError
from weftline.medium.figures import Entry, Note
from weftline.model.packet import Carriage, DelayTable, Pacing
from weftline.model.parameters import CarriageChoice, Figure, FigureValue

ADAPTERS, PACING = "adapters", "pacing"
ACK_EVERY = 256
ACK_SOURCE = "Linux, drivers/infiniband/hw/mlx5/qp.c: a request for an answer every 2^8 packets (MLX5_IB_ACK_REQ_FREQ)"
TIMEOUT_CODE = 20
TIMEOUT_SOURCE = "NCCL_IB_TIMEOUT 20, NCCL's own default: 4.096 us * 2^20 (IBTA vol 1, 9.7.6.1.3)"
WINDOW, REORDER = 1024, 256
OWN_SOURCE = "nobody publishes it"
MAX_PACKETS = 1 << 24
MAX_TIMEOUT_US = 1e9
SELECTIVE_MAX = 1 << 16


@dataclass(frozen=True, slots=True)
class Kind:
    """Sizes of packets on the wire, in bytes, and who says so."""

    overhead: int
    unstored: int
    ack: int
    notice: int
    pause: int
    mtus: tuple[int, ...]
    source: str
    overhead_source: str


def timeout_us(code: int) -> float:
    """Turn the code of a time-out into microseconds. IBTA vol 1, 9.7.6.1.3."""
    return 4.096 * 2**code


def make_carriage(
    kind: Kind,
    choice: CarriageChoice,
    mtu: Figure,
    timeout: Figure | None,
    pacing: tuple[Pacing | DelayTable | None, Figure],
    assumptions: Sequence[str] = (),
) -> tuple[Carriage, tuple[Entry, ...]]:
    """Put a carriage together, the user's choice before what files and parts say.

    Raises:
        UsageError: ``usage.choice`` for a figure out of range.
    """
    chosen = _pick(choice.mtu_bytes, mtu)
    if chosen.value not in kind.mtus:
        _refuse("MTU", f"{chosen.value} bytes", f"choose one of {', '.join(map(str, kind.mtus))}")
    recovery = _pick(choice.recovery, Figure("go-back-n", "default", "what connected queue pairs do (IBTA vol 1, 9.7)"))
    wait = _pick(choice.timeout_us, timeout or Figure(timeout_us(TIMEOUT_CODE), "default", TIMEOUT_SOURCE))
    window = _pick(choice.window_packets, Figure(WINDOW, "default", OWN_SOURCE))
    ack = _pick(choice.ack_every, _find_ack(recovery, window))
    reorder = _pick(choice.reorder_packets, Figure(REORDER, "default", OWN_SOURCE))
    _check(recovery, ack, wait, window, reorder)
    sender, name = pacing
    carriage = Carriage(
        mtu_bytes=int(chosen.value), overhead_bytes=kind.overhead, unstored_bytes=kind.unstored, ack_bytes=kind.ack,
        notice_bytes=kind.notice, pause_bytes=kind.pause,
        recovery="selective" if recovery.value == "selective" else "go-back-n",
        ack_every=int(ack.value), timeout_ps=round(float(wait.value) * 1e6), window_packets=int(window.value),
        reorder_packets=int(reorder.value), pacing=sender, assumptions=tuple(assumptions),
    )  # fmt: skip
    notes = [
        Note("MTU, payload of a packet", "B", chosen),
        Note("around the payload on the wire", "B", Figure(kind.overhead, "standard", kind.overhead_source)),
        Note("of it in no buffer", "B", Figure(kind.unstored, "standard", kind.source)),
        Note("acknowledgement", "B", Figure(kind.ack, "standard", kind.source)),
        Note("notice of congestion", "B", Figure(kind.notice, "standard", kind.source)),
        *([Note("pause frame", "B", Figure(kind.pause, "standard", kind.source))] if kind.pause else []),
        Note("recovery", "", recovery),
        Note("packets per acknowledgement", "", ack),
        Note("time-out", "us", wait),
        Note("window, selective only", "packets", window),
        Note("reordering, selective only", "packets", reorder),
        Note("pacing", "", name),
    ]
    none = np.zeros(0, dtype=np.int64)
    entries = [Entry(ADAPTERS, note, "all", none) for note in notes]
    entries += [Entry(PACING, note, "all", none) for note in ([] if sender is None else _list_pacing(sender, name))]
    return carriage, tuple(entries)


def _pick(chosen: FigureValue | None, otherwise: Figure) -> Figure:
    return otherwise if chosen is None else Figure(chosen, "declaration", "chosen by an option")


def _find_ack(recovery: Figure, window: Figure) -> Figure:
    """Answer as often as the driver asks; a window that ends before has to be answered when it is full."""
    if recovery.value == "selective" and 1 <= int(window.value) < ACK_EVERY:
        return Figure(int(window.value), "formula", f"no more than the window; else {ACK_EVERY}: {ACK_SOURCE}")
    return Figure(ACK_EVERY, "default", ACK_SOURCE)


def _check(recovery: Figure, ack: Figure, wait: Figure, window: Figure, reorder: Figure) -> None:
    if recovery.value not in {"go-back-n", "selective"}:
        _refuse("recovery", repr(recovery.value), "choose go-back-n or selective")
    for words, figure in (("packets per acknowledgement", ack), ("window", window), ("reordering", reorder)):
        if not 1 <= int(figure.value) <= MAX_PACKETS:
            _refuse(words, str(figure.value), f"give 1 to {MAX_PACKETS:,} packets")
    time = float(wait.value)
    if not (math.isfinite(time) and 0 < time <= MAX_TIMEOUT_US):
        _refuse("time-out", f"{wait.value} us", f"give microseconds above 0, at most {MAX_TIMEOUT_US:,.0f}")
    if recovery.value == "selective" and not int(reorder.value) < int(window.value) <= SELECTIVE_MAX:
        hint = f"give a window above the reordering, at most {SELECTIVE_MAX:,} packets"
        _refuse("window", f"{window.value} packets with {reorder.value} out of order", hint)
    if recovery.value == "selective" and int(ack.value) > int(window.value):
        hint = "a sender that may send no further is never answered: give a window of at least as many packets"
        _refuse("packets per acknowledgement", f"{ack.value} with a window of {window.value}", hint)


def _refuse(what: str, value: str, hint: str) -> None:
    message = f"{what}: {value} is out of range"
    raise UsageError("usage.choice", message, hint)


def _list_pacing(pacing: Pacing | DelayTable, name: Figure) -> list[Note]:
    rows = _tell_table(pacing) if isinstance(pacing, DelayTable) else _tell_rate(pacing)
    return [Note(words, unit, Figure(value, name.origin, name.source)) for words, unit, value in rows]


def _tell_table(table: DelayTable) -> list[tuple[str, str, FigureValue]]:
    shift, multiplier = table.entries[-1]
    return [
        ("entries of the table of delays", "", len(table.entries)),
        ("longest delay", "packets", multiplier / 2**shift),
        ("a notice goes on by", "entries", table.increase),
        ("an entry is taken back after", "us", table.timer_ps / 1e6),
        ("first entry", "", table.least),
    ]


def _tell_rate(pacing: Pacing) -> list[tuple[str, str, FigureValue]]:
    return [
        ("gain g", "", round(pacing.gain, 6)),
        ("alpha falls without a notice for", "us", pacing.alpha_ps / 1e6),
        ("at most one decrease in", "us", pacing.decrease_ps / 1e6),
        ("increase every", "us", pacing.increase_ps / 1e6),
        ("increase every", "B", pacing.increase_bytes),
        ("stages of fast recovery F", "", pacing.stages),
        ("additive increase", "Mb/s", pacing.additive_mbps),
        ("hyper increase", "Mb/s", pacing.hyper_mbps),
        ("least rate", "Mb/s", pacing.least_mbps),
        ("notices of a flow at most every", "us", pacing.notice_ps / 1e6),
    ]
