"""FRR's ``frr.conf``, integrated or of one daemon: text to a tree of contexts."""

from __future__ import annotations

import re

from weftline.formats.config_text import ConfigText, TreeBuilder, split_lines
from weftline.formats.text import ProblemLog

# FRR reads by its grammar, not by indentation: a line that does not fit where it stands is tried one context further
# out (vtysh -b). So the words decide here too. FRR user guide, 'Basic Config Commands' and the daemons' pages.
_TOP = re.compile(
    r"(?:interface|router|route-map|vrf|nexthop-group|line|key chain|segment-routing|pbr-map|bfd|rpki|mpls ldp|l2vpn"
    r"|srv6|pseudowire)(?: |$)"
)
"""Lines that open a context from anywhere but where ``_INNER`` knows them."""
_GLOBAL = re.compile(
    r"(?:no )?(?:frr|hostname|domainname|log|service|password|enable|username|banner|debug|agentx|zebra|fpm|ipv6 route"
    r"|ip(?:v6)? (?:prefix-list|access-list|forwarding|nht|protocol|import-table|router-id|multicast-routing)"
    r"|(?:ip|bgp) (?:as-path access-list|community-list|extcommunity-list|large-community-list)|access-list"
    r"|bgp (?:send-extra-data|route-map|send-queue|no-rib|session-dscp)|allow-external-route-update|mpls label"
    r"|router-id|vni|ip route|ip table|evpn mh)(?: |$)|no (?:router|route-map|vrf|interface) "
)
"""Lines that stand outside contexts; some of them have a meaning inside as well."""
_INNER: dict[str, re.Pattern[str]] = {
    "router": re.compile(r"(?:router-id|address-family|segment-routing srv6|interface \S+ area|vrf-policy)(?: |$)"),
    "vrf": re.compile(r"(?:vni|ip (?:route|nht|protocol|router-id|import-table|table)|ipv6 route|router-id)(?: |$)"),
    "bfd": re.compile(r"(?:peer|profile)(?: |$)"),
    "address-family": re.compile(r"vni \d+$"),
    "interface": re.compile(r"(?:link-params|mpls enable|evpn mh)(?: |$)"),
    "route-map": re.compile(r"(?:no )?(?:match|set|call|on-match|description|continue)(?: |$)"),
}
"""Lines that belong to a context though they have a meaning outside as well; all lines of a route map."""
_OPENERS: dict[str, re.Pattern[str]] = {
    "router": re.compile(r"(?:address-family|vrf-policy|vnc|segment-routing srv6)(?: |$)"),
    "address-family": re.compile(r"vni \d+$"),
    "bfd": re.compile(r"(?:peer|profile) \S"),
    "interface": re.compile(r"link-params$"),
}
"""Lines that open a context inside one of these kinds."""
_FAMILY_ONLY_OUTSIDE = re.compile(
    r"(?:no )?(?:bgp (?:router-id|bestpath|default|ebgp|log-neighbor|graceful|cluster-id|listen|confederation"
    r"|always|deterministic|fast|update-delay|network|suppress|disable|labeled|min-holdtime|reject)"
    r"|timers bgp|neighbor \S+ (?:remote-as|interface|timers|update-source|ebgp-multihop|bfd|description|password"
    r"|local-as|peer-group$|port|capability|disable|shutdown|passive|advertisement-interval|ttl-security|enforce))"
    r"(?: |$)?"
)
"""Lines of a BGP process that no address family knows: they end the family that is open."""
_EXIT = re.compile(r"exit(?:-[a-z-]+)?|quit")
_OWN_MARKS = re.compile(
    rb"^[ \t]*(?:frr (?:version|defaults)\b|service integrated-vtysh-config|line vty|no zebra nexthop"
    rb"|exit-address-family|exit-vrf)",
    re.MULTILINE,
)
_MARKS = re.compile(
    rb"^[ \t]*(?:router (?:bgp|ospf)6?\b|route-map \S+ (?:permit|deny) \d+|ip prefix-list \S+ (?:seq|permit|deny))",
    re.MULTILINE,
)
NAMES = ("frr.conf", "bgpd.conf", "zebra.conf", "bfdd.conf", "staticd.conf")


def looks_like(name: str, head: bytes) -> bool:
    """Say whether a file is a configuration of FRR, by its name or its first bytes."""
    if _OWN_MARKS.search(head):
        return True
    return name.replace("\\", "/").rpartition("/")[2].endswith(NAMES) and b"\0" not in head


def could_be(head: bytes) -> bool:
    """Say whether the first bytes hold lines of FRR that other systems know as well."""
    return _MARKS.search(head) is not None


def read_frr(data: bytes, file: str, first: int = 1, log: ProblemLog | None = None) -> ConfigText:
    """Read an integrated file or that of one daemon as a tree of contexts; never raises.

    ``first`` is the number of its first line where it is part of a longer file.
    """
    log = log or ProblemLog(file)
    builder = TreeBuilder()
    for place, raw in split_lines(data, log):
        number = place + first - 1
        body = raw.strip()
        if not body or body[0] in "!#":
            continue
        text = " ".join(body.split())
        if text == "end" or _EXIT.fullmatch(text):
            _leave(builder, text)
            continue
        column = len(raw) - len(raw.lstrip()) + 1
        _climb(builder, text)
        builder.open(number, column, tuple(text.split(" ")))
        if not _opens(builder):
            builder.close(builder.depth - 1)
    return ConfigText(file, builder.finish(), log.close())


def _leave(builder: TreeBuilder, text: str) -> None:
    """Leave all contexts, the innermost, or the kind that an ``exit-...`` names; where none is open it says nothing."""
    if text == "end":
        builder.close()
        return
    kind = text.partition("-")[2]
    for depth in range(builder.depth, 0, -1):
        if not kind or builder.head(depth - 1)[0] == kind:
            builder.close(depth - 1)
            return


def _climb(builder: TreeBuilder, text: str) -> None:
    """Leave the contexts in which a line has no meaning."""
    while builder.depth:
        kind = builder.head(builder.depth - 1)[0]
        if _belongs(kind, text):
            return
        builder.close(builder.depth - 1)


def _belongs(kind: str, text: str) -> bool:
    """Say whether a line has a meaning in a context; what nobody knows stays where it stands."""
    is_of_process = text.startswith(("address-family ", "vrf-policy ")) or _FAMILY_ONLY_OUTSIDE.match(text)
    if kind == "address-family" and is_of_process:
        return False
    known = _INNER.get(kind)
    if known is not None and known.match(text):
        return True
    return kind != "route-map" and not _TOP.match(text) and not _GLOBAL.match(text)


def _opens(builder: TreeBuilder) -> bool:
    """Say whether the line just opened is the head of a context."""
    words = builder.head(builder.depth - 1)
    text = " ".join(words)
    if builder.depth > 1:
        inner = _OPENERS.get(builder.head(builder.depth - 2)[0])
        return inner is not None and inner.match(text) is not None
    return _TOP.match(text) is not None and not text.startswith("line vty ")
