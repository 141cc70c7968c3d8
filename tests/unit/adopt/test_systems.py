"""Systems of a topology file expanded into switches and adapters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.formats.test_ibnl import DUO
from weftline.adopt import Systems, build_fabric, collect_systems, expand_topology, read_discovery
from weftline.errors import Problem
from weftline.formats import ibdm_topo, ibnl
from weftline.model.adoption import Adoption
from weftline.model.discovery import Discovery

CARD = "TOPSYSTEM Card\n\nNODE CA 2 CHIP5 U1\n  1 -> P1\n  2 -> P2\n"
KNOWN = collect_systems((ibnl.parse(DUO.encode(), "duo.ibnl"), ibnl.parse(CARD.encode(), "card.ibnl")), "nets")
PLAN = """\
Duo D
  L1/P2 -5G-> Card h-1 P1
  L2/P2 -> Card h-2 P1
"""


def expand(text: str, systems: Systems = KNOWN) -> Discovery | tuple[Problem, ...]:
    topology = ibdm_topo.parse(text.encode(), "plan.topo")
    assert isinstance(topology, ibdm_topo.Topology), topology
    return expand_topology(topology, systems)


def nodes(text: str, systems: Systems = KNOWN) -> Discovery:
    found = expand(text, systems)
    assert isinstance(found, Discovery), found
    return found


def test_chips_are_joined_inside_and_outside() -> None:
    found = nodes(PLAN)
    assert not found.problems
    assert [(node.kind, node.key, node.port_count) for node in found.nodes] == [
        ("switch", "D/card1/U1", 8), ("switch", "D/card1/U2", 8), ("switch", "D/card2/U1", 8),
        ("switch", "D/card2/U2", 8), ("ca", "h-1", 2), ("ca", "h-2", 2),
    ]  # fmt: skip
    first = {port.number: (port.peer, port.peer_number, port.width, port.speed) for port in found.nodes[0].ports}
    assert first == {
        1: ("D/card2/U1", 1, 0, ""), 2: ("h-1", 1, 4, "DDR"), 7: ("D/card1/U2", 3, 0, "QDR"),
    }  # fmt: skip
    adopted = build_fabric(found)
    assert isinstance(adopted, Adoption)
    assert not any(problem.is_error for problem in adopted.problems)


def test_a_removed_board_takes_its_wires_with_it() -> None:
    found = nodes(PLAN.replace("Duo D", "Duo D CFG: card2=R").replace("  L2/P2 -> Card h-2 P1\n", ""))
    assert [node.key for node in found.nodes] == ["D/card1/U1", "D/card1/U2", "h-1"]
    assert [port.number for port in found.nodes[0].ports] == [2, 7]


@pytest.mark.parametrize(
    ("old", "new", "code", "line"),
    [
        ("L2/P2", "L3/P2", "artifact.unknown-plug", 3),
        ("Duo D", "Duo D CFG: card2=R", "artifact.unknown-plug", 3),
        ("Duo D", "Duo D CFG: card2=8x", "artifact.unknown-board", 1),
        ("Duo D", "Duo D CFG: card9=R", "artifact.unknown-board", 1),
        ("Duo D", "Dou D", "artifact.unknown-system", 1),
        ("Card h-2", "Cord h-2", "artifact.inferred-system", 3),
    ],
)
def test_what_does_not_fit_names_its_line(old: str, new: str, code: str, line: int) -> None:
    got = expand(PLAN.replace(old, new))
    problems = got.problems if isinstance(got, Discovery) else got
    found = [(problem.code, problem.where and problem.where.line) for problem in problems]
    assert [item for item in found if item[0] != "artifact.dark-system"] == [(code, line)]


def test_an_unknown_type_says_where_descriptions_come_from() -> None:
    (problem,) = expand(PLAN, collect_systems((ibnl.parse(CARD.encode(), "card.ibnl"),), ""))  # type: ignore[misc]
    assert isinstance(problem, Problem)
    assert "libibdm1" in problem.hint
    assert "--ibnl" in problem.hint


def test_types_without_a_description_are_taken_by_their_plugs() -> None:
    text = "Box a\n P1 -> Nic h P1\n P4 -> Box b P4\n\nBox b\n P1 -> Nic i P2\n"
    found = nodes(text, Systems())
    assert [(node.kind, node.key, node.port_count) for node in found.nodes] == [
        ("switch", "a", 4), ("ca", "h", 2), ("switch", "b", 4), ("ca", "i", 2),
    ]  # fmt: skip
    assert {problem.code for problem in found.problems} == {"artifact.inferred-system"}
    assert not any(problem.is_error for problem in found.problems)
    two = expand("Nic a\n P1 -> Nic b P1\n", Systems())
    assert isinstance(two, tuple)
    assert two[0].code == "artifact.unknown-system"


def test_a_broken_description_is_said_where_types_are_unknown() -> None:
    broken = collect_systems((ibnl.parse(b"x y z\n", "bad.ibnl"),), "nets")
    found = expand(PLAN, broken)
    assert isinstance(found, tuple)
    assert {"artifact.unknown-system", "artifact.netlist"} <= {problem.code for problem in found}


def test_a_dark_adapter_is_left_out() -> None:
    found = nodes(PLAN + "\nCard spare\n")
    assert [problem.code for problem in found.problems] == ["artifact.dark-system"]
    assert "spare" not in {node.key for node in found.nodes}


@pytest.mark.parametrize(
    "text",
    [
        "SYSTEM A\nSUBSYSTEM A x\n P1 -> P1\nTOPSYSTEM Endless\nSUBSYSTEM A a\n P1 -> P1\n",
        "SYSTEM A\nSUBSYSTEM A x\n P1 -> P1\nSUBSYSTEM A y\n P1 -> P2\nTOPSYSTEM Endless\nSUBSYSTEM A a\n P1 -> P1\n",
        "TOPSYSTEM Endless\nSUBSYSTEM None a\n P1 -> P1\n",
        "TOPSYSTEM Endless\nNODE SW 4 X9 U1\n 1 -> U2 1\n 2 -> U2 1\nNODE SW 4 X9 U2\n 1 -> U1 1\n",
    ],
)
def test_systems_that_cannot_be_are_refused(text: str) -> None:
    known = collect_systems((ibnl.parse(text.encode(), "bad.ibnl"),), "")
    found = expand("Endless e\n P1 -> Card h P1\n", known)
    assert isinstance(found, tuple)
    assert "artifact.unknown-board" in {problem.code for problem in found}


def test_two_plugs_of_one_port() -> None:
    text = "TOPSYSTEM Two\nNODE SW 4 X9 U1\n 1 -> P1\n 1 -> P1-12x\n"
    known = collect_systems((ibnl.parse(text.encode(), "two.ibnl"), ibnl.parse(CARD.encode(), "c")), "")
    found = nodes("Two t\n P1 -> Card h P1\n P1-12x -> Card i P1\n", known)
    assert [problem.code for problem in found.problems if problem.is_error] == ["artifact.asymmetric-cable"]


def test_read_discovery_tells_the_forms_apart() -> None:
    found = read_discovery(PLAN.encode(), "plan.topo", KNOWN)
    assert isinstance(found, Discovery)
    assert found.form == "ibdm-topo"
    assert isinstance(read_discovery(PLAN.encode(), "plan.topo"), tuple)


LINES = (
    "Duo D", "Duo E CFG: card2=R", "Card h", " L1/P2 -> Card h P1", " L2/P2 -> Duo E L1/P2", " P1 -> Duo D L1/P2",
    "", "Box x", " P3 -> Box y P3", " Q -> Box x P1",
)  # fmt: skip


@given(st.lists(st.sampled_from(LINES), max_size=20))
def test_any_order_of_lines_gives_a_fabric_or_problems(lines: list[str]) -> None:
    topology = ibdm_topo.parse("\n".join(lines).encode(), "x")
    if isinstance(topology, ibdm_topo.Topology):
        found = expand_topology(topology, KNOWN)
        if isinstance(found, Discovery):
            ports = {
                (node.key, port.number): (port.peer, port.peer_number) for node in found.nodes for port in node.ports
            }
            assert all(ports[far] == near for near, far in ports.items())
            build_fabric(found)
