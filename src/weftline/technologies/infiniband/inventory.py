"""Real GUIDs from an inventory in the place of placeholders; every port with a cable and every switch has its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from weftline.errors import Problem, SpecError
from weftline.kernels.column import NIL
from weftline.model.addresses import Addresses
from weftline.model.fabric import Fabric, NodeKind
from weftline.model.inventory import InventoryRow

MAX_NAMED = 50
"""Names that are listed; where an inventory is for another fabric, all of them are wrong."""


def bind(fabric: Fabric, addresses: Addresses, rows: tuple[InventoryRow, ...]) -> Addresses:
    """Put the GUIDs of an inventory in the place of placeholders.

    Raises:
        SpecError: ``spec.inventory-name`` for names that are not in the fabric or are missing,
            ``spec.inventory-guid`` for a switch whose port GUID is not its node GUID.
    """
    ports = {fabric.port_name(int(port)): int(port) for port in fabric.endpoint_port}
    switches = {fabric.node_name[int(node)]: int(node) for node in fabric.switch_node}
    node_id, port_id = addresses.node_id.copy(), addresses.port_id.copy()
    problems: list[Problem] = []
    named: set[str] = set()
    for row in rows:
        named.add(row.name)
        if row.name in ports:
            port = ports[row.name]
            port_id[port] = row.port_id
            if fabric.node_kind[fabric.port_node[port]] == NodeKind.EXTRA:
                node_id[fabric.port_node[port]] = row.node_id
        elif row.name in switches:
            node_id[switches[row.name]] = row.node_id
            if row.port_id != row.node_id:
                message = f"switch {row.name} has another port GUID than node GUID; partitions and tables go by one"
                hint = "leave its port GUID out; ports of a switch have no GUIDs"
                problems.append(Problem("spec.inventory-guid", message, hint, row.where))
        else:
            hint = "names are those of weftline cables: host-0001/nic1, leaf-001"
            message = f"{row.name[:80]!r} is no port of an endpoint and no switch of this fabric"
            problems.append(Problem("spec.inventory-name", message, hint, row.where))
    problems += _list_missing(fabric, ports, switches, named, rows)
    if problems:
        first = problems[0]
        listed = tuple(problems[:MAX_NAMED])
        raise SpecError(first.code, first.message, first.hint, first.where, listed)
    return replace(addresses, node_id=node_id, port_id=port_id)


def _list_missing(
    fabric: Fabric,
    ports: Mapping[str, int],
    switches: Mapping[str, int],
    named: set[str],
    rows: tuple[InventoryRow, ...],
) -> list[Problem]:
    missing = [name for name, port in ports.items() if name not in named and int(fabric.port_peer[port]) != NIL]
    missing += [name for name in switches if name not in named]
    if not missing:
        return []
    shown = ", ".join(missing[:5]) + (f" and {len(missing) - 5:,} more" if len(missing) > 5 else "")
    where = rows[-1].where if rows else None
    message = f"the inventory lacks {shown}"
    return [Problem("spec.inventory-name", message, "add a line for each port with a cable and each switch", where)]
