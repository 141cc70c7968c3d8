"""What one topology of a folder says otherwise than the one that counts."""

from __future__ import annotations

from collections.abc import Iterator

from weftline.adopt.identify import Directory, make_directory
from weftline.errors import Problem
from weftline.kernels.column import NIL
from weftline.model.discovery import Discovery

SHOWN = 3
"""Differences of each kind that are named."""

_Ends = tuple[tuple[int, int], tuple[int, int]]


def compare_sources(main: Discovery, other: Discovery, forms: tuple[str, str]) -> Problem | None:
    """Compare nodes, links and LIDs of two files of one subnet; None where they agree.

    Either may be older, or a part: a difference is something to look at, not an error.
    """
    directory = make_directory(main)
    names = _names(main, directory) | _names(other, directory)
    mine = {node.guid for node in main.nodes}
    theirs = {directory.node_of(node.guid) or node.guid for node in other.nodes}
    said: list[str] = []
    _say(said, "node", "only in the former", [names.get(guid, hex(guid)) for guid in sorted(mine - theirs)])
    _say(said, "node", "only in the latter", [names.get(guid, hex(guid)) for guid in sorted(theirs - mine)])
    both = mine & theirs
    own, far = dict(_links(main, directory)), dict(_links(other, directory))

    def among(links: set[_Ends]) -> list[str]:
        return [_title(names, link) for link in sorted(links) if link[0][0] in both and link[1][0] in both]

    _say(said, "link", "only in the former", among(own.keys() - far.keys()))
    _say(said, "link", "only in the latter", among(far.keys() - own.keys()))
    addresses, others = _lids(main, directory), _lids(other, directory)
    differ = sorted(port for port, lid in addresses.items() if others.get(port, lid) != lid)
    _say(said, "port", "given another LID", [f"{names[guid]}/{number}" for guid, number in differ])
    if not said:
        return None
    lines = [far[link] for link in far.keys() - own.keys()]
    message = f"{main.file} ({forms[0]}) and this file ({forms[1]}) say otherwise: {'; '.join(said)}"
    better = "the more exact" if forms[0] != forms[1] else "the larger or the first of them"
    hint = f"take both again at one time; {main.file} counts, being {better}"
    return Problem("artifact.sources-disagree", message, hint, other.place(min(lines, default=0)), "warning")


def _say(said: list[str], kind: str, what: str, items: list[str]) -> None:
    """Note how many differences of a kind there are, and the first."""
    if items:
        more = ", ..." if len(items) > SHOWN else ""
        kinds = f"{kind} is" if len(items) == 1 else f"{kind}s are"
        said.append(f"{len(items):,} {kinds} {what} ({', '.join(items[:SHOWN])}{more})")


def _names(discovery: Discovery, directory: Directory) -> dict[int, str]:
    """Name nodes."""
    return {directory.node_of(node.guid) or node.guid: node.title for node in discovery.nodes}


def _title(names: dict[int, str], link: _Ends) -> str:
    """Name a link by its ports."""
    return "~".join(f"{names.get(guid, hex(guid))}/{number}" for guid, number in link)


def _links(discovery: Discovery, directory: Directory) -> Iterator[tuple[_Ends, int]]:
    """Yield each link by the node GUIDs of the topology that counts, with its line."""
    guids = {node.key: node.guid for node in discovery.nodes}
    for node in discovery.nodes:
        for port in node.ports:
            peer = guids.get(port.peer, 0)
            if peer:
                a = (directory.node_of(node.guid) or node.guid, port.number)
                b = (directory.node_of(peer) or peer, port.peer_number)
                yield (min(a, b), max(a, b)), port.line


def _lids(discovery: Discovery, directory: Directory) -> dict[tuple[int, int], int]:
    """Return the LID of each port that has one; port 0 is a switch itself."""
    found: dict[tuple[int, int], int] = {}
    for node in discovery.nodes:
        guid = directory.node_of(node.guid) or node.guid
        if node.kind == "switch":
            found[(guid, 0)] = node.lid
        else:
            found.update(((guid, port.number), port.lid) for port in node.ports)
    return {port: lid for port, lid in found.items() if lid not in {NIL, 0}}
