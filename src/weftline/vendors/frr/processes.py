"""BGP processes of a tree of FRR contexts: neighbours with what their groups add, routes told and taken over."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TypeVar

from weftline.errors import Place, Problem
from weftline.formats.config_text import ConfigLine
from weftline.formats.lines import read_number
from weftline.model.observed_routing import DEFAULT_VRF, ObservedNeighbour, ObservedRouter
from weftline.model.said import Said

MAX_NUMBER = 4_294_967_295
MAX_WIDTH = 1_024
FAMILIES: dict[tuple[str, ...], str] = {
    ("ipv4",): "ipv4", ("ipv4", "unicast"): "ipv4", ("ipv6",): "ipv6", ("ipv6", "unicast"): "ipv6",
    ("l2vpn", "evpn"): "evpn", ("ipv4", "vpn"): "vpn", ("ipv6", "vpn"): "vpn",
}  # fmt: skip
_SILENT = frozenset({
    "timers", "bgp bestpath", "bgp ebgp-requires-policy", "bgp log-neighbor-changes", "bgp graceful-restart",
    "bgp timers", "bgp suppress-fib-pending", "bgp deterministic-med", "bgp default", "bgp network", "bgp listen",
    "neighbor timers", "neighbor description", "neighbor update-source", "neighbor password", "neighbor capability",
    "neighbor ebgp-multihop", "neighbor advertisement-interval", "neighbor send-community", "neighbor maximum-prefix",
    "neighbor soft-reconfiguration", "neighbor next-hop-self", "neighbor next-hop-unchanged",
    "neighbor disable-connected-check",
})  # fmt: skip
"""Lines of a process that decide nothing of what is judged."""
T = TypeVar("T")


@dataclass
class Process:
    """One ``router bgp`` while it is read."""

    file: str
    head: ConfigLine
    problems: list[Problem]
    unread: dict[str, int]
    vrf: str = DEFAULT_VRF
    number: Said[int] | None = None
    router_id: Said[str] | None = None
    width: Said[int] | None = None
    mixes_paths: Said[bool] | None = None
    originates: Said[bool] | None = None
    rd: Said[str] | None = None
    has_ipv4: bool = True
    groups: dict[str, ConfigLine] = field(default_factory=dict[str, ConfigLine])
    member_of: dict[str, str] = field(default_factory=dict[str, str])
    ranges: dict[str, ConfigLine] = field(default_factory=dict[str, ConfigLine])
    peers: dict[str, ObservedNeighbour] = field(default_factory=dict[str, ObservedNeighbour])
    switched_off: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    redistributed: list[Said[str]] = field(default_factory=list[Said[str]])
    networks: list[Said[str]] = field(default_factory=list[Said[str]])
    aggregates: set[str] = field(default_factory=set[str])
    imported_vrfs: list[Said[str]] = field(default_factory=list[Said[str]])
    leaks: list[Said[str]] = field(default_factory=list[Said[str]])
    imports: list[Said[str]] = field(default_factory=list[Said[str]])
    exports: list[Said[str]] = field(default_factory=list[Said[str]])
    vni_targets: list[Said[str]] = field(default_factory=list[Said[str]])

    def place(self, line: ConfigLine) -> Place:
        """Name a line of the file."""
        return Place(self.file, line.number, line.column)

    def said(self, value: T, line: ConfigLine) -> Said[T]:
        """Say a value with its place."""
        return Said(value, self.place(line))

    def number_at(self, text: str, high: int, line: ConfigLine) -> Said[int] | None:
        """Read a number from 1; what is none is a problem."""
        value = read_number(text, 1, high)
        if value is None:
            message = f"{text[:40]!r} is no number from 1 to {high:,}"
            self.problems.append(Problem("artifact.out-of-range", message, where=self.place(line), severity="warning"))
            return None
        return self.said(value, line)

    def pass_over(self, line: ConfigLine) -> None:
        """Count a line that nobody here reads, by its first words."""
        words = list(line.body)
        if words[0] == "neighbor" and len(words) > 2:
            kind = f"neighbor {words[2]}"
        else:
            kind = " ".join(words[:2] if words[0] == "bgp" else words[:1])
        if kind not in _SILENT:
            kind = f"router bgp {kind}"
            self.unread[kind] = self.unread.get(kind, 0) + 1


def read_process(file: str, head: ConfigLine, problems: list[Problem], unread: dict[str, int]) -> ObservedRouter:
    """Read one process; what nobody here reads is counted."""
    process = Process(file, head, problems, unread, vrf=head.value("vrf") or DEFAULT_VRF)
    if len(head.words) > 2 and head.words[2] != "vrf":
        process.number = process.number_at(head.words[2], MAX_NUMBER, head)
    for line in head.children:
        if line.body[0] == "neighbor":
            _read_neighbour(process, line, "")
        elif line.starts("address-family"):
            _read_family(process, line)
        else:
            _read_own(process, line)
    return _finish(process)


def _read_own(process: Process, line: ConfigLine) -> None:
    words = list(line.words)
    if line.starts("bgp", "router-id") and len(words) > 2:
        process.router_id = process.said(words[2], line)
    elif line.body[:3] == ("bgp", "default", "ipv4-unicast"):
        process.has_ipv4 = not line.is_negated
    elif line.body[:4] == ("bgp", "bestpath", "as-path", "multipath-relax"):
        process.mixes_paths = process.said(not line.is_negated, line)
    elif line.starts("bgp", "listen", "range") and len(words) > 5:
        process.ranges[words[5]] = line
    elif not _read_routes(process, line, "ipv4"):  # without a family these belong to IPv4 unicast
        process.pass_over(line)


def _read_neighbour(process: Process, line: ConfigLine, family: str) -> None:
    if len(line.body) < 3:
        process.pass_over(line)
        return
    name, words = line.body[1], list(line.body[2:])
    if words == ["peer-group"]:
        process.groups[name] = line
        return
    peer = process.peers.get(name) or ObservedNeighbour(name, process.place(line))
    if words[0] == "interface":
        words = words[2:] if words[1:2] == ["v6only"] else words[1:]
    read = _SAID_OF_NEIGHBOURS.get(words[0]) if words else None
    if read is not None:
        peer = read(process, peer, words, line, family or "ipv4")
    elif words:
        process.pass_over(line)
    process.peers[name] = peer


def _read_number(
    process: Process, peer: ObservedNeighbour, words: list[str], line: ConfigLine, _: str
) -> ObservedNeighbour:
    return peer if line.is_negated or len(words) < 2 else _number_of(process, peer, words[1], line)


def _read_group(
    process: Process, peer: ObservedNeighbour, words: list[str], line: ConfigLine, _: str
) -> ObservedNeighbour:
    if not line.is_negated:
        process.member_of[peer.name] = words[1]
    return peer


def _read_bfd(process: Process, peer: ObservedNeighbour, _: list[str], line: ConfigLine, __: str) -> ObservedNeighbour:
    return replace(peer, has_bfd=process.said(not line.is_negated, line))


def _read_activation(
    process: Process, peer: ObservedNeighbour, _: list[str], line: ConfigLine, family: str
) -> ObservedNeighbour:
    if line.is_negated:
        process.switched_off.add((peer.name, family))
        return peer
    return replace(peer, families=(*peer.families, process.said(family, line)))


def _read_own_number(
    process: Process, peer: ObservedNeighbour, _: list[str], line: ConfigLine, __: str
) -> ObservedNeighbour:
    return replace(peer, allows_own_number=process.said(not line.is_negated, line))


def _read_sieve(
    process: Process, peer: ObservedNeighbour, words: list[str], line: ConfigLine, _: str
) -> ObservedNeighbour:
    if len(words) < 3:
        return peer
    name = words[1] if words[0] == "route-map" else f"{words[0]} {words[1]}"
    said = None if line.is_negated else process.said(name, line)
    return replace(peer, filter_in=said) if words[2] == "in" else replace(peer, filter_out=said)


def _read_default(
    process: Process, peer: ObservedNeighbour, _: list[str], line: ConfigLine, __: str
) -> ObservedNeighbour:
    process.originates = process.said(not line.is_negated, line)
    return peer


_SAID_OF_NEIGHBOURS: dict[
    str, Callable[[Process, ObservedNeighbour, list[str], ConfigLine, str], ObservedNeighbour]
] = {
    "remote-as": _read_number,
    "peer-group": _read_group,
    "bfd": _read_bfd,
    "activate": _read_activation,
    "allowas-in": _read_own_number,
    "route-map": _read_sieve,
    "prefix-list": _read_sieve,
    "filter-list": _read_sieve,
    "distribute-list": _read_sieve,
    "default-originate": _read_default,
}


def _number_of(process: Process, peer: ObservedNeighbour, text: str, line: ConfigLine) -> ObservedNeighbour:
    if text in {"external", "internal"}:
        return replace(peer, is_external=process.said(text == "external", line), number=None)
    number = process.number_at(text, MAX_NUMBER, line)
    if number is None or process.number is None:
        return replace(peer, number=number)
    return replace(peer, number=number, is_external=process.said(number.value != process.number.value, line))


def _read_family(process: Process, head: ConfigLine) -> None:
    family = FAMILIES.get(head.words[1:], " ".join(head.words[1:]))
    for line in head.children:
        if line.body[0] == "neighbor":
            _read_neighbour(process, line, family)
        elif family == "evpn":
            _read_evpn(process, line)
        elif not _read_routes(process, line, family):
            process.pass_over(line)


def _read_routes(process: Process, line: ConfigLine, family: str) -> bool:
    """Read what a family announces and takes over; say whether the line was known."""
    words = list(line.words)
    if line.starts("maximum-paths") and len(words) == 2:
        width = process.number_at(words[1], MAX_WIDTH, line)
        process.width = width if family == "ipv4" or process.width is None else process.width
    elif line.starts("redistribute") and len(words) > 1:
        sifted = line.value("route-map")
        process.redistributed.append(process.said(f"{words[1]} via {sifted}" if sifted else words[1], line))
    elif words[0] in {"network", "aggregate-address"} and len(words) > 1:
        process.networks.append(process.said(words[1], line))
        process.aggregates |= {words[1]} if words[0] == "aggregate-address" else set()
    elif line.starts("import", "vrf", "route-map") and len(words) > 3:
        process.leaks.append(process.said(f"import vrf route-map {words[3]}", line))
    elif line.starts("import", "vrf") and len(words) > 2:
        process.imported_vrfs.append(process.said(words[2], line))
    elif words[0] in {"import", "export"} and words[1:2] == ["vpn"]:
        process.leaks.append(process.said(f"{words[0]} vpn", line))
    elif line.starts("rd", "vpn", "export") and len(words) > 3:
        process.rd = process.said(words[3], line)
    elif words[0] in {"rt", "route-target"} and words[1:2] == ["vpn"] and len(words) > 3:
        _take_targets(process, words[2], words[3:], line)
    else:
        return False
    return True


def _take_targets(process: Process, way: str, targets: Iterable[str], line: ConfigLine) -> None:
    said = [process.said(target, line) for target in targets]
    if way in {"import", "both"}:
        process.imports += said
    if way in {"export", "both"}:
        process.exports += said


def _read_evpn(process: Process, line: ConfigLine) -> None:
    words = list(line.words)
    if line.starts("route-target") and len(words) > 2:
        _take_targets(process, words[1], words[2:], line)
    elif line.starts("rd") and len(words) > 1:
        process.rd = process.said(words[1], line)
    elif line.starts("vni"):
        for inner in line.children:
            if inner.starts("route-target") and len(inner.words) > 2:
                process.vni_targets += [
                    process.said(f"vni {words[1]} {inner.words[1]} {target}", inner) for target in inner.words[2:]
                ]
            elif not inner.starts("rd"):
                process.pass_over(inner)
    elif line.starts("default-originate"):
        process.originates = process.said(value=True, line=line)
    elif line.words[0] not in {"advertise-all-vni", "advertise"}:
        process.pass_over(line)


def _finish(process: Process) -> ObservedRouter:
    return ObservedRouter(
        vrf=process.vrf,
        where=process.place(process.head),
        number=process.number,
        router_id=process.router_id,
        width=process.width,
        mixes_paths=process.mixes_paths,
        neighbours=tuple(_list_neighbours(process)),
        redistributed=tuple(process.redistributed),
        networks=tuple(process.networks),
        aggregates=frozenset(process.aggregates),
        originates_default=process.originates,
        imported_vrfs=tuple(process.imported_vrfs),
        leaks=tuple(process.leaks),
        rd=process.rd,
        imports=tuple(process.imports),
        exports=tuple(process.exports),
        ignores_number=True,
    )


def _list_neighbours(process: Process) -> Iterator[ObservedNeighbour]:
    """List neighbours with what their group adds; a group stands for all where it takes in whole networks."""
    for name, peer in process.peers.items():
        if name in process.groups:
            if name in process.ranges:
                yield _activate(process, peer, (name,))
            continue
        group = process.member_of.get(name)
        if group is not None and group not in process.groups:
            message = f"there is no peer group {group[:60]}"
            process.problems.append(Problem("artifact.dangling", message, where=peer.where, severity="warning"))
        base = process.peers.get(group or "")
        yield _activate(process, peer if base is None else _inherit(peer, base), (name, group or name))


def _inherit(peer: ObservedNeighbour, base: ObservedNeighbour) -> ObservedNeighbour:
    return replace(
        peer,
        number=peer.number or (base.number if peer.is_external is None else None),
        is_external=peer.is_external or base.is_external,
        has_bfd=peer.has_bfd or base.has_bfd,
        families=(*peer.families, *base.families),
        filter_in=peer.filter_in or base.filter_in,
        filter_out=peer.filter_out or base.filter_out,
        allows_own_number=peer.allows_own_number or base.allows_own_number,
    )


def _activate(process: Process, peer: ObservedNeighbour, names: tuple[str, ...]) -> ObservedNeighbour:
    """Name each family once; IPv4 is on without a line of its own unless the process says otherwise."""
    off = {family for name, family in process.switched_off if name in names}
    families = {said.value: said for said in reversed(peer.families) if said.value not in off}
    if process.has_ipv4 and "ipv4" not in off:
        families.setdefault("ipv4", Said("ipv4", peer.where))
    return replace(peer, families=tuple(families[name] for name in sorted(families)))
