"""What adapters do on RoCE: MTU, time-outs and DCQCN as files of hosts say, and the rest as ConnectX does it."""

from __future__ import annotations

from collections import Counter

from weftline.errors import CapabilityError, UsageError
from weftline.medium import Entry, Kind, list_parameters, make_carriage
from weftline.medium.carry import timeout_us
from weftline.model.observed import ObservedDevice
from weftline.model.observed_port import ObservedPort
from weftline.model.packet import Carriage, Medium, Pacing
from weftline.model.parameters import CarriageChoice, Figure, PacketSource, Parameter
from weftline.model.said import Said
from weftline.technologies.roce.lanes import LaneSet
from weftline.technologies.roce.medium import lay
from weftline.technologies.roce.mtu import LEAST_MTU, RDMA_HEADERS, host_mtu
from weftline.technologies.roce.pacing import DEFAULT, NONE, PACINGS

KIND = Kind(
    overhead=82,
    unstored=20,
    ack=86,
    notice=98,
    pause=84,
    mtus=(256, 512, 1024, 2048, 4096),
    source="IEEE 802.3, 3.1.1, 4.4.2 and 31D; IBTA vol 1, annex A17",
    overhead_source="preamble 8, gap 12, Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4, FCS 4 (IBTA vol 1, annex A17)",
)
MTU_SOURCE = "the largest power of two below the port's MTU less 96 bytes (Linux, rdma/ib_addr.h, iboe_get_mtu)"
TIMEOUT = "NCCL_IB_TIMEOUT"
MAX_TIMEOUT = 31


def lay_carriage(source: PacketSource, choice: CarriageChoice) -> Carriage:
    """Lay out what adapters do.

    Raises:
        UsageError: ``usage.choice`` for a set of figures that nobody knows, or one out of range.
    """
    medium, _, lanes = lay(source)
    return _carry(source, choice, medium, lanes)[0]


def tell_parameters(source: PacketSource, choice: CarriageChoice) -> tuple[Parameter, ...]:
    """Tell every figure in force, and who says it."""
    medium, entries, lanes = lay(source)
    return list_parameters([*entries, *_carry(source, choice, medium, lanes)[1]], source.fabric)


def _carry(
    source: PacketSource, choice: CarriageChoice, medium: Medium, lanes: LaneSet
) -> tuple[Carriage, tuple[Entry, ...]]:
    hosts = [device for device in source.devices.values() if device.role == "host"]
    mtu, doubts = _find_mtu(source, hosts)
    timeout, more = _find_timeout(hosts)
    pacing, words = _find_pacing(source, choice, medium, lanes, hosts)
    return make_carriage(KIND, choice, mtu, timeout, pacing, (*doubts, *more, *words))


def rdma_mtu(port_mtu: int) -> int:
    """Find the payload of a packet that a port's MTU leaves room for; 0 where there is none."""
    return max((one for one in KIND.mtus if one <= port_mtu - RDMA_HEADERS), default=0)


def _find_mtu(source: PacketSource, hosts: list[ObservedDevice]) -> tuple[Figure, tuple[str, ...]]:
    """Find the MTU of paths: the smallest of all hosts, since both ends of a connection must have one."""
    said: list[tuple[str, int, Said[int], str]] = []
    for device in hosts:
        for port in device.ports:
            if port.nic is not None and port.nic.rdma_mtu is not None:
                said.append((device.name, port.nic.rdma_mtu.value, port.nic.rdma_mtu, ""))
            elif port.nic is not None and port.mtu is not None:
                said.append((device.name, rdma_mtu(port.mtu.value), port.mtu, MTU_SOURCE))
    if not said:
        declared = host_mtu(source.design)
        return Figure(rdma_mtu(declared), "declaration", MTU_SOURCE), ()
    name, least, where, how = min(said, key=lambda one: one[1])
    if least == 0:
        message = f"a port of {name} has an MTU that leaves no room for RDMA"
        raise CapabilityError("capability.mtu", message, f"give hosts at least {LEAST_MTU} bytes", where.where)
    counts = Counter(value for _, value, _, _ in said)
    doubts = (f"hosts differ in MTU: {least:,} B counts, of {name} first",) if len(counts) > 1 else ()
    return Figure(least, "file", how, where.where), doubts


def _find_timeout(hosts: list[ObservedDevice]) -> tuple[Figure | None, tuple[str, ...]]:
    said = [
        (device.name, setting.value)
        for device in hosts
        for setting in device.settings
        if setting.name == TIMEOUT and setting.value.value.strip().isdecimal()
    ]
    codes = Counter(int(one.value.strip()[:9]) for _, one in said)
    known = [code for code in codes if 1 <= code <= MAX_TIMEOUT]
    if not known:
        return None, ()
    code = min(known, key=lambda one: (-codes[one], one))
    where = next(one.where for _, one in said if int(one.value.strip()[:9]) == code)
    doubts = (f"hosts differ in {TIMEOUT}: {code} counts",) if len(codes) > 1 else ()
    return Figure(round(timeout_us(code), 3), "file", f"{TIMEOUT}={code}: 4.096 us * 2^{code}", where), doubts


def _find_pacing(
    source: PacketSource, choice: CarriageChoice, medium: Medium, lanes: LaneSet, hosts: list[ObservedDevice]
) -> tuple[tuple[Pacing | None, Figure], tuple[str, ...]]:
    """Find how senders slow down: as chosen, else as their adapters do where files let marks reach them."""
    rate = source.design.rate_gbps
    if choice.pacing is not None:
        if choice.pacing == NONE:
            return (None, Figure(NONE, "declaration", "chosen by an option")), ()
        if choice.pacing not in PACINGS:
            known = ", ".join((*PACINGS, NONE))
            raise UsageError("usage.choice", f"pacing {choice.pacing[:40]!r} is not known", f"choose {known}")
        make, told = PACINGS[choice.pacing]
        return (make(rate), Figure(choice.pacing, "declaration", f"chosen by an option; {told}")), ()
    marks = any(one.marking is not None for one in medium.profiles)
    reacting = [port for host in hosts for port in host.ports if _reacts(port, lanes)]
    if not marks or (hosts and not reacting):
        why = "no queue of the files marks data" if not marks else "no adapter reacts to marks by its files"
        return (None, Figure(NONE, "default", why)), ()
    make, told = PACINGS[DEFAULT]
    every = sum(port.nic is not None for host in hosts for port in host.ports)
    some = f"{len(reacting):,} of {every:,} adapters react to marks: all are taken to"
    words = [] if len(reacting) == every else [some]
    words.append(f"files do not say how adapters slow down: the set {DEFAULT}")
    return (make(rate), Figure(DEFAULT, "default", told)), tuple(words)


def _reacts(port: ObservedPort, lanes: LaneSet) -> bool:
    """Whether an adapter lowers the rate of data by its files; one that says nothing does."""
    if port.nic is None:
        return False
    said = port.nic.reacting_priorities
    if said is None:
        return True
    number = None if port.class_of_dscp is None else port.class_of_dscp.value.get(lanes.lanes[lanes.data].dscp)
    return number is None or number in said.value
