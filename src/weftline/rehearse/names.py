"""Names and patterns of links, switches and ports as the ports that they mean."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from fnmatch import translate

import numpy as np

from weftline.kernels.column import I32, NIL
from weftline.model.fabric import Fabric, NodeKind

LONGEST = 200
"""Characters of a name or a pattern; longer than any that a fabric has."""
WILD = frozenset("*?[")
MOST_STARS = 8
NEAREST = 3


class Index:
    """The names of one fabric, looked up by what people write."""

    def __init__(self, fabric: Fabric) -> None:
        self.fabric = fabric
        self.node = {name: node for node, name in enumerate(fabric.node_name)}

    def find(self, text: str) -> I32 | None:
        """Find the lit ports, both ends, of a link, a switch, a host or a port, or of all that a pattern means.

        ``leaf-003``, ``leaf-003/33``, ``leaf-003/33~spine-01/3`` and patterns as ``leaf-00[1-4]``; a link may be
        named from either end. None where nothing has that name; empty where what has it is dark.
        """
        name = text.strip()
        if not name or len(name) > LONGEST or name.count("*") > MOST_STARS:
            return None
        near, tilde, far = name.partition("~")
        here = self._find_ports(near)
        if tilde:
            here = here[np.isin(self.fabric.port_peer[here], self._find_ports(far))]
        return self._close(here) if len(here) else None

    def suggest(self, text: str) -> str:
        """Say which names are near."""
        return _phrase(text.strip()[:LONGEST], self._near(text.strip()[:LONGEST]))

    def _near(self, text: str) -> list[str]:
        node, slash, _ = text.partition("~")[0].partition("/")
        if slash and node in self.node:
            at = self.node[node]
            ports = range(int(self.fabric.port_ptr[at]), int(self.fabric.port_ptr[at + 1]))
            lit = (port for port in ports if self.fabric.port_peer[port] != NIL)
            names = [self.fabric.link_name(port) if "~" in text else self.fabric.port_name(port) for port in lit]
            return get_close_matches(text, names, n=NEAREST, cutoff=0.3) or names[:NEAREST]
        near = get_close_matches(node, list(self.node), n=NEAREST, cutoff=0.5)
        if near:
            rest = text[len(node) :]
            return [name + rest if rest and self.find(name + rest) is not None else name for name in near]
        switches = self.fabric.switch_node[:NEAREST].tolist()
        return [self.fabric.node_name[int(at)] for at in switches]

    def _find_ports(self, text: str) -> I32:
        node, slash, port = text.partition("/")
        nodes = self._find_nodes(node)
        found: list[int] = []
        for at in nodes:
            span = range(int(self.fabric.port_ptr[at]), int(self.fabric.port_ptr[at + 1]))
            if not slash:
                found.extend(span)
                continue
            match = _match(port) if WILD & set(port) else None
            for one in span:
                label = self.fabric.port_name(one).partition("/")[2]
                is_named = port == label if match is None else match.fullmatch(label) is not None
                if is_named or (match is None and port == str(self.fabric.port_number[one]) and self._is_plain(at)):
                    found.append(one)
        return np.array(found, dtype=np.int32)

    def _is_plain(self, node: int) -> bool:
        """Whether a plain number names a port of this node: everywhere but on hosts with several planes."""
        return self.fabric.planes == 1 or self.fabric.node_kind[node] != NodeKind.HOST

    def _find_nodes(self, text: str) -> Iterable[int]:
        if not WILD & set(text):
            return (self.node[text],) if text in self.node else ()
        match = _match(text)
        return [node for name, node in self.node.items() if match.fullmatch(name)]

    def _close(self, ports: I32) -> I32:
        """Take the lit ones and their peers, each once, ascending."""
        lit = ports[self.fabric.port_peer[ports] != NIL] if len(ports) else ports
        return np.unique(np.concatenate((lit, self.fabric.port_peer[lit]))).astype(np.int32)


def _match(pattern: str) -> re.Pattern[str]:
    return re.compile(translate(pattern))


def _phrase(text: str, near: list[str]) -> str:
    shown = [name for name in near if name != text]
    return f"did you mean {' or '.join(shown)}?" if shown else ""


def name_ports(fabric: Fabric, ports: I32) -> list[str]:
    """Name many ports at once, as ``Fabric.port_name`` names one."""
    node = fabric.port_node[ports]
    is_host = (fabric.node_kind[node] == NodeKind.HOST).tolist()
    names: list[str] = []
    for at, number, host in zip(node.tolist(), fabric.port_number[ports].tolist(), is_host, strict=True):
        if not host:
            names.append(f"{fabric.node_name[at]}/{number}")
        elif fabric.planes == 1:
            names.append(f"{fabric.node_name[at]}/nic{number}")
        else:
            nic, plane = divmod(number - 1, fabric.planes)
            names.append(f"{fabric.node_name[at]}/nic{nic + 1}p{plane + 1}")
    return names


def turn_links(fabric: Fabric, ports: I32) -> I32:
    """Choose the end from which each link is named: the switch of a link to a host, else the lower port."""
    peer = fabric.port_peer[ports]
    near, far = np.minimum(ports, peer), np.maximum(ports, peer)
    row = fabric.switch_row[fabric.port_node]
    return np.where((row[near] == NIL) & (row[far] != NIL), far, near).astype(np.int32)


def name_links(fabric: Fabric, ports: I32) -> list[str]:
    """Name many links, one to a host from its switch, as people look for it."""
    near = turn_links(fabric, ports)
    return [
        f"{a}~{b}" for a, b in zip(name_ports(fabric, near), name_ports(fabric, fabric.port_peer[near]), strict=True)
    ]


def name_link(fabric: Fabric, port: int) -> str:
    """Name one link; a dark port is named alone."""
    if fabric.port_peer[port] == NIL:
        return fabric.port_name(port)
    return name_links(fabric, np.array([port], dtype=np.int32))[0]
