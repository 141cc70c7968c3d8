"""Fifty fabrics with random faults under a real OpenSM: programs of others agree with our traces and proofs."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.oracle.labs import PROGRAMS, Made, Subnet, compare, make, make_example, start
from weftline.formats import lft
from weftline.labs.ibsim import opensm, running
from weftline.model.proof import ProofRules, Verdict
from weftline.prove import prove
from weftline.route import trace_path

FABRICS = 50
EXAMPLES = ("hall-2", "lab-8", "rail-only", "sovereign-512", "superpod-1su", "two-tenants")
TOO_LARGE = ("jupiter-like", "leonardo-like", "superpod-64su")
"""Their 180 to 645 million pairs are more than ibdmchk can walk."""
LANED = ("ring-of-five", "slim-fly-50")
"""Free of loops by its lanes; ibdmchk is given no service levels here and sees one lane: tests/lab/test_lanes.py."""
RULES = ProofRules(required=("reach", "deadlock"), max_hops=64, all_shifts_up_to=1, sample_shifts=1)
SAMPLED = 3

pytestmark = [
    pytest.mark.lab,
    pytest.mark.skipif(
        not opensm.find_library() or any(shutil.which(name) is None for name in PROGRAMS),
        reason="opensm, ibsim-utils, infiniband-diags or ibutils is not installed",
    ),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where a lab runs that is stopped afterwards; OpenSM writes its tables to files as well."""
    monkeypatch.setattr(opensm, "LOG_FLAGS", "0x43")
    yield tmp_path / "lab"
    running.down(tmp_path / "lab")


@pytest.mark.parametrize("seed", range(FABRICS))
def test_a_fabric_with_faults(seed: int, folder: Path) -> None:
    made = make(seed)
    for subnet in check_fabric(made, folder, seed):
        check_tenants(subnet, seed)


@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example(name: str, root: Path, folder: Path) -> None:
    check_fabric(make_example(root / "examples" / f"{name}.yaml"), folder, 1)


def test_no_example_is_forgotten(root: Path) -> None:
    paths = sorted((root / "examples").glob("*.yaml"))
    names = [path.stem for path in paths if "\ntechnology: infiniband\n" in path.read_text(encoding="utf-8")]
    assert names == sorted((*EXAMPLES, *TOO_LARGE, *LANED))


def check_fabric(made: Made, folder: Path, seed: int) -> list[Subnet]:
    """Run a fabric, and let programs of others walk all of its pairs, some paths hop by hop, and a table."""
    reach, deadlock, _ = prove(made.fabric, made.routes, RULES).proofs
    assert (reach.verdict, deadlock.verdict) == (Verdict.PROVED, Verdict.PROVED)
    _, subnets = start(made, folder)
    walked = 0
    for subnet in subnets:
        differences = compare(subnet)
        assert differences.is_equal, differences.differences[:5]
        pairs, lost, has_loop = subnet.check()
        assert (pairs, lost, has_loop) == (len(subnet.ends) * (len(subnet.ends) - 1), 0, False)
        walked += pairs
        check_table(subnet, seed)
        check_pairs(subnet, seed)
    assert walked == reach.detail["connected_pairs"]
    return subnets


def check_table(subnet: Subnet, seed: int) -> None:
    """Have ibroute print the table of one switch, and hold it against our columns."""
    made = subnet.made
    guid = random.Random(seed).choice(sorted(subnet.state.tables))
    lid = subnet.state.ports[guid, 0].address
    dump = lft.parse(subnet.ask("ibroute", str(lid)).encode(), "ibroute")
    assert isinstance(dump, lft.LftDump)
    told = dict(zip(dump.entry_lid.tolist(), dump.entry_port.tolist(), strict=True))
    node = made.addresses.node_id.tolist().index(guid)
    row = int(made.fabric.switch_row[node])
    for port in subnet.ends:
        column = made.routes.destination_port.tolist().index(port)
        group = int(made.routes.group_ptr[row]) + int(made.routes.group[row, column])
        way = int(made.routes.member_port[made.routes.member_ptr[group]])
        assert told[int(made.addresses.port_address[port])] == made.fabric.port_number[way]


def check_pairs(subnet: Subnet, seed: int) -> None:
    """Have ibtracert walk pairs, and the subnet manager say which of them may speak."""
    made, choice = subnet.made, random.Random(seed)
    fabric = made.fabric
    for _ in range(SAMPLED if len(subnet.ends) > 1 else 0):
        source, target = choice.sample(subnet.ends, 2)
        path = trace_path(fabric, made.routes, source, made.routes.destination_port.tolist().index(target))
        ours = [
            (int(made.addresses.node_id[fabric.node_name.index(hop.node)]), hop.out_port) for hop in path.hops[1:-1]
        ]
        theirs, arrived = subnet.trace(source, target)
        assert (theirs, arrived) == (ours, True)
        held = [subnet.state.keys[subnet.state.endpoints[int(made.addresses.port_id[p])]] for p in (source, target)]
        meet = {key & 0x7FFF for key in held[0]} & {key & 0x7FFF for key in held[1]}
        may_speak = any((key | 0x8000) in held[0] or (key | 0x8000) in held[1] for key in meet)
        assert (subnet.count_records(source, target) > 0) == may_speak


def check_tenants(subnet: Subnet, seed: int) -> None:
    """Endpoints get a path exactly where they are of one tenant; the manager's own host has a path to everybody."""
    made, choice = subnet.made, random.Random(seed + 1)
    ends = [port for port in subnet.ends if int(made.addresses.port_id[port]) != subnet.access.entry]
    for _ in range(SAMPLED if len(ends) > 1 else 0):
        pair = choice.sample(ends, 2)
        red, blue = (int(made.fabric.node_tenant[made.fabric.port_node[port]]) for port in pair)
        assert (subnet.count_records(*pair) > 0) == (red == blue)
