"""Programmed tables become routes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.fabrics import make_fabric
from tests.unit.adopt.dumps import number
from tests.unit.adopt.tabled import write_fdbs
from weftline.adopt import read_tables
from weftline.adopt.targets import list_targets
from weftline.errors import Problem
from weftline.kernels.column import NIL
from weftline.kernels.tables import DELIVERED, walk_pairs
from weftline.model.addresses import Addresses
from weftline.model.adoption import Tables
from weftline.model.fabric import Fabric, NodeKind
from weftline.model.proof import ProofRules, Verdict
from weftline.model.routes import Routes, local_delivery, no_route
from weftline.prove import prove
from weftline.route import compute_routes

TREE = make_fabric(hosts=16)
ADDRESSES = number(TREE)


def lids(fabric: Fabric, addresses: Addresses) -> list[tuple[int, int]]:
    """List (LID, node) of every endpoint and switch."""
    ends = [(int(addresses.port_address[at]), int(fabric.port_node[at])) for at in fabric.endpoint_port]
    return ends + [(int(addresses.node_address[node]), int(node)) for node in fabric.switch_node]


def write_tables(fabric: Fabric, addresses: Addresses) -> str:
    """Write shortest-path tables, the first port of the nearest neighbour, in the form of the tools."""
    out: list[str] = []
    for switch in fabric.switch_node.tolist():
        out.append(f"Unicast lids [0x0-0xff] of switch Lid 1 guid 0x{int(addresses.node_id[switch]):016x} (x):")
        for lid, node in sorted(lids(fabric, addresses)):
            out.append(f"0x{lid:04x} {next_port(fabric, switch, node):03d} : (x)")
        out.append(f"{len(lids(fabric, addresses))} valid lids dumped")
    return "\n".join(out) + "\n"


def next_port(fabric: Fabric, switch: int, node: int) -> int:
    """Find the first port on a shortest way, by breadth first from the target; 0 at the target."""
    distance = {node: 0}
    queue = [node]
    while queue:
        at = queue.pop(0)
        for port in range(fabric.port_ptr[at], fabric.port_ptr[at + 1]):
            far = int(fabric.port_node[fabric.port_peer[port]]) if fabric.port_peer[port] >= 0 else at
            if far not in distance and (fabric.node_kind[at] == NodeKind.SWITCH or at == node):
                distance[far] = distance[at] + 1
                queue.append(far)
    if switch == node:
        return 0
    for port in range(fabric.port_ptr[switch], fabric.port_ptr[switch + 1]):
        peer = int(fabric.port_peer[port])
        if peer >= 0 and distance[int(fabric.port_node[peer])] < distance[switch]:
            return int(fabric.port_number[port])
    return 255


def read(text: str, fabric: Fabric = TREE, addresses: Addresses = ADDRESSES) -> Tables:
    found = read_tables(text.encode(), "lft.txt", fabric, addresses)
    assert isinstance(found, Tables), found
    return found


def statuses(fabric: Fabric, routes: Routes) -> list[int]:
    """Walk every pair of endpoints."""
    ends = fabric.endpoint_port
    count = len(ends)
    source = np.repeat(ends, count).astype(np.int32)
    goal = np.tile(np.arange(count, dtype=np.int32), count)
    apart = source != ends[goal]
    _, _, status = walk_pairs(
        source[apart], goal[apart], routes.destination_node, routes.destination_port, fabric.port_node,
        fabric.port_peer, fabric.switch_row, routes.group, routes.group_ptr, routes.member_ptr, routes.member_port,
        no_route(routes.group), local_delivery(routes.group), 0, 8,
    )  # fmt: skip
    return sorted(set(status.tolist()))


def told(problems: tuple[Problem, ...]) -> list[tuple[str, str, str]]:
    return [(item.code, str(item.where), item.severity) for item in problems]


def test_every_pair_is_delivered() -> None:
    tables = read(write_tables(TREE, ADDRESSES))
    routes = tables.routes
    assert not any(problem.is_error for problem in tables.problems)
    assert not tables.problems
    assert routes.fabric_digest == TREE.digest
    assert np.array_equal(routes.destination_port[:16], TREE.endpoint_port)
    assert np.array_equal(routes.destination_node[16:], TREE.switch_node)
    assert routes.entries == 6 * 22
    assert statuses(TREE, routes) == [DELIVERED]
    assert np.count_nonzero(routes.group == local_delivery(routes.group)) == 6


def test_a_group_is_a_port() -> None:
    routes = read(write_tables(TREE, ADDRESSES)).routes
    first = int(TREE.switch_node[0])
    assert routes.group[0, 0] == 0
    assert routes.member_port[routes.group_ptr[0]] == TREE.port_ptr[first]
    assert routes.group_ptr.tolist() == [0, 8, 16, 24, 32, 40, 48]


@pytest.mark.parametrize(("port", "hint"), [("009", "1 to 8"), ("200", "1 to 8"), ("000", "the switch itself")])
def test_a_port_that_cannot_be(port: str, hint: str) -> None:
    lines = write_tables(TREE, ADDRESSES).splitlines()
    at = next(at for at, line in enumerate(lines) if line.startswith(f"0x{int(ADDRESSES.port_address[15]):04x}"))
    lines[at] = f"{lines[at][:7]}{port}{lines[at][10:]}"
    tables = read("\n".join(lines))
    assert told(tables.problems) == [("artifact.table-port", f"lft.txt:{at + 1}:8", "error")]
    assert hint in tables.problems[0].hint
    assert any(problem.is_error for problem in tables.problems)
    assert statuses(TREE, tables.routes) != [DELIVERED]


def test_entries_that_drop() -> None:
    text = write_tables(TREE, ADDRESSES)
    first = text.splitlines()[1][:10]
    tables = read(text.replace(first, f"{first[:7]}255"))
    assert not tables.problems
    assert tables.routes.entries == 6 * 22 - 1


def test_a_switch_without_a_table_and_one_too_many() -> None:
    text = write_tables(TREE, ADDRESSES)
    guid = f"{int(ADDRESSES.node_id[TREE.switch_node[0]]):016x}"
    tables = read(text.replace(guid, "0002c90300ffffff"))
    assert told(tables.problems) == [
        ("artifact.table-unknown-switch", "lft.txt:1:1", "warning"),
        ("artifact.table-missing", "lft.txt", "error"),
    ]
    twice = read(text + text)
    assert {item.code for item in twice.problems} == {"artifact.table-repeated"}
    assert twice.routes.digest == read(text).routes.digest


def test_tables_of_another_subnet_are_refused() -> None:
    text = write_tables(TREE, ADDRESSES).replace("guid 0x0002c9", "guid 0x0003c9")
    found = read_tables(text.encode(), "lft.txt", TREE, ADDRESSES)
    assert isinstance(found, tuple)
    assert found[-1].code == "artifact.table-unknown-switch"
    assert isinstance(read_tables(b"", "lft.txt", TREE, ADDRESSES), tuple)


def test_unknown_lids_are_noted_and_alternative_ones_are_not() -> None:
    text = write_tables(TREE, ADDRESSES)
    extra = text.replace("(x):\n", "(x):\n0x0fff 001\n")
    assert told(read(extra).problems) == [("artifact.table-unknown-lid", "lft.txt:1:1", "note")]
    spread = replace(
        ADDRESSES,
        port_address=np.where(ADDRESSES.port_address > 0, ADDRESSES.port_address * 4, -1),
        multipath_bits=2,
    )
    text = write_tables(TREE, spread)
    first = int(spread.port_address[0])
    more = text.replace("(x):\n", "(x):\n" + "".join(f"0x{first + step:04x} 001\n" for step in (1, 2, 3)))
    tables = read(more, TREE, spread)
    assert not tables.problems
    assert statuses(TREE, tables.routes) == [DELIVERED]


def test_every_lid_of_a_port_is_a_path_of_its_own() -> None:
    spread = replace(
        ADDRESSES,
        port_address=np.where(ADDRESSES.port_address > 0, ADDRESSES.port_address * 2, -1),
        multipath_bits=1,
    )
    routes = compute_routes(TREE, "fat-tree", to_switches=True, paths=2)
    text = write_fdbs(TREE, spread, routes)
    tables = read(text, TREE, spread)
    assert not tables.problems
    assert tables.routes.paths == 2
    rules = ProofRules(required=("reach", "deadlock", "balance"))
    report = prove(TREE, tables.routes, rules)
    assert report.is_accepted
    assert report.proofs[0].detail["connected_pairs"] == 2 * 16 * 15
    # The second LID of the last host loops between its leaf and a spine; its base LID is as good as before.
    home = int(TREE.port_peer[TREE.endpoint_port[15]])
    uplink = next(
        port
        for port in range(TREE.port_ptr[TREE.port_node[home]], TREE.port_ptr[TREE.port_node[home] + 1])
        if TREE.node_kind[TREE.port_node[TREE.port_peer[port]]] == NodeKind.SWITCH
    )
    lid = int(spread.port_address[TREE.endpoint_port[15]]) + 1
    wanted = f"0x{lid:04X} : {int(TREE.port_number[home]):03d}"
    part = text[text.index(f"0x{int(spread.node_id[TREE.port_node[home]]):016x}") :]
    assert wanted in part
    broken = text.replace(part, part.replace(wanted, f"0x{lid:04X} : {int(TREE.port_number[uplink]):03d}", 1))
    refuted = prove(TREE, read(broken, TREE, spread).routes, rules).proofs[0]
    assert refuted.verdict is Verdict.REFUTED
    assert refuted.witness is not None
    assert refuted.witness.kind == "loop"
    assert refuted.witness.detail["destination"] == f"{TREE.port_name(int(TREE.endpoint_port[15]))}+1"


def test_a_further_lid_without_entries_is_not_reached() -> None:
    spread = replace(
        ADDRESSES,
        port_address=np.where(ADDRESSES.port_address > 0, ADDRESSES.port_address * 2, -1),
        multipath_bits=1,
    )
    routes = read(write_tables(TREE, spread), TREE, spread).routes
    assert prove(TREE, routes, ProofRules(required=("reach",))).proofs[0].verdict is Verdict.REFUTED


def test_endpoints_without_an_address_have_no_route() -> None:
    lost = ADDRESSES.port_address.copy()
    lost[TREE.endpoint_port[0]] = 0
    tables = read(write_tables(TREE, ADDRESSES), TREE, replace(ADDRESSES, port_address=lost))
    assert set(tables.routes.group[:, 0].tolist()) == {no_route(tables.routes.group)}


def test_wide_switches_need_wider_groups() -> None:
    wide = make_fabric(hosts=16, ports=300, unit_size=8)
    addresses = number(wide)
    tables = read(write_tables(wide, addresses), wide, addresses)
    assert tables.routes.group.dtype == np.uint16
    assert statuses(wide, tables.routes) == [DELIVERED]


@pytest.mark.parametrize("is_first", [True, False])
def test_an_address_that_stands_twice_in_one_table_is_a_problem(is_first: bool) -> None:
    lines = write_tables(TREE, ADDRESSES).splitlines()
    lid, port = lines[1].split()[:2]
    lines.insert(1 if is_first else 2, f"{lid} {int(port) + 1:03d} : (x)")
    found = read_tables("\n".join(lines).encode(), "lft.txt", TREE, ADDRESSES)
    assert isinstance(found, Tables)
    assert [problem.code for problem in found.problems if problem.is_error] == ["artifact.table-repeated"]
    lines[1 if is_first else 2] = lines[2 if is_first else 1]
    again = read_tables("\n".join(lines).encode(), "lft.txt", TREE, ADDRESSES)
    assert isinstance(again, Tables)
    assert again.problems == ()


@pytest.mark.parametrize("none", [0, -1, 0xFFFF])
def test_a_port_without_a_lid_is_where_no_lid_leads(none: int) -> None:
    """Nor does the LID of another lead there: a table that has an entry for LID 0 proves nothing about it."""
    ends, switches = TREE.endpoint_port, TREE.switch_node
    lid = ADDRESSES.port_address.copy()
    lid[ends[3]] = none
    own = ADDRESSES.node_address.copy()
    own[switches[1]] = none
    targets = list_targets(TREE, replace(ADDRESSES, port_address=lid, node_address=own))
    assert targets.column[0] == targets.column[0xFFFF] == NIL
    assert not {3, len(ends) + 1} & set(targets.column.tolist())
    assert all(targets.column[lid[port]] == at for at, port in enumerate(ends.tolist()) if at != 3)
    assert targets.path is None


def test_the_first_of_two_with_one_lid_has_it_and_further_lids_are_ways_of_their_own() -> None:
    ends = TREE.endpoint_port
    lid = ADDRESSES.port_address.copy()
    lid[ends] = 1 + 2 * np.arange(len(ends))
    lid[ends[5]] = lid[ends[4]]
    own = np.where(ADDRESSES.node_address > 0, 500 + ADDRESSES.node_address, ADDRESSES.node_address)
    targets = list_targets(TREE, replace(ADDRESSES, port_address=lid, node_address=own, multipath_bits=1))
    first = len(ends) + len(TREE.switch_node)
    assert targets.count == first + len(ends)
    assert targets.path is not None
    for at, port in enumerate(ends.tolist()):
        has = 4 if at == 5 else at
        assert targets.column[lid[port]] == has
        assert targets.column[lid[port] + 1] == first + has
        assert (targets.port[first + at], targets.path[first + at], targets.path[at]) == (port, 1, 0)
