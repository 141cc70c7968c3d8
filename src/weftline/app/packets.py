"""Packet simulations of a load on a fabric: what is asked, what came of it, and what of it is bad news."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast, get_args

import numpy as np

from weftline.app.fault_words import read_faults
from weftline.app.happenings import Disturbance, plan_disturbance
from weftline.app.parameters import gather
from weftline.app.pipeline import Progress, Routed
from weftline.errors import UsageError
from weftline.kernels.column import F64, I64, NIL
from weftline.model.fabric import Fabric
from weftline.model.happening import Happening
from weftline.model.packet import FlowControl, Machine, PacketOptions, PacketResult, Spread
from weftline.model.parameters import CarriageChoice
from weftline.model.result import SimResult
from weftline.model.traffic import Flows
from weftline.simulate.packet.judge import find_critical, rank_holders
from weftline.simulate.packet.run import simulate_packets
from weftline.units import format_time_us

PS_PER_US = 1e6
MAX_UNTIL_US = 1e9
SAMPLES = 200
MAX_CELLS = 4_000_000
"""Moments times ports of series, about 100 MB."""
SHOWN_PORTS = 10
FATES = {
    "done": "all has arrived",
    "deadlock": "deadlock: lanes wait for each other in a circle",
    "stuck": "nothing moves any more",
    "until": "stopped at the time that was asked for",
}


@dataclass(frozen=True, slots=True)
class PacketChoice:
    """What the command line asks of packets."""

    spread: str = "hash"
    until_us: float | None = None
    files: Path | None = None
    """Device files in place of those that are rendered."""
    carriage: CarriageChoice = field(default_factory=CarriageChoice)
    faults: tuple[str, ...] = ()
    """What goes wrong meanwhile, as ``down:what=leaf-001/3,at_us=100``."""
    fault_file: Path | None = None
    """More of them, one in each line."""
    reroute_us: float | None = None
    """When new tables come after each change; None: never."""
    compares: bool = True
    """Whether the same packets are sent without the faults too, to say what those cost."""

    @property
    def has_faults(self) -> bool:
        """Whether anything goes wrong."""
        return bool(self.faults) or self.fault_file is not None


@dataclass(frozen=True, slots=True)
class HeldBy:
    """A link before which the messages of the critical path waited."""

    port: int
    name: str
    wait_us: float


@dataclass(frozen=True, slots=True)
class Packets:
    """A packet simulation, and what it means."""

    result: PacketResult
    machine: Machine
    held_by: tuple[HeldBy, ...]
    """The links that held the critical path, the worst first."""
    disturbance: Disturbance | None = None
    """What went wrong meanwhile."""
    calm: PacketResult | None = None
    """The same packets with nothing going wrong."""

    @property
    def is_bad(self) -> bool:
        """Whether something happened that must not: a deadlock, a standstill, or a loss where nothing may be lost."""
        return self.result.ending in {"deadlock", "stuck"} or self.result.loss is not None


def check_packets(choice: PacketChoice) -> None:
    """Refuse words that mean nothing before any work is done.

    Raises:
        UsageError: ``usage.choice``.
    """
    known = get_args(Spread)
    if choice.spread not in known:
        raise UsageError("usage.choice", f"--spread {choice.spread[:40]!r} is not known", f"choose {', '.join(known)}")
    if choice.until_us is not None and not 0 < choice.until_us <= MAX_UNTIL_US:
        raise UsageError(
            "usage.choice", f"--until-us {choice.until_us!r} is out of range", "give microseconds up to 1e9"
        )
    if choice.reroute_us is not None and not choice.has_faults:
        raise UsageError("usage.choice", "--reroute-after has nothing to follow", "add --fault, or leave it out")
    if choice.reroute_us is not None and not 0 <= choice.reroute_us <= MAX_UNTIL_US:
        raise UsageError(
            "usage.choice", f"--reroute-after {choice.reroute_us!r} is out of range", "give microseconds up to 1e9"
        )
    read_faults(choice.faults, choice.fault_file)


def make_machine(routed: Routed, choice: PacketChoice, progress: Progress) -> Machine:
    """Make what packets meet, from the files of the fabric.

    Raises:
        UsageError: ``usage.choice`` for a pacing that nobody knows.
    """
    source = gather(routed, choice.files, progress)
    transport = routed.built.checked.technology.transport
    return Machine(transport.medium(source, choice.carriage), transport.carriage(source, choice.carriage))


def run_packets(  # noqa: PLR0913, PLR0917 - what is sent on what, and how
    routed: Routed,
    flows: Flows,
    choice: PacketChoice,
    inside: float | None,
    seed: int,
    progress: Progress,
    machine: Machine | None = None,
) -> Packets:
    """Simulate flows packet by packet with what the files of the fabric say; ``machine`` where that is known.

    Raises:
        SpecError: ``spec.unreachable-pair`` and what makes a medium impossible.
        UsageError: ``usage.choice`` for a pacing that nobody knows, ``usage.fault-words`` for what cannot go wrong.
    """
    machine = machine or make_machine(routed, choice, progress)
    options = PacketOptions(
        spread=cast("Spread", choice.spread),
        seed=seed,
        until_ps=None if choice.until_us is None else round(choice.until_us * PS_PER_US),
        samples=min(SAMPLES, max(1, MAX_CELLS // routed.built.fabric.port_count)),
        inside_host_gbytes_per_s=inside,
    )
    total = max(flows.count, 1)

    def send(words: str, how: PacketOptions, happenings: Sequence[Happening]) -> PacketResult:
        def advance(now_ps: int, arrived: int, hops: int) -> None:
            progress(f"{words}: {now_ps / PS_PER_US:,.0f} us, {hops:,} hops", arrived / total)

        progress(words, None)
        return simulate_packets(flows, routed.built.fabric, routed.routes, machine, how, advance, happenings)

    disturbance, calm = None, None
    if choice.has_faults:
        faults = read_faults(choice.faults, choice.fault_file)
        disturbance = plan_disturbance(routed, machine.medium, faults, choice.reroute_us, progress)
        if choice.compares:
            calm = send("simulating packets without the faults", replace(options, samples=0), ())
    result = send("simulating packets", options, disturbance.happenings if disturbance else ())
    legs = find_critical(result)
    fabric = routed.built.fabric
    held = tuple(HeldBy(at, fabric.link_name(at), wait / PS_PER_US) for at, wait in rank_holders(legs) if wait > 0)
    return Packets(result, machine, held, disturbance, calm)


def as_times(packets: Packets, seed: int) -> SimResult:
    """Show packets as times in microseconds, as every other simulation does; NaN for what did not arrive."""
    result = packets.result
    return SimResult(
        fidelity="packet",
        start_us=_microseconds(result.start_ps),
        finish_us=_microseconds(result.finish_ps),
        total_us=result.end_ps / PS_PER_US,
        bound_low_us=result.bound.at_ps / PS_PER_US,
        bound_name=result.bound.name,
        port_bytes=result.port_bytes.astype(np.float64),
        assumptions=(
            "packet: every packet with its headers, queues, flow control, acknowledgements and losses",
            tell_seed(seed),
            *dict.fromkeys(result.assumptions),
            *(packets.disturbance.assumptions if packets.disturbance else ()),
        ),
    )


def has_credits(packets: Packets) -> bool:
    """Tell whether lanes wait for credit, where others are paused."""
    return any(one.control is FlowControl.CREDIT for one in packets.machine.medium.profiles)


def tell_seed(seed: int) -> str:
    """Say what a seed decides."""
    return f"hashes of paths and marks with seed {seed}"


def _microseconds(times: I64) -> F64:
    return np.where(times == NIL, np.nan, times / PS_PER_US)


def tell_ending(packets: Packets, fabric: Fabric) -> str:
    """Say how it ended, with the circle of a deadlock."""
    result = packets.result
    words = FATES[result.ending]
    open_flows = int(np.count_nonzero(result.finish_ps == NIL))
    if open_flows:
        words += f"; {open_flows:,} of {len(result.finish_ps):,} messages have not arrived"
    if result.cycle:
        words += f": {tell_cycle(result.cycle, fabric)}"
    return words


def tell_cycle(cycle: Sequence[tuple[int, int]], fabric: Fabric) -> str:
    """Name the lanes of a circle, each of which waits for the next."""
    names = [f"{fabric.port_name(port)} lane {lane}" for port, lane in cycle]
    return " -> ".join([*names, names[0]])


def tell_cost(packets: Packets) -> str:
    """Say what the faults cost: how long the same packets take without them."""
    if packets.calm is None:
        return ""
    calm, result = packets.calm, packets.result
    if calm.ending != "done" or result.ending != "done":
        return f"without the faults: {FATES[calm.ending]} after {format_time_us(calm.end_ps / PS_PER_US)}"
    times = result.end_ps / max(calm.end_ps, 1)
    change = f"{times - 1:+.1%}" if times < 2 else f"{times:,.{1 if times < 100 else 0}f} times as long"
    return f"{format_time_us(calm.end_ps / PS_PER_US)} without the faults, with them {change}"


def tell_loss(packets: Packets, fabric: Fabric) -> str:
    """Say what was lost where nothing may be lost: the first packet, its place and its cause."""
    loss = packets.result.loss
    if loss is None:
        return "nothing was lost where nothing may be lost"
    more = f", one of {loss.count:,}" if loss.count > 1 else ""
    return (
        f"the first packet{more} was lost after {loss.at_ps / PS_PER_US:,.3f} us at {fabric.port_name(loss.port)}, "
        f"lane {loss.lane}: the buffer of its group and its headroom were full"
    )


def rank_ports(packets: Packets, most: int = SHOWN_PORTS) -> list[int]:
    """List the ports that suffered most: by time without permission to send and by queue, each over its largest."""
    lanes = packets.result.lanes
    wait = (lanes.held_ps + lanes.starved_ps).sum(axis=1)
    queue = lanes.most_queued.max(axis=1)
    order = np.argsort(-(wait / max(wait.max(initial=0), 1) + queue / max(queue.max(initial=0), 1)), kind="stable")[
        :most
    ]
    return [int(at) for at in order if wait[at] > 0 or queue[at] > 0]
