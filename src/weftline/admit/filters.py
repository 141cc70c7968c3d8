"""Which packets a filter lets in at a port: from which sources, and to the ends of tunnels."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from functools import lru_cache
from operator import attrgetter
from typing import Literal, NamedTuple

from weftline.admit.prefix import Prefix, is_inside, overlaps, parse_prefix
from weftline.errors import Place
from weftline.model.observed_routing import ObservedFilter, ObservedRule

Verdict = Literal["drops", "lets", "unknown"]
Fit = Literal["none", "some", "all"]
"""How much of the packets in question a match holds for: it cannot, it may, or it certainly does for all of them."""
TUNNEL_PORT = 4789
"""UDP port of VXLAN. RFC 7348, 5."""
ANY = frozenset({"", "any", "0.0.0.0/0", "::/0"})
ANY_PROTOCOL = frozenset({"", "any", "ip", "ipv4", "all"})
UDP = frozenset({"udp", "17", "0x11"})
OTHERS = frozenset({"tcp", "icmp", "igmp", "ospf", "pim", "ahp", "esp", "gre", "vrrp", "sctp", "rsvp", "icmpv6"})
"""Names of protocols that are certainly not UDP."""
NAMES = {"vxlan": TUNNEL_PORT}
MAX_PORT = 65_535
_ORDER = attrgetter("order")
_SPAN = re.compile(r"(?:range )?(\d{1,5})[-: ](\d{1,5})", re.ASCII)
_SIDE = re.compile(r"(gt|lt|neq|eq) (\d{1,5}|[a-z-]{1,20})", re.ASCII)


class Admission(NamedTuple):
    """What a filter does with the packets in question, and which of its rules decides."""

    verdict: Verdict
    does: str
    """What it does, or its rule, in words that follow their name; all that there is to say where it is no filter."""
    where: Place
    one: ObservedFilter | None = None
    rule: ObservedRule | None = None
    """None where it is what happens to packets that no rule matches."""
    is_exact: bool = True
    """Whether all sources that it lets in are of the subnets of the port itself."""

    @property
    def says(self) -> str:
        """Say it; few of the many that are judged are ever asked."""
        if self.one is None:
            return self.does
        if self.rule is None:
            return f"filter {self.one.name} {self.does}"
        return f"rule {self.rule.order} of filter {self.one.name}{self.does or _call_source(self.rule)}"


def _call_source(rule: ObservedRule) -> str:
    return f": {rule.action} from {rule.source or 'any'}"


def list_rules(one: ObservedFilter, ports: Collection[str]) -> list[ObservedRule]:
    """List the rules that hold at one of some interfaces, in the order in which they act."""
    held = [rule for rule in one.rules if not rule.in_ports or not rule.in_ports.isdisjoint(ports)]
    held.sort(key=_ORDER)
    return held


class RuleIndex:
    """The rules of one filter by the interfaces at which they hold, so that a table for all ports is read once."""

    __slots__ = ("_always", "_at", "mirrors", "one")

    def __init__(self, one: ObservedFilter) -> None:
        """Take a filter."""
        self.one = one
        self.mirrors = tuple([rule for rule in one.rules if rule.action == "mirror"])
        """Rules that copy packets, at whichever interface."""
        rules = sorted(one.rules, key=_ORDER)
        always: list[int] = []
        places: dict[str, list[int]] = {}
        for place, rule in enumerate(rules):
            for port in rule.in_ports:
                places.setdefault(port, []).append(place)
            if not rule.in_ports:
                always.append(place)
        self._always = [rules[place] for place in always]
        self._at = {port: [rules[place] for place in sorted([*held, *always])] for port, held in places.items()}

    def find(self, ports: Collection[str]) -> list[ObservedRule]:
        """List the rules that hold at one of some interfaces, in the order in which they act."""
        named = [port for port in ports if port in self._at]
        if len(named) > 1:
            return list_rules(self.one, ports)
        return self._at[named[0]] if named else self._always


def judge_sources(
    one: ObservedFilter, rules: Iterable[ObservedRule], subnets: Iterable[Prefix], is_ours: Callable[[Prefix], bool]
) -> Admission:
    """Judge whether a filter drops packets from sources that are not the port's own.

    ``rules`` are those that hold at the port, in the order in which they act, ``subnets`` its own; ``is_ours`` says
    what else may come in.
    """
    is_exact = True
    for rule in rules:
        if rule.action == "mirror":
            continue
        if rule.action == "other":
            return _decide("unknown", one, rule)
        if rule.action == "deny":
            if _takes_all(rule):
                return _decide("drops", one, rule, is_exact=is_exact)
            continue
        source = parse_prefix(rule.source.removeprefix("host ")) if rule.source not in ANY else None
        if source is None and rule.source not in ANY:
            return _decide("unknown", one, rule)
        near = [] if source is None else [subnet for subnet in subnets if is_inside(source, subnet)]
        if near or (source is not None and is_ours(source)):
            is_exact = is_exact and bool(near)
            continue
        return _decide("unknown" if rule.unread else "lets", one, rule)
    return _judge_rest(one, is_exact=is_exact)


def _decide(verdict: Verdict, one: ObservedFilter, rule: ObservedRule, *, is_exact: bool = True) -> Admission:
    return Admission(verdict, "", rule.where, one, rule, is_exact)


def judge_tunnels(
    one: ObservedFilter, rules: Iterable[ObservedRule], ends: Collection[Prefix], udp_port: int = TUNNEL_PORT
) -> Admission:
    """Judge whether a filter drops what a host sends to the UDP port of tunnels at these ends, whatever its source.

    ``rules`` are those that hold at the port, in the order in which they act. Where no ends are known, only a rule
    for all targets is enough.
    """
    # all edges of a fabric are judged by the same ends, so these are copied only where a rule takes some away
    left = ends
    for rule in rules:
        fit = _fit(rule.protocol, rule.target_port, udp_port)
        target = parse_prefix(rule.target.removeprefix("host ")) if rule.target not in ANY else None
        met = left if target is None else {end for end in left if overlaps(end, target)}
        if fit == "none" or rule.action == "mirror" or (target is not None and left and not met):
            continue
        if rule.action == "other":
            return Admission("unknown", f" does what nobody here knows with UDP {udp_port}", rule.where, one, rule)
        if rule.action == "permit":
            is_sure = not rule.unread and fit == "all" and (target is not None or rule.target in ANY)
            words = f" lets UDP {udp_port} in before a rule drops it"
            return Admission("lets" if is_sure else "unknown", words, rule.where, one, rule)
        if rule.unread or fit == "some" or rule.source not in ANY:
            continue
        if rule.target in ANY:
            return Admission("drops", f" drops UDP {udp_port}", rule.where, one, rule)
        if target is not None and met:
            left = {end for end in left if not is_inside(end, target)}
            if not left:
                return Admission("drops", f" drops UDP {udp_port} to every end of a tunnel", rule.where, one, rule)
    return _judge_rest(one)


def _judge_rest(one: ObservedFilter, *, is_exact: bool = True) -> Admission:
    rest = None if one.otherwise is None else one.otherwise.value
    words = {"deny": "drops the rest", "permit": "lets the rest in", None: "does not say what happens to the rest"}
    verdicts: dict[str | None, Verdict] = {"deny": "drops", "permit": "lets", None: "unknown"}
    return Admission(verdicts[rest], words[rest], one.where, one, None, is_exact)


def _takes_all(rule: ObservedRule) -> bool:
    return (
        rule.source in ANY
        and rule.target in ANY
        and rule.protocol in ANY_PROTOCOL
        and not rule.target_port
        and not rule.unread
    )


@lru_cache(maxsize=1024)
def _fit(protocol: str, target_port: str, udp_port: int) -> Fit:
    """Tell how a match holds for UDP to one port; the rules of all edges of a fabric are of a few kinds."""
    fits = {_fit_protocol(protocol), _fit_port(target_port, udp_port)}
    return "none" if "none" in fits else "all" if fits == {"all"} else "some"


def _fit_protocol(text: str) -> Fit:
    """Tell how a match of a protocol holds for UDP."""
    word = text.lower()
    if word in ANY_PROTOCOL or word in UDP:
        return "all"
    return "none" if word in OTHERS or (word.isdecimal() and word.strip("0")) else "some"


def _fit_port(text: str, port: int) -> Fit:
    """Tell how a match of the target port holds for one port, in the words of any platform."""
    words = text.lower().split(",")
    if len(words) > 1:
        fits = {_fit_port(word, port) for word in words}
        return "all" if "all" in fits else "none" if fits == {"none"} else "some"
    word = words[0].strip()
    if word in {"", "any"}:
        return "all"
    number = _read_port(word)
    if number is not None:
        return "all" if number == port else "none"
    if span := _SPAN.fullmatch(word):
        return "all" if int(span[1]) <= port <= int(span[2]) else "none"
    side = _SIDE.fullmatch(word)
    other = None if side is None else _read_port(side[2])
    if side is None or other is None:
        return "some"
    holds = {"gt": port > other, "lt": port < other, "neq": port != other, "eq": port == other}
    return "all" if holds[side[1]] else "none"


def _read_port(word: str) -> int | None:
    number = int(word) if word.isdecimal() and len(word) <= len(str(MAX_PORT)) else NAMES.get(word)
    return number if number is not None and number <= MAX_PORT else None


def find_dropped_port(one: ObservedFilter) -> tuple[int, Place] | None:
    """Find the UDP port that the first rule of a filter drops for all, where it does."""
    first = min(one.rules, key=lambda rule: rule.order, default=None)
    if first is None or first.action != "deny" or first.protocol.lower() not in UDP or first.unread:
        return None
    number = _read_port(first.target_port)
    is_whole = first.source in ANY and first.target in ANY and not first.in_ports
    return (number, first.where) if number is not None and is_whole else None
