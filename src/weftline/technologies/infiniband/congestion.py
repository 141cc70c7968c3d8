"""Congestion control of InfiniBand: how switches mark packets, and how adapters slow down for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from weftline.errors import ArtifactError, UsageError
from weftline.medium import Note
from weftline.model.packet import DelayTable, RootMarking
from weftline.model.parameters import CarriageChoice, Figure, PacketSource
from weftline.model.survey import OptionFact

NONE = "none"
FILES = "opensm"
"""As the options of the subnet manager say."""
WEIGHTS = 15
"""The weight of the lowest threshold; 0 marks nothing. IBTA vol 1, annex A10; ``opensm -c`` of 3.3.23."""
BLOCK = 64
"""Bytes of a credit, in which the least length of a marked packet is told."""
TICK_PS = 1_024_000
"""Unit of the timer: 1.024 us. Linux, drivers/infiniband/hw/hfi1, process_becn."""
MILLION = 1_000_000
MOST_ENTRIES = 128
"""Entries of the table that OpenSM writes."""
MOST_SHIFT, MOST_MULTIPLIER = 3, (1 << 14) - 1
"""An entry has 2 bits of shift and 14 of multiplier. Linux, hfi1, set_link_ipg."""
THRESHOLD_SOURCE = (
    "no document says how long a queue is at each weight: here 16 less the weight, in sixteenths of a lane's buffer"
)
OFED_SOURCE = (
    "Mellanox OFED manual, Congestion Control Manager: threshold 0xf, marking rate 0xa, packets from 0x200 B, increase "
    "1; it makes table and timer by the number of hosts, not published: mellanox_default of LLNL's study, 150 * 1.024 "
    "us (unverified)"
)
SIMULA_SOURCE = (
    "simula_optimal of LLNL's study; threshold 15, marking rate 0, packets from 8 credits, increase 1, timer 150 of "
    "Gran et al., IPDPS 2010 (unverified)"
)
OFF = "congestion control is off unless a manager turns it on (IBTA vol 1, annex A10; opensm -c of 3.3.23)"
SWITCH, ADAPTER = "cc_sw_cong_setting_", "cc_ca_cong_setting_"
VICTIM_BIT, CREDIT_BIT, THRESHOLD_BIT, STARVATION_BIT, RATE_BIT = range(5)
"""Which settings the control map of switches says are valid."""


@dataclass(frozen=True, slots=True)
class Control:
    """How the switches of a subnet mark packets, and how its adapters slow down."""

    name: Figure
    weight: Figure | None = None
    """1 to 15; None: nothing is marked."""
    credits: Figure | None = None
    """Credits of the shortest packet that is marked."""
    rate: Figure | None = None
    """Mean number of packets from one that is marked to the next that may be."""
    victims: int = 0
    """A bit for each number of a switch port that marks even where it is a victim."""
    table: DelayTable | None = None
    assumptions: tuple[str, ...] = ()


def read_control(source: PacketSource, choice: CarriageChoice, plane: int) -> Control:
    """Find how one plane controls congestion: as chosen, else as the options of its manager say.

    Raises:
        ArtifactError: ``artifact.packet-option`` for an option that is no setting.
        UsageError: ``usage.choice`` for a set of figures that nobody knows.
    """
    if choice.pacing == NONE:
        return Control(Figure(NONE, "declaration", "chosen by an option"))
    if choice.pacing is not None and choice.pacing != FILES:
        if choice.pacing not in SETS:
            message = f"pacing {choice.pacing[:40]!r} is not known for {source.design.spec.technology}"
            raise UsageError("usage.choice", message, f"choose {', '.join((FILES, *SETS, NONE))}")
        make, told = SETS[choice.pacing]
        return make(Figure(choice.pacing, "declaration", f"chosen by an option; {told}"))
    options = {one.name: one for one in source.options[plane]} if plane < len(source.options) else {}
    switch = options.get("congestion_control")
    if switch is None or switch.value.upper() != "TRUE":
        return Control(Figure(NONE, "default" if switch is None else "file", OFF, switch.where if switch else None))
    return read_options(options, Figure(FILES, "file", switch.name, switch.where))


def make_marking(control: Control, port: int, buffer_bytes: int) -> tuple[RootMarking | None, list[Note]]:
    """Make how a switch port marks packets in a lane with such a buffer behind its link."""
    if control.weight is None or control.credits is None or control.rate is None:
        return None, []
    threshold = buffer_bytes * (WEIGHTS + 1 - int(control.weight.value)) // (WEIGHTS + 1)
    marks_victims = bool(control.victims >> port & 1)
    chance = MILLION // (int(control.rate.value) + 1)
    told = Figure(threshold, "formula", THRESHOLD_SOURCE)
    notes = [
        Note("weight of the threshold", "of 15", control.weight),
        Note("marks above a queue of", "B", told),
        Note("marks packets from", "credits", control.credits),
        Note("packets from a mark to the next", "", control.rate),
    ]
    if marks_victims:
        notes.append(Note("marks as a victim too", "", Figure("yes", control.name.origin, control.name.source)))
    return RootMarking(threshold, max(0, int(control.credits.value) - 1) * BLOCK + 1, chance, marks_victims), notes


def read_options(options: Mapping[str, OptionFact], name: Figure) -> Control:
    """Read the settings of a manager that controls congestion.

    Raises:
        ArtifactError: ``artifact.packet-option``.
    """
    assumptions: list[str] = []
    valid = _read(options, SWITCH + "control_map", 32)
    weight = _read(options, SWITCH + "threshold", 4)
    marks = int(valid.value) >> THRESHOLD_BIT & 1 == 1 and int(weight.value) > 0
    if not marks:
        assumptions.append("congestion control is on, and no threshold is set: nothing is marked")
    rate = _read(options, SWITCH + "marking_rate", 16)
    if not int(valid.value) >> RATE_BIT & 1:
        rate = Figure(0, "default", "the control map leaves the marking rate as it is: every packet")
    if int(valid.value) & (1 << CREDIT_BIT | 1 << STARVATION_BIT):
        assumptions.append("marks for starved credit are not simulated: only those of the threshold")
    victims = int(_read(options, SWITCH + "victim_mask", 256).value) if int(valid.value) >> VICTIM_BIT & 1 else 0
    table = _read_table(options, name, assumptions)
    return Control(
        name, weight if marks else None, _read(options, SWITCH + "packet_size", 8), rate, victims, table,
        tuple(assumptions),
    )  # fmt: skip


def _read_table(options: Mapping[str, OptionFact], name: Figure, assumptions: list[str]) -> DelayTable | None:
    """Read what adapters do, by the settings of service level 0."""
    levels = int(_read(options, ADAPTER + "control_map", 16).value)
    timer = int(_read(options, ADAPTER + "ccti_timer 0", 16).value)
    increase = int(_read(options, ADAPTER + "ccti_increase 0", 8).value)
    least = int(_read(options, ADAPTER + "ccti_min 0", 8).value)
    entries = _read_entries(options.get("cc_cct"))
    if not (levels & 1 and timer and increase and entries):
        missing = "congestion control is on, and adapters have no table, timer or increase: none slows down"
        assumptions.append(missing)
        return None
    if least >= len(entries):
        where = options[ADAPTER + "ccti_min 0"].where
        message = f"{ADAPTER}ccti_min 0 is {least}, and cc_cct has entries up to {len(entries) - 1}"
        raise ArtifactError("artifact.packet-option", message, "choose an entry of the table", where)
    if int(_read(options, ADAPTER + "port_control", 16).value) & 1:
        assumptions.append("adapters slow down a service level of a port as one: here each flow for itself")
    if levels != 1:
        assumptions.append("adapters slow down as the settings of service level 0 say")
    return DelayTable(str(name.value), entries, increase, timer * TICK_PS, least)


def _read_entries(option: OptionFact | None) -> tuple[tuple[int, int], ...]:
    """Read a table of delays: shift:multiplier, with commas between."""
    if option is None or option.value in {"", "(null)"}:
        return ()
    entries: list[tuple[int, int]] = []
    for word in option.value.split(","):
        shift, _, multiplier = word.partition(":")
        try:
            entry = int(shift, 0), int(multiplier, 0)
        except ValueError:
            entry = -1, -1
        if not (0 <= entry[0] <= MOST_SHIFT and 0 <= entry[1] <= MOST_MULTIPLIER) or len(entries) >= MOST_ENTRIES:
            message = f"cc_cct has {word[:40]!r}, and is at most {MOST_ENTRIES} entries of shift:multiplier"
            hint = f"write them as 0:0,0:1,...: shifts up to {MOST_SHIFT}, multipliers up to {MOST_MULTIPLIER:,}"
            raise ArtifactError("artifact.packet-option", message, hint, option.where)
        entries.append(entry)
    return tuple(entries)


def _read(options: Mapping[str, OptionFact], name: str, bits: int) -> Figure:
    """Read a number of so many bits; what no option says is 0, as OpenSM has it."""
    option = options.get(name)
    if option is None:
        return Figure(0, "default", f"OpenSM's own {name}, 0 (opensm -c of 3.3.23)")
    try:
        value = int(option.value, 0)
    except ValueError:
        value = -1
    if not 0 <= value < 1 << bits:
        limit = f"a number of {bits} bits"
        message = f"{name} is {option.value[:40]!r}, and is {limit}"
        raise ArtifactError("artifact.packet-option", message, "write it as 0x0f", option.where)
    return Figure(value, "file", name, option.where)


def _curve(shift: int, scale: int) -> tuple[tuple[int, int], ...]:
    """Tables of LLNL's study of congestion control: ``7 i^2 / scale^2 / 0.218``, rounded down."""
    return tuple((shift, int(7 * at * at / scale**2 / 0.218)) for at in range(MOST_ENTRIES))


def _make_ofed(name: Figure) -> Control:
    table = DelayTable("ofed", _curve(0, 95), increase=1, timer_ps=150 * TICK_PS)
    return _make_set(name, rate=10, table=table)


def _make_simula(name: Figure) -> Control:
    table = DelayTable("simula", _curve(3, 106), increase=1, timer_ps=150 * TICK_PS)
    return _make_set(name, rate=0, table=table)


def _make_set(name: Figure, rate: int, table: DelayTable) -> Control:
    weight, credits_, often = (Figure(value, name.origin, name.source) for value in (WEIGHTS, 8, rate))
    return Control(name, weight, credits_, often, table=table)


SETS: Mapping[str, tuple[Callable[[Figure], Control], str]] = MappingProxyType(
    {
        "ofed": (
            _make_ofed,
            OFED_SOURCE,
        ),
        "simula": (
            _make_simula,
            SIMULA_SOURCE,
        ),
    }
)
"""How to make each set, and who published it."""
