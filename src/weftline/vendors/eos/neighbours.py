"""Lines on BGP neighbours of a running configuration, with what their groups add."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from weftline.errors import Problem
from weftline.formats.config_text import ConfigLine
from weftline.model.observed_routing import ObservedNeighbour
from weftline.model.said import Said
from weftline.vendors.eos.file import MAX_NUMBER, EosFile

_SILENT = frozenset({
    "description", "timers", "update-source", "password", "send-community", "maximum-routes", "ebgp-multihop",
    "next-hop", "next-hop-self", "next-hop-unchanged", "next-hop-peer", "weight", "soft-reconfiguration",
    "transport", "graceful-restart", "graceful-restart-helper", "additional-paths", "local-as", "auto-local-addr",
    "out-delay", "encapsulation", "enforce-first-as", "dont-capability-negotiate", "remove-private-as",
    "link-bandwidth", "rib-in", "route-reflector-client", "peer-filter", "missing-policy", "idle-restart-timer",
    "session", "import-localpref", "export-localpref", "local-v4-addr", "local-v6-addr", "next-hop-v6-addr",
    "metric-out", "passive", "monitoring", "default-metric", "bfd", "tos",
})  # fmt: skip


@dataclass(slots=True)
class Peers:
    """The neighbours of one process in one VRF while they are read."""

    file: EosFile
    number: Said[int] | None = None
    """Number of the process."""
    has_ipv4: bool = True
    by_name: dict[str, ObservedNeighbour] = field(default_factory=dict[str, ObservedNeighbour])
    groups: dict[str, ConfigLine] = field(default_factory=dict[str, ConfigLine])
    member_of: dict[str, str] = field(default_factory=dict[str, str])
    listening: set[str] = field(default_factory=set[str])
    switched_off: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    default: Said[bool] | None = None

    def read(self, line: ConfigLine, family: str) -> None:
        """Read one line; a range of interfaces stands for each of them."""
        words = list(line.body[1:])
        if words[:1] == ["interface"] and len(words) > 1:
            for name in self.file.expand(words[1], line):
                self._take(name, words[2:], line, family)
        elif len(words) > 1:
            self._take(words[0], words[1:], line, family)

    def listen(self, line: ConfigLine) -> None:
        """Read a range of addresses from which neighbours of a group may come."""
        group = line.value("peer-group")
        if group is None or line.is_negated:
            return
        self.listening.add(group)
        text = line.value("remote-as")
        if text is not None:
            self._take(group, ["remote-as", text], line, "ipv4")

    def _take(self, name: str, words: list[str], line: ConfigLine, family: str) -> None:
        if words in (["peer-group"], ["peer", "group"]):
            if not line.is_negated:
                self.groups[name] = line
            return
        if not words:  # ``no neighbor interface Et1``
            self.by_name.pop(name, None)
            return
        peer = self.by_name.get(name) or ObservedNeighbour(name, self.file.place(line))
        while words:  # ``neighbor interface Et1 peer-group G remote-as 1`` says two things at once
            if words[:2] == ["peer", "group"]:
                words = ["peer-group", *words[2:]]
            read = _LINES.get(words[0])
            if read is not None:
                peer = read(self, peer, words, line, family)
            elif words[0] not in _SILENT and not line.is_negated:
                self.file.pass_over(f"router bgp neighbor {words[0]}")
            words = words[2:] if words[0] in {"peer-group", "remote-as"} else []
        self.by_name[name] = peer

    def finish(self) -> Iterator[ObservedNeighbour]:
        """List neighbours with what their group adds; a group stands for all where it takes in whole networks."""
        for name, peer in self.by_name.items():
            if name in self.groups:
                if name in self.listening:
                    yield self._activate(peer, (name,))
                continue
            group = self.member_of.get(name)
            if group is not None and group not in self.groups:
                self.file.problems.append(_dangling(group, peer))
            base = self.by_name.get(group or "")
            yield self._activate(peer if base is None else _inherit(peer, base), (name, group or name))

    def _activate(self, peer: ObservedNeighbour, names: tuple[str, ...]) -> ObservedNeighbour:
        off = {family for name, family in self.switched_off if name in names}
        families = {said.value: said for said in reversed(peer.families) if said.value not in off}
        if self.has_ipv4 and "ipv4" not in off:
            families.setdefault("ipv4", Said("ipv4", peer.where))
        return replace(peer, families=tuple(families[name] for name in sorted(families)))


def _dangling(group: str, peer: ObservedNeighbour) -> Problem:
    return Problem("artifact.dangling", f"there is no peer group {group[:60]}", where=peer.where, severity="warning")


def _inherit(peer: ObservedNeighbour, base: ObservedNeighbour) -> ObservedNeighbour:
    return replace(
        peer,
        number=peer.number or base.number,
        is_external=peer.is_external or base.is_external,
        has_bfd=peer.has_bfd or base.has_bfd,
        families=(*peer.families, *base.families),
        filter_in=peer.filter_in or base.filter_in,
        filter_out=peer.filter_out or base.filter_out,
        allows_own_number=peer.allows_own_number or base.allows_own_number,
    )


Read = Callable[[Peers, ObservedNeighbour, list[str], ConfigLine, str], ObservedNeighbour]


def _read_number(
    peers: Peers, peer: ObservedNeighbour, words: list[str], line: ConfigLine, _: str
) -> ObservedNeighbour:
    if line.is_negated or len(words) < 2:
        return peer
    number = read_autonomous(peers.file, words[1], line)
    if number is None or peers.number is None:
        return replace(peer, number=number)
    return replace(peer, number=number, is_external=Said(number.value != peers.number.value, number.where))


def read_autonomous(file: EosFile, text: str, line: ConfigLine) -> Said[int] | None:
    """Read the number of an autonomous system, plain or as ``1.10``."""
    high, dot, low = text.partition(".")
    if not dot:
        return file.number(text, 1, MAX_NUMBER, line)
    upper, lower = file.number(high, 0, 65_535, line), file.number(low, 0, 65_535, line)
    return None if upper is None or lower is None else file.said(upper.value * 65_536 + lower.value, line)


def _read_group(peers: Peers, peer: ObservedNeighbour, words: list[str], line: ConfigLine, _: str) -> ObservedNeighbour:
    if not line.is_negated and len(words) > 1:
        peers.member_of[peer.name] = words[1]
    return peer


def _read_bfd(peers: Peers, peer: ObservedNeighbour, words: list[str], line: ConfigLine, _: str) -> ObservedNeighbour:
    if words[0] == "fall-over" and words[1:2] != ["bfd"]:
        return peer
    return replace(peer, has_bfd=peers.file.said(not line.is_negated, line))


def _read_activation(
    peers: Peers, peer: ObservedNeighbour, _: list[str], line: ConfigLine, family: str
) -> ObservedNeighbour:
    if line.is_negated:
        peers.switched_off.add((peer.name, family))
        return peer
    return replace(peer, families=(*peer.families, peers.file.said(family, line)))


def _read_own(peers: Peers, peer: ObservedNeighbour, _: list[str], line: ConfigLine, __: str) -> ObservedNeighbour:
    return replace(peer, allows_own_number=peers.file.said(not line.is_negated, line))


def _read_sieve(peers: Peers, peer: ObservedNeighbour, words: list[str], line: ConfigLine, _: str) -> ObservedNeighbour:
    if len(words) < 3 or line.is_negated:
        return peer
    said = peers.file.said(words[1] if words[0] == "route-map" else f"prefix-list {words[1]}", line)
    return replace(peer, filter_in=said) if words[2] == "in" else replace(peer, filter_out=said)


def _read_default(peers: Peers, peer: ObservedNeighbour, _: list[str], line: ConfigLine, __: str) -> ObservedNeighbour:
    if not line.is_negated:
        peers.default = peers.file.said(value=True, line=line)
    return peer


_LINES: dict[str, Read] = {
    "remote-as": _read_number,
    "peer-group": _read_group,
    "bfd": _read_bfd,
    "fall-over": _read_bfd,
    "activate": _read_activation,
    "allowas-in": _read_own,
    "route-map": _read_sieve,
    "prefix-list": _read_sieve,
    "default-originate": _read_default,
}
