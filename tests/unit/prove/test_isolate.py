"""Isolation: proved for good files, refuted with a witness for every way in which a file can join tenants."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cli.running import run
from tests.designs import Rendered, render_design
from weftline.kernels.column import digest_parts
from weftline.model.artifact import ArtifactSet
from weftline.model.intent import IsolationIntent
from weftline.model.isolation import MANAGEMENT, Groups, IsolatedEnd, IsolationTables, Owners, Sharing
from weftline.model.proof import Proof, Verdict
from weftline.prove.isolate import check_isolation, prove_isolation
from weftline.technologies.infiniband.owners import list_owners
from weftline.vendors.opensm.isolation import observe_isolation


@pytest.fixture(scope="module")
def made() -> Rendered:
    """Two tenants, and hosts of none."""
    return render_design("infiniband", hosts=7, rails=2, unit_size=4, tenants=(("red", "1-3"), ("blue", "4-5")))


def judge(made: Rendered, file: str = "", old: str = "", new: str = "", owners: Owners | None = None) -> Proof:
    """Prove isolation on the files, with one of them changed."""
    changed: list[object] = []
    for artifact in made.artifacts.artifacts:
        if file and artifact.path.endswith(file):
            text = artifact.content.decode()
            assert old in text
            changed.append(replace(artifact, content=text.replace(old, new, 1).encode()))
        else:
            changed.append(artifact)
    artifacts = ArtifactSet(made.artifacts.of, tuple(changed))  # type: ignore[arg-type]
    known = owners or list_owners(made.design, made.fabric)
    return prove_isolation(observe_isolation(artifacts, made.fabric, made.addresses, known), required=True)


def guids(made: Rendered, tenant: str) -> list[str]:
    """List the port ids of a tenant."""
    isolation = made.intent("subnet-1").isolation
    assert isolation is not None
    return list(next(one.full for one in isolation.partitions if one.name == tenant))


def test_rendered_files_keep_tenants_apart(made: Rendered) -> None:
    proof = judge(made)
    assert proof.verdict is Verdict.PROVED
    assert proof.detail["owners"] == ["blue", "no tenant", "red"]
    assert "management key" in proof.statement
    assert check_isolation(proof)
    assert not check_isolation(replace(proof, verdict=Verdict.REFUTED))
    certificate = proof.certificate
    assert certificate is not None
    wrong = {**certificate.columns, "owner": certificate.columns["owner"][::-1].copy()}
    assert not check_isolation(replace(proof, certificate=replace(certificate, columns=wrong)))


PARTITIONS = "partitions.conf"
FAULTS = {
    "a member added": (PARTITIONS, "blue=0x0002, indx0, defmember=full : ", "{blue}{red0}, "),
    "the other's key": (PARTITIONS, "blue=0x0002", "blue=0x0001"),
    "default full": (PARTITIONS, "ALL=limited", "ALL=full"),
    "default of a tenant's port full": (PARTITIONS, "SELF=full", "SELF=full, {red0}=full"),
    "a word for everybody": (PARTITIONS, "red=0x0001, indx0, defmember=full : ", "{red}A, "),
    "a semicolon lost, and the rule unreadable": (PARTITIONS, " ;\n", "\n"),
    "a guid that is none": (PARTITIONS, "red=0x0001, indx0, defmember=full : 0x", "{red}"),
    "carriage returns": (PARTITIONS, " ;\n", " ;\r\n"),
    "no key, and the one that is chosen": (PARTITIONS, "red=0x0001", "blue=0x0002"),
    "enforcement off": ("opensm.conf", "part_enforce both", "part_enforce off"),
    "enforcement of one direction": ("opensm.conf", "part_enforce both", "part_enforce in"),
    "the old word": ("opensm.conf", "part_enforce both", "part_enforce both\nno_partition_enforcement TRUE"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_of_a_file_is_refuted_with_a_witness(made: Rendered, name: str) -> None:
    file, old, new = FAULTS[name]
    words = {
        "red": "red=0x0001, indx0, defmember=full : ",
        "blue": "blue=0x0002, indx0, defmember=full : ",
        "red0": guids(made, "red")[0],
    }
    proof = judge(made, file, old, new.format(**words) if "{" in new else new)
    assert proof.verdict is Verdict.REFUTED, name
    assert proof.witness is not None
    assert proof.witness.detail["a_owner"] != proof.witness.detail["b_owner"]
    assert proof.witness.summary
    assert proof.certificate is None


def test_the_cause_is_named_where_the_file_is_given_up(made: Rendered) -> None:
    proof = judge(made, PARTITIONS, " ;\n", "\n")
    assert proof.witness is not None
    assert "OpenSM gives up opensm/subnet-1/partitions.conf:" in proof.witness.summary


def test_a_file_that_is_not_there(made: Rendered) -> None:
    kept = tuple(item for item in made.artifacts.artifacts if not item.path.endswith(PARTITIONS))
    artifacts = ArtifactSet(made.artifacts.of, kept)
    owners = list_owners(made.design, made.fabric)
    proof = prove_isolation(observe_isolation(artifacts, made.fabric, made.addresses, owners), required=True)
    assert proof.verdict is Verdict.REFUTED
    assert proof.witness is not None
    assert "no partition file" in proof.witness.summary


def test_what_nobody_can_predict_is_unknown(made: Rendered) -> None:
    proof = judge(made, PARTITIONS, " ;\n", " ;\nx=0x77 : mgid=ff12::1 ; y=0x78 : ;\n")
    assert proof.verdict is Verdict.UNKNOWN
    assert "Not decided" in proof.statement


@pytest.fixture(scope="module")
def planes() -> Rendered:
    """Two tenants in two subnets."""
    return render_design(
        "infiniband", hosts=4, rails=2, planes=2, unit_size=2, tenants=(("red", "1-2"), ("blue", "3-4"))
    )


def test_every_subnet_is_judged_for_itself(planes: Rendered) -> None:
    assert judge(planes).verdict is Verdict.PROVED
    for subnet in ("subnet-1", "subnet-2"):
        for name, old, new in (
            ("partitions.conf", "ALL=limited", "ALL=full"),
            ("opensm.conf", "part_enforce both", "part_enforce off"),
            ("partitions.conf", " ;\n", "\n"),
        ):
            proof = judge(planes, f"{subnet}/{name}", old, new)
            assert proof.verdict is Verdict.REFUTED, (subnet, name)
            assert proof.witness is not None
        proof = judge(planes, f"{subnet}/partitions.conf", " ;\n", " ;\nx=0x77 : mgid=ff12::1 ; y=0x78 : ;\n")
        assert proof.verdict is Verdict.UNKNOWN
        assert subnet in proof.statement
        kept = tuple(item for item in planes.artifacts.artifacts if f"{subnet}/partitions.conf" not in item.path)
        owners = list_owners(planes.design, planes.fabric)
        left = ArtifactSet(planes.artifacts.of, kept)
        proof = prove_isolation(observe_isolation(left, planes.fabric, planes.addresses, owners), required=True)
        assert proof.verdict is Verdict.REFUTED
        assert proof.witness is not None
        assert f"{subnet} has no partition file" in proof.witness.summary


def test_one_key_of_two_subnets_is_two_groups(planes: Rendered) -> None:
    def swap(content: bytes) -> bytes:
        return content.replace(b"=0x0001", b"=0x").replace(b"=0x0002", b"=0x0001").replace(b"=0x,", b"=0x0002,")

    changed = tuple(
        replace(item, content=swap(item.content)) if item.path.endswith("subnet-2/partitions.conf") else item
        for item in planes.artifacts.artifacts
    )
    owners = list_owners(planes.design, planes.fabric)
    swapped = ArtifactSet(planes.artifacts.of, changed)
    proof = prove_isolation(observe_isolation(swapped, planes.fabric, planes.addresses, owners), required=True)
    assert changed != planes.artifacts.artifacts
    assert proof.verdict is Verdict.PROVED


def end(name: str, owner: str, full: set[int], limited: set[int] | None = None) -> IsolatedEnd:
    """Make an endpoint whose switch port holds what it holds itself."""
    groups = Groups(frozenset(full), frozenset(limited or set()))
    return IsolatedEnd(name, owner, groups, groups, enforces_in=True, enforces_out=True, facing=f"leaf/{name}")


def prove(*ends: IsolatedEnd, sharings: tuple[Sharing, ...] = ()) -> Proof:
    """Prove isolation of some endpoints."""
    return prove_isolation(IsolationTables(ends, sharings, "0", "tables", "No premise."), required=True)


def test_two_limited_members_do_not_meet() -> None:
    assert prove(end("a", "red", {1}, {7}), end("b", "blue", {2}, {7})).verdict is Verdict.PROVED
    assert prove(end("a", "red", {1, 7}), end("b", "blue", {2}, {7})).verdict is Verdict.REFUTED


def test_a_hub_is_reached_and_joins_nobody() -> None:
    hub = end("s", "storage", {7})
    spokes = (end("a", "red", {1}, {7}), end("b", "blue", {2}, {7}))
    sharing = (Sharing("storage", frozenset({"red", "blue"})),)
    assert prove(hub, *spokes, sharings=sharing).verdict is Verdict.PROVED
    assert prove(hub, *spokes).verdict is Verdict.REFUTED
    assert prove(hub, *spokes, sharings=(Sharing("storage", frozenset({"red"})),)).verdict is Verdict.REFUTED
    wrong = end("a", "red", {1, 7})
    assert prove(hub, wrong, spokes[1], sharings=sharing).verdict is Verdict.REFUTED


def test_management_is_reached_by_all() -> None:
    manager = end("m", MANAGEMENT, {0x7FFF})
    ends = (manager, end("a", "red", {1}, {0x7FFF}), end("b", "", {2}, {0x7FFF}))
    assert prove(*ends, sharings=(Sharing(MANAGEMENT),)).verdict is Verdict.PROVED


@pytest.mark.parametrize("missing", ["own", "wall", "enforces_in", "enforces_out"])
def test_what_is_not_known_is_not_proved(missing: str) -> None:
    whole = end("a", "red", {1})
    other = end("b", "blue", {2})
    assert prove(whole, other).verdict is Verdict.PROVED
    assert prove(replace(whole, **{missing: None}), other).verdict is Verdict.UNKNOWN
    assert prove().verdict is Verdict.UNKNOWN


def test_the_walls_are_judged_apart() -> None:
    leaky = replace(end("a", "red", {1}), wall=Groups(frozenset({1, 2}), frozenset()))
    proof = prove(leaky, end("b", "blue", {2}))
    assert (proof.detail["own_tables"], proof.detail["switch_ports"]) == ("proved", "refuted")
    opened = replace(end("a", "red", {1}), enforces_out=False)
    proof = prove(opened, end("b", "blue", {2}))
    assert (proof.detail["own_tables"], proof.detail["switch_ports"]) == ("proved", "refuted")
    assert proof.witness is not None
    assert "does not enforce" in proof.witness.summary


GROUPS = st.builds(Groups, st.frozensets(st.integers(1, 4), max_size=3), st.frozensets(st.integers(1, 4), max_size=3))
OWNERS = st.sampled_from(["red", "blue", "green", "store", ""])
SHARINGS = st.lists(
    st.builds(Sharing, OWNERS, st.none() | st.frozensets(OWNERS, max_size=3)), max_size=2, unique_by=lambda one: one.hub
).map(tuple)
ENDS = st.builds(
    IsolatedEnd,
    name=st.uuids().map(str),
    owner=OWNERS,
    own=GROUPS,
    wall=GROUPS,
    enforces_in=st.sampled_from([True, True, True, False]),
    enforces_out=st.just(value=True),
    component=st.integers(0, 1),
)


def meet(a: Groups | None, b: Groups | None) -> set[int]:
    """List the groups in which two tables meet: one of them must be a full member."""
    assert a is not None
    assert b is not None
    return set(a.full & (b.full | b.limited) | b.full & a.limited)


def list_meetings(ends: tuple[IsolatedEnd, ...], sharings: tuple[Sharing, ...]) -> set[tuple[str, frozenset[str]]]:
    """Look at every pair of endpoints, and name the wall and the two owners of each that meets and should not."""

    def uses(a: str, b: str) -> bool:
        return any(one.hub == b and (one.users is None or a in one.users) for one in sharings)

    found: set[tuple[str, frozenset[str]]] = set()
    for a, b in itertools.permutations(ends, 2):
        if a.component != b.component or a.owner == b.owner or uses(a.owner, b.owner) or uses(b.owner, a.owner):
            continue
        both = frozenset((a.owner, b.owner))
        if meet(a.own, b.own):
            found.add(("own tables", both))
        if not a.enforces_in or (b.enforces_in and meet(a.wall, b.wall)):
            found.add(("switch ports", both))
    return found


@given(st.lists(ENDS, min_size=1, max_size=7).map(tuple), SHARINGS)
def test_the_verdict_is_that_of_all_pairs(ends: tuple[IsolatedEnd, ...], sharings: tuple[Sharing, ...]) -> None:
    meetings = list_meetings(ends, sharings)
    proof = prove(*ends, sharings=sharings)
    assert (proof.verdict is Verdict.REFUTED) == bool(meetings)
    assert check_isolation(proof) == (not meetings)
    for told in proof.detail["meetings"]:
        owners = frozenset("" if name == "no tenant" else name for name in (told["a_owner"], told["b_owner"]))
        assert (told["wall"], owners) in meetings
        a, b = (next(end for end in ends if end.name == told[side]) for side in "ab")
        if told["group"] is not None:
            tables = (a.own, b.own) if told["wall"] == "own tables" else (a.wall, b.wall)
            assert int(told["group"], 16) in meet(*tables)


@given(st.lists(ENDS.map(lambda end: replace(end, enforces_in=True)), min_size=1, max_size=7).map(tuple), SHARINGS)
def test_meetings_are_counted_by_owners_and_groups(
    ends: tuple[IsolatedEnd, ...], sharings: tuple[Sharing, ...]
) -> None:
    """The count is that of pairs of owners per group and part of the fabric, each once; the first are shown."""
    seen: set[tuple[str, int, int, frozenset[str]]] = set()
    for a, b in itertools.permutations(ends, 2):
        if a.component == b.component and list_meetings((a, b), sharings):
            both = frozenset((a.owner, b.owner))
            seen |= {("own tables", a.component, group, both) for group in meet(a.own, b.own)}
            seen |= {("switch ports", a.component, group, both) for group in meet(a.wall, b.wall)}
    proof = prove(*ends, sharings=sharings)
    assert (proof.bound or 0) == len(seen)
    assert len(proof.detail["meetings"]) == min(len(seen), 20)


def test_every_pair_of_a_thousand_owners_in_one_group_is_counted() -> None:
    ends = tuple(end(f"h{number:04d}", f"t{number:04d}", {7}) for number in range(1000))
    proof = prove(*ends)
    assert proof.bound == 2 * 1000 * 999 // 2
    assert proof.witness is not None
    assert (proof.witness.detail["a"], proof.witness.detail["b"]) == ("h0000", "h0001")
    assert prove(*ends, sharings=tuple(Sharing(f"t{number:04d}") for number in range(999))).verdict is Verdict.PROVED


def test_parts_of_a_fabric_that_no_cable_joins_meet_nowhere() -> None:
    """As the rails of a rail-only fabric: no way leads there, so that one group and a port that is open do no harm."""
    red, blue = end("a", "red", {1}), replace(end("b", "blue", {1}), component=1)
    for ends in ((red, blue), (replace(red, enforces_in=False), blue)):
        proof = prove(*ends)
        assert proof.verdict is Verdict.PROVED
        assert check_isolation(proof)
        assert prove(*ends, replace(blue, component=0)).verdict is Verdict.REFUTED


def test_a_certificate_that_was_changed_does_not_hold() -> None:
    """Not by its digest alone: each fault comes with the digest that goes with it."""
    proof = prove(end("a", "red", {1}), end("b", "blue", {2}, {3}), end("c", "blue", {2, 3}))
    certificate = proof.certificate
    assert certificate is not None
    assert check_isolation(proof)
    columns = certificate.columns
    faults: tuple[dict[str, Any], ...] = (
        {"may_meet": np.array([[1, 0], [1, 1]], dtype=np.uint8)},
        {"may_meet": np.array([[1, 0, 0], [0, 1, 0]], dtype=np.uint8)},
        {"owner": np.array([1, 0, 1], dtype=np.int32)},
        {"own_ptr": columns["own_ptr"][:-1]},
        {"own_ptr": np.array(columns["own_ptr"], dtype=np.int64) + 1},
        {"wall_ptr": columns["wall_ptr"][[0, 2, 1, 3]]},
        {"component": np.zeros(2, dtype=np.int32)},
        {"owner": np.array([0, 1, 2], dtype=np.int32)},
        {"owner": np.array([-1, 0, 0], dtype=np.int32)},
        {"wall_entry": np.where(columns["wall_entry"] == (1 << 31 | 1), 1 << 31 | 2, columns["wall_entry"])},
        {"own_entry": np.where(columns["own_entry"] == (1 << 31 | 1), 3, columns["own_entry"])},
    )
    for fault in faults:
        wrong = {**columns, **fault}
        forged = replace(certificate, columns=wrong, digest=digest_parts(("isolate", *wrong, *wrong.values())))
        assert not check_isolation(replace(proof, certificate=forged)), fault
        assert not check_isolation(replace(proof, certificate=replace(certificate, columns=wrong)))
    assert not check_isolation(replace(proof, bound=1))
    assert not check_isolation(replace(proof, claim="reach"))
    assert not check_isolation(replace(proof, certificate=None))


def test_a_leak_stops_the_render(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files say what was meant, and what was meant joins two tenants."""
    from weftline.technologies.infiniband import intents

    good = intents.isolate

    def leak(*arguments: Any) -> IsolationIntent:
        isolation = good(*arguments)
        red, blue, *rest = isolation.partitions
        return replace(isolation, partitions=(red, replace(blue, full=(*blue.full, red.full[0])), *rest))

    path = tmp_path / "fabric.yaml"
    path.write_text(SMALL, encoding="utf-8")
    assert run("render", path).status == 0
    monkeypatch.setattr(intents, "isolate", leak)
    (tmp_path / "fabric.yaml").write_text(SMALL.replace("two-tenants", "other"), encoding="utf-8")
    ran = run("render", path, "--json")
    assert (ran.status, ran.document["written"]) == (2, False)
    proof = next(one for one in ran.document["proofs"]["proofs"] if one["claim"] == "isolate")
    assert (proof["verdict"], proof["required"]) == ("refuted", True)
    assert "meet in group 0x0002" in proof["witness"]["summary"]
    assert run("prove", path).status == 2


SMALL = """\
fabric:
  name: two-tenants
technology: infiniband
hosts:
  count: 8
  gpus: 2
  rails: 2
  rate_gbps: 400
  unit_size: 4
topology:
  kind: rail-optimised
tenants:
  - name: red
    hosts: 1-3
  - name: blue
    hosts: 4-8
claims:
  required: [reach, deadlock]
"""


def test_ethernet_files_keep_tenants_apart_by_what_switches_do(tmp_path: Path) -> None:
    path = tmp_path / "fabric.yaml"
    path.write_text(SMALL.replace("infiniband", "roce"), encoding="utf-8")
    ran = run("prove", path, "--json")
    assert ran.status == 0
    (proof,) = [one for one in ran.document["proofs"] if one["claim"] == "isolate"]
    assert (proof["verdict"], proof["required"]) == ("proved", True)
    assert "files of" in proof["statement"]
