"""Every problem at once, also those that a later stage finds; engines that a technology cannot hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from weftline.app.build import build
from weftline.app.check import check
from weftline.app.pipeline import run_to_proofs, run_to_routes
from weftline.errors import WeftlineError

MANY = """
fabric: {name: many}
technology: infiniband
site: {management: [banana]}
hosts: {count: 64, part: NOPE, rate_gbps: 400, rails: 8, gpus: 8, unit_size: 33}
topology: {kind: rail-optimised, leaf: SN5600, plans: 2}
tenants:
  - {name: a, hosts: 1-99}
claims: {required: [reach, reach, foo]}
"""


def declare(tmp_path: Path, text: str) -> Path:
    place = tmp_path / "fabric.yaml"
    place.write_text(text, encoding="utf-8")
    return place


def test_problems_of_all_stages_are_said_at_once_in_the_order_of_the_file(tmp_path: Path) -> None:
    with pytest.raises(WeftlineError) as caught:
        check(declare(tmp_path, MANY))
    found = [(problem.where.line, problem.code) for problem in caught.value.problems if problem.where]
    assert found == [
        (4, "spec.management-prefix"),
        (5, "spec.unknown-part"),
        (5, "spec.leaf-ports"),
        (6, "capability.part-technology"),
        (6, "spec.unknown-key"),
        (8, "spec.host-range"),
        (9, "spec.wrong-value"),
    ]


def test_a_value_left_out_blames_nothing_else(tmp_path: Path) -> None:
    text = "fabric: {name: x}\ntechnology: roce\nhosts: {count: 8, rails: nine}\n"
    with pytest.raises(WeftlineError) as caught:
        check(declare(tmp_path, text))
    assert [problem.code for problem in caught.value.problems] == [caught.value.code]


@pytest.mark.parametrize(
    ("technology", "engine", "able"),
    [
        ("roce", "torus", "ecmp or weighted-ecmp"),
        ("roce", "fat-tree", "ecmp or weighted-ecmp"),
        ("roce", "updown", "ecmp or weighted-ecmp"),
        ("roce", "layered", "ecmp or weighted-ecmp"),
    ],
)
def test_an_engine_whose_tables_no_device_can_hold(tmp_path: Path, technology: str, engine: str, able: str) -> None:
    text = f"fabric: {{name: x}}\ntechnology: {technology}\nhosts: {{count: 8}}\nrouting: {{engine: {engine}}}\n"
    with pytest.raises(WeftlineError) as caught:
        check(declare(tmp_path, text))
    assert caught.value.code == "capability.engine-not-held"
    assert caught.value.hint == f"choose {able}, or auto"
    assert caught.value.where is not None
    assert (caught.value.where.line, caught.value.where.path) == (4, "routing.engine")


RING = """a_device,a_port,b_device,b_port,length_m,part,cable,label
host-0001,nic1,leaf-001,1,,,,
host-0002,nic1,leaf-002,1,,,,
host-0003,nic1,leaf-003,1,,,,
host-0004,nic1,leaf-004,1,,,,
leaf-001,2,leaf-002,3,,,,
leaf-002,2,leaf-003,3,,,,
leaf-003,2,leaf-004,3,,,,
leaf-004,2,leaf-001,3,,,,
"""
CABLED = """fabric: {name: ring}
technology: infiniband
hosts: {count: 4, rails: 1, gpus: 1, rate_gbps: 400}
topology: {kind: cabling, cabling: ring.csv}
"""


def test_auto_takes_the_first_engine_that_can_route_the_shape(tmp_path: Path) -> None:
    (tmp_path / "ring.csv").write_text(RING, encoding="utf-8")
    assert run_to_routes(declare(tmp_path, CABLED)).routes.engine == "updown"


def test_a_named_engine_that_cannot_says_where_it_was_named(tmp_path: Path) -> None:
    (tmp_path / "ring.csv").write_text(RING, encoding="utf-8")
    with pytest.raises(WeftlineError) as caught:
        run_to_routes(declare(tmp_path, CABLED + "routing: {engine: fat-tree}\n"))
    assert caught.value.code == "capability.engine-needs-tree"
    assert caught.value.where is not None
    assert caught.value.where.line == 5


def test_a_cabling_list_that_is_not_there_is_blamed_on_the_line_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(WeftlineError) as caught:
        build(check(declare(tmp_path, CABLED)))
    assert caught.value.code == "artifact.no-place"
    assert caught.value.where is not None
    assert (caught.value.where.file, caught.value.where.line) == (str(tmp_path / "fabric.yaml"), 4)


@pytest.mark.parametrize(
    ("hosts", "more", "allowed"),
    [
        (31, "", 1.0),
        (64, "", 1.0),
        (48, "", 2.0),
        (64, "oversubscription: 1.5", 2.0),
        (48, "oversubscription: 2", 4.0),
        (1056, "", 2.0),
    ],
)
def test_auto_allows_the_load_that_the_shape_promises(tmp_path: Path, hosts: int, more: str, allowed: float) -> None:
    text = f"fabric: {{name: x}}\ntechnology: infiniband\nhosts: {{count: {hosts}, rails: 8, unit_size: 32}}\n"
    proved = run_to_proofs(declare(tmp_path, f"{text}topology: {{{more}}}\n"))
    balance = {proof.claim: proof for proof in proved.report.proofs}["balance"]
    assert balance.detail["threshold"] == allowed
    assert balance.bound is not None
    assert 1 <= balance.bound <= allowed
    assert proved.report.is_accepted


LAYERED = """fabric: {name: ring}
technology: infiniband
hosts: {count: 5, rails: 1, gpus: 1, rate_gbps: 400}
topology: {kind: cabling, cabling: ring.csv, leaf: own-leaf}
parts: {switches: {own-leaf: {base: QM9700, data_lanes: 1}}}
routing: {engine: layered}
"""
RING_OF_FIVE = Path(__file__).parents[3] / "examples" / "ring-of-five.csv"


def test_no_more_lanes_are_used_than_a_part_is_known_to_have(tmp_path: Path) -> None:
    (tmp_path / "ring.csv").write_bytes(RING_OF_FIVE.read_bytes())
    one = run_to_routes(declare(tmp_path, LAYERED)).routes
    assert one.lane_count == 1
    assert "2 of 20 pairs (10.0%) take more hops" in one.guarantee
    two = LAYERED.replace("data_lanes: 1", "data_lanes: 2")
    assert run_to_routes(declare(tmp_path, two)).routes.lane_count == 2


def test_more_lanes_declared_than_ports_have_are_refused(tmp_path: Path) -> None:
    (tmp_path / "ring.csv").write_bytes(RING_OF_FIVE.read_bytes())
    text = LAYERED.replace("engine: layered", "engine: layered, lanes: 4")
    with pytest.raises(WeftlineError, match=r"routing.lanes allows 4 lanes .* have 1 \(VLCap\)") as caught:
        check(declare(tmp_path, text))
    assert caught.value.code == "capability.lanes"


def test_lanes_without_the_engine_that_uses_them_are_refused(tmp_path: Path) -> None:
    (tmp_path / "ring.csv").write_bytes(RING_OF_FIVE.read_bytes())
    text = LAYERED.replace("engine: layered", "lanes: 4")
    with pytest.raises(WeftlineError, match="uses one lane") as caught:
        run_to_routes(declare(tmp_path, text))
    assert caught.value.code == "spec.lanes-not-used"
    assert caught.value.where is not None
    assert caught.value.where.path == "routing.lanes"
