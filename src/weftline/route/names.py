"""Names of endpoints, destinations and roots, found in a fabric or answered with the nearest right ones."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

import numpy as np

from weftline.errors import SpecError
from weftline.kernels.column import I32, NIL
from weftline.model.fabric import Fabric, NodeKind
from weftline.model.routes import Routes

_LONGEST = 200
_PATH_DIGITS = 3
"""Digits of the number of an address: LMC is at most 7. IBTA vol 1, 4.1.3."""
_PORT = re.compile(r"(?:nic)?([0-9]{1,9})(?:p([0-9]{1,9}))?")


def find_endpoint(fabric: Fabric, text: str) -> int:
    """Find the endpoint port of ``host-0001`` (its first NIC), ``host-0001/nic3``, ``host-0001/nic3p2`` or ``ufm/1``.

    Returns a port index. Raises ``SpecError`` with the nearest names.
    """
    name, _, port_text = text.strip().partition("/")
    node = _find_node(fabric, name)
    if node != NIL and fabric.node_kind[node] == NodeKind.SWITCH:
        raise _unknown(text, "endpoint", "a switch neither sends nor receives; name a host, as host-0001/nic1")
    if node == NIL:
        names = (n for n, kind in zip(fabric.node_name, fabric.node_kind, strict=True) if kind != NodeKind.SWITCH)
        raise _unknown(text, "endpoint", suggest(name, names))
    ports = range(int(fabric.port_ptr[node]), int(fabric.port_ptr[node + 1]))
    if not ports:
        raise _unknown(text, "endpoint", f"{name} has no ports")
    if not port_text:
        return ports[0]
    number = _read_port(fabric, node, port_text)
    for port in ports:
        if fabric.port_number[port] == number:
            return port
    raise _unknown(text, "endpoint", suggest(text, (fabric.port_name(port) for port in ports)))


def find_destination(fabric: Fabric, routes: Routes, text: str) -> int:
    """Find a destination (a column of the tables): an endpoint, or a switch where the tables lead to switches.

    ``host-0001/nic1+2`` is the second further address of an endpoint that answers to several (LMC above 0). Raises
    ``SpecError`` with the nearest names.
    """
    node = _find_node(fabric, text.strip())
    if node != NIL and fabric.node_kind[node] == NodeKind.SWITCH:
        found = np.flatnonzero((routes.destination_node == node) & (routes.destination_port == NIL))
        if not len(found):
            raise _unknown(text, "destination", "the tables of this technology lead to endpoints, not to switches")
    else:
        end, plus, path = text.strip().partition("+")
        is_number = path.isdecimal() and len(path) <= _PATH_DIGITS
        is_path = routes.path == (int(path) if is_number else 0)
        found = np.flatnonzero((routes.destination_port == find_endpoint(fabric, end)) & is_path)
        if not len(found) or (plus and not is_number):
            raise _unknown(text, "destination", "the tables do not know this endpoint")
    return int(found[0])


def find_roots(fabric: Fabric, names: tuple[str, ...]) -> I32:
    """Find the rows of the switches of these names, ascending, each once; raise ``SpecError`` for any other name."""
    rows: set[int] = set()
    index = {fabric.node_name[int(node)]: row for row, node in enumerate(fabric.switch_node)} if names else {}
    for name in names:
        if name not in index:
            raise SpecError("spec.unknown-root", f"root {name[:80]!r} is no switch of the fabric", suggest(name, index))
        rows.add(index[name])
    return np.array(sorted(rows), dtype=np.int32)


def suggest(text: str, names: Iterable[str]) -> str:
    """Phrase the nearest right names as a hint."""
    known = list(names)
    near = get_close_matches(text[:_LONGEST], known, n=3, cutoff=0.5) or known[:3]
    return f"did you mean {' or '.join(near)}?" if near else ""


def _find_node(fabric: Fabric, name: str) -> int:
    return fabric.node_name.index(name) if name in fabric.node_name else NIL


def _read_port(fabric: Fabric, node: int, text: str) -> int:
    """Read ``nic3``, ``nic3p2`` or a plain number as the number of a port; 0 where it is none."""
    match = _PORT.fullmatch(text)
    if match is None:
        return 0
    first, second = int(match[1]), int(match[2] or 1)
    if not text.startswith("nic") or fabric.node_kind[node] != NodeKind.HOST:
        return first if match[2] is None else 0
    return (first - 1) * fabric.planes + second if 1 <= second <= fabric.planes else 0


def _unknown(text: str, what: str, hint: str) -> SpecError:
    return SpecError("spec.unknown-endpoint", f"there is no {what} {text[:80]!r}", hint)
