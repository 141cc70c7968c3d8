from __future__ import annotations

from pathlib import Path

import pytest

from tests.properties.broken import BASE
from weftline.declare import Declaration, load_catalog, parse_spec, resolve_spec
from weftline.declare.choose import largest_unit, ports_needed
from weftline.errors import Problem
from weftline.model.design import ResolvedSpec

CATALOG = load_catalog()


def resolve(text: str) -> ResolvedSpec | tuple[Problem, ...]:
    found = parse_spec(text.encode(), Path("f.yaml"))
    assert isinstance(found, Declaration), found
    return resolve_spec(found, CATALOG)


def design(text: str) -> ResolvedSpec:
    found = resolve(text)
    assert isinstance(found, ResolvedSpec), found
    return found


def declare(technology: str = "infiniband", hosts: str = "", topology: str = "", rest: str = "") -> str:
    return (
        f"fabric: {{name: t}}\ntechnology: {technology}\nhosts: {{count: 64{', ' * bool(hosts)}{hosts}}}\n"
        f"topology: {{{topology}}}\n{rest}"
    )


def codes(text: str) -> list[str]:
    found = resolve(text)
    assert isinstance(found, tuple), found
    return [problem.code for problem in found]


@pytest.mark.parametrize(
    ("technology", "hosts", "topology", "leaf", "ports", "rate"),
    [
        ("infiniband", "", "", "QM9700", 64, 400),
        ("roce", "", "", "SN5600", 128, 400),
        ("infiniband", "rate_gbps: 800", "", "Q3400-RA", 144, 800),
        ("infiniband", "rate_gbps: 200", "", "QM8700", 40, 200),
        ("infiniband", "rate_gbps: 200, unit_size: 32", "", "QM9700", 128, 200),
        ("roce", "rate_gbps: 200", "", "SN5400", 128, 200),
        ("roce", "", "planes: 2", "SN5600", 128, 400),
        ("roce", "", "leaf: SN5400", "SN5400", 64, 400),
        ("roce", "", "leaf: sn5400", "SN5400", 64, 400),
        ("roce", "", "leaf: 7060X6-64PE", "7060X6-64PE", 128, 400),
    ],
)
def test_auto_follows_technology_rate_and_size(
    technology: str, hosts: str, topology: str, leaf: str, ports: int, rate: float
) -> None:
    found = design(declare(technology, hosts, topology))
    assert (found.leaf.name, found.leaf.ports, found.leaf.rate_gbps, found.rate_gbps) == (leaf, ports, rate, rate)
    assert found.spine == found.leaf
    assert found.core == found.leaf


def test_host_figures_come_from_the_part_and_can_be_replaced() -> None:
    found = design(declare(hosts="part: DGX-H100"))
    assert (found.host_name, found.gpus, found.rails) == ("DGX-H100", 8, 8)
    found = design(declare(hosts="part: DGX-H100, gpus: 4, rails: 2"))
    assert (found.gpus, found.rails) == (4, 2)


def test_two_planes_take_a_nic_with_two_ports_and_a_twin_cable() -> None:
    found = design(declare("roce", "part: DGX-B300, rate_gbps: 400, unit_size: 64", "planes: 2"))
    assert (found.host_leaf.links, found.leaf_spine.links) == (2, 2)
    assert found.host_leaf.part is not None
    assert found.host_leaf.part.links == 2
    assert found.leaf.per_cage == 2


def test_one_plane_takes_one_link_per_cable() -> None:
    found = design(declare())
    assert (found.leaf.per_cage, found.host_leaf.links, found.leaf_spine.links) == (2, 1, 1)


@pytest.mark.parametrize(
    ("kind", "oversubscription", "unit"),
    [
        ("rail-optimised", 1, 32),
        ("rail-optimised", 3, 48),
        ("rail-only", 1, 32),
        ("fat-tree", 1, 4),
        ("fat-tree", 3, 6),
    ],
)
def test_unit_size_auto_fills_a_leaf(kind: str, oversubscription: float, unit: int) -> None:
    assert design(declare(topology=f"kind: {kind}, oversubscription: {oversubscription}")).unit_size == unit


def test_largest_unit_is_the_largest() -> None:
    for ports in range(1, 70):
        for per_host in (1, 2, 8):
            for share in (1.0, 1.5, 3.0, 7.0):
                unit = largest_unit(ports, per_host, share)
                assert unit == 0 or ports_needed(unit * per_host, share) <= ports
                assert ports_needed((unit + 1) * per_host, share) > ports


def test_cables_follow_the_length() -> None:
    rest = "cables:\n  host_leaf: {length_m: 1}\n  leaf_spine: {length_m: 80}\n  spine_core: {length_m: 900}\n"
    found = design(declare(rest=rest))
    assert [run.name for run in (found.host_leaf, found.leaf_spine, found.spine_core)] == [
        "MMF-400G-SR4", "SMF-400G-DR4", "SMF-400G-FR4",
    ]  # fmt: skip


