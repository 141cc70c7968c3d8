"""The tables that `lab keep` left running, made again from what it wrote down, and what of a lab differs by that."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from weftline.app.kept import find_ports, read_kept
from weftline.app.pipeline import Routed
from weftline.heal import name_links
from weftline.kernels.column import I32, NIL
from weftline.model.driver import Readback
from weftline.model.fabric import Fabric
from weftline.model.routes import Routes
from weftline.route.repair import prepare_repair, repair_routes


@dataclass(frozen=True, eq=False)
class Repaired:
    """Tables that were made without some links."""

    routes: Routes
    left: Fabric
    without: tuple[str, ...]
    """The links that they were made without, and the ports with a wrong cable, by name."""
    wrong: frozenset[int]
    """The ports with a wrong cable: what stands there is told again and again."""
    is_on_its_way: bool
    """Whether nobody has read back yet that they run."""


def list_repaired(folder: Path, routed: Routed) -> tuple[Repaired, ...]:
    """List the tables that may run: those that were sent last, and those before where the sending was cut off.

    Empty where nobody kept the lab. The tables follow from the links that were lost, so that these alone are written
    down.
    """
    kept = read_kept(folder, routed.routes.digest)
    if kept is None:
        return ()
    fabric = routed.built.fabric
    standing = prepare_repair(fabric, routed.routes, routed.built.checked.design.spec.routing.roots)
    is_open = kept.stage == "sending"
    pairs = [(kept.lost, kept.wrong)] + ([(kept.before_lost, kept.before_wrong)] if is_open else [])
    found: list[Repaired] = []
    for lost_names, wrong_names in pairs:
        lost, wrong = find_ports(fabric, lost_names), find_ports(fabric, wrong_names)
        repair = repair_routes(standing, lost, wrong)
        words = (*name_links(fabric, _lower(fabric, lost)), *(f"{name} (wrong cable)" for name in wrong_names))
        found.append(Repaired(repair.routes, repair.fabric, words, frozenset(wrong.tolist()), is_open))
    return tuple(found)


def _lower(fabric: Fabric, ports: I32) -> frozenset[int]:
    return frozenset(min(port, int(fabric.port_peer[port])) for port in ports.tolist() if fabric.port_peer[port] != NIL)


def drop_known(readback: Readback, routed: Routed, tables: Repaired) -> Readback:
    """Leave out the differences that follow from the links that the tables were made without."""
    known = set(_list_known(routed, tables))
    kept = tuple(one for one in readback.differences if (one.kind, one.subject) not in known)
    gone = [one.kind for one in readback.differences if (one.kind, one.subject) in known]
    differing = {kind: many - gone.count(kind) for kind, many in readback.differing.items()}
    return replace(readback, differing={kind: many for kind, many in differing.items() if many}, differences=kept)


def _list_known(routed: Routed, tables: Repaired) -> Iterator[tuple[str, str]]:
    """List what is not there: links, endpoints, and switches without any."""
    fabric, left = routed.built.fabric, tables.left
    for port in range(fabric.port_count):
        peer = int(fabric.port_peer[port])
        if peer == NIL or int(left.port_peer[port]) != NIL or {port, peer} & tables.wrong:
            continue
        if port < peer:
            yield "link", fabric.link_name(port)
        if fabric.switch_row[fabric.port_node[port]] == NIL:
            yield "node", fabric.port_name(port)
    for node in fabric.switch_node.tolist():
        own = slice(int(fabric.port_ptr[node]), int(fabric.port_ptr[node + 1]))
        if (left.port_peer[own] == NIL).all():
            yield "node", fabric.node_name[node]