def test_default_lengths_are_those_of_the_catalogue() -> None:
    found = design(declare())
    lengths = CATALOG.defaults.lengths_m
    assert found.host_leaf.length_m == lengths["host_leaf"]
    assert found.spine_core.length_m == lengths["spine_core"]


def test_a_cable_that_nobody_knows_is_kept_by_name() -> None:
    found = design(declare(rest="cables: {host_leaf: {part: our-own-42, length_m: 7}}\n"))
    assert (found.host_leaf.name, found.host_leaf.part, found.host_leaf.length_m) == ("our-own-42", None, 7)


def test_hosts_are_listed_from_zero() -> None:
    found = design(BASE)
    assert found.tenant_hosts == (tuple(range(32)), tuple(range(32, 64)))
    assert found.job_hosts == (tuple(range(64)),)


def test_jobs_on_the_same_hosts_share_one_list() -> None:
    job = BASE.split("jobs:\n", maxsplit=1)[1]
    found = design(BASE + job.replace("train", "other"))
    assert found.job_hosts[0] is found.job_hosts[1]


def test_places_come_along() -> None:
    found = design(BASE)
    assert found.places["hosts.count"].line == 5
    assert found.places["jobs[0].name"].column == 11
    assert found.places[""].file == "f.yaml"


def test_digest_depends_on_meaning_only() -> None:
    plain = design(BASE)
    assert design("# a comment\n" + BASE.replace("\n", "\n\n")).digest == plain.digest
    assert design(BASE.replace("unit_size: 32", "unit_size: 16")).digest != plain.digest
    assert design(BASE + "parts: {switches: {QM9700: {power_w: 747}}}\n").digest != plain.digest
    assert len(plain.digest) == 64


def test_an_unused_part_is_still_part_of_the_declaration() -> None:
    assert design(BASE + "parts: {switches: {SN5600: {power_w: 747}}}\n").digest != design(BASE).digest


def test_a_part_of_ones_own_is_used() -> None:
    rest = "parts: {switches: {tiny: {technologies: [infiniband], ports: [{rate_gbps: 400, count: 8}]}}}\n"
    found = design(declare(hosts="rails: 1", topology="leaf: tiny, kind: fat-tree", rest=rest))
    assert (found.leaf.ports, found.unit_size, found.core.name) == (8, 4, "tiny")


def test_a_fabric_of_ones_own_parts_only() -> None:
    rest = (
        "parts:\n"
        "  nics: {n: {technologies: [roce], ports: [{rate_gbps: 100, count: 1}]}}\n"
        "  hosts: {h: {technologies: [roce], gpus: 2, rails: 2, nic: n}}\n"
        "  switches: {s: {technologies: [roce], ports: [{rate_gbps: 100, count: 16}]}}\n"
    )
    found = design(declare("roce", "part: h", rest=rest))
    assert (found.leaf.name, found.unit_size, found.host_leaf.name) == ("s", 8, "unnamed")


def test_the_switch_is_known_as_it_runs() -> None:
    found = design(declare("roce"))
    assert found.leaf.part.sonic_hwsku == "Mellanox-SN5600-O128"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (declare(topology="leaf: SN5600"), ["capability.part-technology"]),
        (declare("roce", topology="leaf: QM9700"), ["capability.part-technology"]),
        (declare(topology="leaf: QM8700"), ["capability.switch-rate"]),
        (declare(topology="spine: QM8700, core: SN4700"), ["capability.switch-rate", "spec.unknown-part"]),
        (declare(topology="planes: 2"), ["capability.no-part"]),
        (declare(hosts="part: DGX-H100", topology="planes: 2"), ["capability.nic-ports"]),
        (declare(hosts="nic: ConnectX-6"), []),
        (declare(hosts="nic: ConnectX-6, rate_gbps: 400"), ["capability.nic-ports"]),
        (declare("roce", "rate_gbps: 800"), ["capability.no-part"]),
        (declare("roce", rest="routing: {lmc: 1}\n"), ["capability.lmc"]),
        (declare(rest="lossless: {mtu: 1500}\n"), ["capability.link-mtu"]),
        (declare(hosts="part: nothing-like-it", topology="leaf: SN5600"),
         ["spec.unknown-part", "capability.part-technology"]),
    ],
)  # fmt: skip
def test_refuses_what_cannot_be(text: str, expected: list[str]) -> None:
    found = resolve(text)
    assert ([problem.code for problem in found] if isinstance(found, tuple) else []) == expected


def test_two_ports_on_one_plane_use_one() -> None:
    found = design(declare(hosts="nic: ConnectX-6"))
    assert (found.rate_gbps, found.leaf.name, found.host_leaf.links) == (200, "QM8700", 1)


def test_degrees_are_checked_with_the_gpus_of_the_part() -> None:
    job = "{name: j, parameters: 1e9, data_parallel: 3, global_batch: 1, sequence_length: 1,"
    job += " utilisation: 1, gpu_hour_price: 0}"
    assert codes(declare(rest=f"jobs:\n  - {job}\n")) == ["spec.parallel-degrees"]
