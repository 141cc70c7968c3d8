"""Balance: every shift of a full tree loads each link by one; a worse choice is named with its flows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.fabrics import make_fabric
from tests.tables import change_entries, make_routes, minimal_routes
from tests.unit.prove.cases import judge, witness_of
from weftline.kernels.column import I32
from weftline.model.fabric import Fabric
from weftline.model.proof import ProofRules, Verdict
from weftline.model.routes import Routes
from weftline.prove import balance, check_certificate, prove
from weftline.prove.reach import measure_distances
from weftline.prove.tables import read_tables
from weftline.route import compute_routes


def ports(*names: int) -> I32:
    return np.array(names, dtype=np.int32)


@pytest.fixture
def tree() -> tuple[Fabric, Routes]:
    """Two leaves of four hosts under two spines, by D-mod-K."""
    fabric = make_fabric("fat-tree", hosts=8, ports=8)
    return fabric, compute_routes(fabric, "fat-tree", to_switches=False)


def all_by_one_spine(fabric: Fabric) -> Routes:
    return minimal_routes(fabric)


def test_destination_spread_loads_every_link_by_one(tree: tuple[Fabric, Routes]) -> None:
    proof = judge(*tree, "balance")
    assert proof.verdict is Verdict.PROVED
    assert proof.bound == pytest.approx(1.0)
    assert proof.statement == "Over all 7 shift permutations, no directed link carries more than 1 times its rate."
    assert check_certificate(*tree, proof)


def test_one_spine_for_all_is_refuted_with_its_flows(tree: tuple[Fabric, Routes]) -> None:
    fabric, _ = tree
    witness = witness_of(fabric, all_by_one_spine(fabric), "balance")
    assert witness.kind == "overload"
    assert witness.detail["load"] == pytest.approx(4.0)
    assert witness.detail["link"].startswith("leaf-001/5~spine-01/")
    assert witness.detail["case"] == "shift 4"
    assert [flow["source"] for flow in witness.detail["flows"]] == [f"host-000{i}/nic1" for i in (1, 2, 3, 4)]
    assert "carries 4 times its rate under shift 4, allowed is 1" in witness.summary


def test_threshold_is_the_rules(tree: tuple[Fabric, Routes]) -> None:
    fabric, _ = tree
    assert judge(fabric, all_by_one_spine(fabric), "balance", balance_threshold=4.0).verdict is Verdict.PROVED
    assert judge(fabric, all_by_one_spine(fabric), "balance", balance_threshold=3.9).verdict is Verdict.REFUTED


def test_faster_links_carry_more(tree: tuple[Fabric, Routes]) -> None:
    fabric, _ = tree
    rate = fabric.port_rate_gbps.copy()
    between = fabric.switch_row[fabric.port_node] >= 0
    rate[between & (fabric.switch_row[fabric.port_node[fabric.port_peer]] >= 0)] *= 4
    faster = replace(fabric, port_rate_gbps=rate)
    assert judge(faster, all_by_one_spine(faster), "balance").bound == pytest.approx(1.0)


def test_unknown_rates_count_flows(tree: tuple[Fabric, Routes]) -> None:
    fabric, _ = tree
    unrated = replace(fabric, port_rate_gbps=np.full(fabric.port_count, np.nan))
    proof = judge(unrated, all_by_one_spine(unrated), "balance", balance_threshold=4.0)
    assert proof.bound == pytest.approx(4.0)
    assert "rates are not known, so flows are counted" in proof.statement


def test_port_sets_are_judged_by_equal_split(tree: tuple[Fabric, Routes]) -> None:
    fabric, _ = tree
    routes = compute_routes(fabric, "ecmp", to_switches=False)
    proof = judge(fabric, routes, "balance")
    assert proof.verdict is Verdict.PROVED
    assert "equal-split share" in proof.statement
    assert check_certificate(fabric, routes, proof)


def test_overload_over_port_sets_names_its_flows() -> None:
    fabric = make_fabric("fat-tree", hosts=8, ports=8, unit_size=4)
    routes = compute_routes(fabric, "ecmp", to_switches=False)
    witness = witness_of(fabric, routes, "balance", balance_threshold=0.5)
    assert witness.detail["flows"]


def test_job_is_judged_beside_the_shifts(tree: tuple[Fabric, Routes]) -> None:
    fabric, routes = tree
    report = prove(fabric, routes, ProofRules(), (ports(0, 1, 2, 3), ports(4, 5, 6, 7)))
    proof = report.proofs[2]
    assert proof.verdict is Verdict.PROVED
    assert proof.detail["worst_of_job"] == pytest.approx(1.0)
    assert "and the declared job" in proof.statement
    assert check_certificate(fabric, routes, proof)


def crossed(fabric: Fabric, routes: Routes) -> Routes:
    """Let leaf-001 send to the first and the last host of leaf-002 by one uplink: no neighbours in any shift."""
    return change_entries(routes, {(0, 7): int(routes.group[0, 4]), (0, 4): int(routes.group[0, 4])})


def test_job_that_is_worse_than_the_judged_shifts_is_the_witness(tree: tuple[Fabric, Routes]) -> None:
    fabric, routes = tree
    skewed = crossed(fabric, routes)
    rules = ProofRules(balance_threshold=1.5, all_shifts_up_to=2, sample_shifts=1)
    proof = prove(fabric, skewed, rules, (ports(0, 1), ports(4, 7))).proofs[2]
    assert proof.verdict is Verdict.REFUTED
    assert proof.witness is not None
    assert proof.witness.detail["case"] == "the declared job"
    assert proof.witness.detail["shift"] is None
    assert proof.witness.detail["flows"] == [
        {"source": "host-0001/nic1", "destination": "host-0005/nic1"},
        {"source": "host-0002/nic1", "destination": "host-0008/nic1"},
    ]
    assert judge_job(fabric, skewed, (ports(0, 1), ports(4, 7))).bound == pytest.approx(2.0)


def test_job_that_is_the_worst_case_is_certified(tree: tuple[Fabric, Routes]) -> None:
    fabric, routes = tree
    skewed = crossed(fabric, routes)
    rules = ProofRules(balance_threshold=2.0, all_shifts_up_to=2, sample_shifts=1)
    proof = prove(fabric, skewed, rules, (ports(0, 1), ports(4, 7))).proofs[2]
    assert (proof.verdict, proof.bound, proof.detail["worst_of_job"]) == (Verdict.PROVED, pytest.approx(2.0), 2.0)
    assert check_certificate(fabric, skewed, proof)
    rules = ProofRules(balance_threshold=3.0)
    proof = prove(fabric, skewed, rules, (ports(0, 1, 2), ports(4, 7, 4))).proofs[2]
    assert proof.verdict is Verdict.PROVED
    assert check_certificate(fabric, skewed, proof)


def judge_job(fabric: Fabric, routes: Routes, pairs: tuple[I32, I32]) -> balance.Judged:
    tables = read_tables(fabric, routes)
    crowd = replace_crowd(balance.gather_crowd(fabric, tables))
    return balance.judge_loads(fabric, tables, measure_distances(tables, ProofRules()), crowd, ProofRules(), pairs)


def replace_crowd(crowd: balance.Crowd) -> balance.Crowd:
    """Leave nobody who shifts, so that the job alone counts."""
    nobody = np.empty(0, dtype=np.int32)
    return replace(crowd, component_ptr=np.zeros(1, np.int32), port=nobody, target=nobody, rate=np.empty(0))


def test_endpoint_with_several_partners_splits_its_rate(tree: tuple[Fabric, Routes]) -> None:
    fabric, routes = tree
    pairs = (ports(0, 0, 1, 2), ports(4, 5, 4, 4))
    proof = prove(fabric, routes, ProofRules(), pairs).proofs[2]
    assert proof.detail["worst_of_job"] <= 1.0


def test_job_towards_nobody_leaves_the_claim_unknown(tree: tuple[Fabric, Routes]) -> None:
    fabric, routes = tree
    for strange in (-4, 10**6, int(fabric.port_peer[0])):
        proof = prove(fabric, routes, ProofRules(), (ports(0), ports(strange))).proofs[2]
        assert proof.verdict is Verdict.UNKNOWN
        assert proof.detail["flows_lost"] == 1


def test_lost_flows_leave_the_claim_unknown(tree: tuple[Fabric, Routes]) -> None:
    fabric, routes = tree
    holed = change_entries(routes, {(0, 7): 255})
    proof = judge(fabric, holed, "balance")
    assert proof.verdict is Verdict.UNKNOWN
    assert "4 flows are not delivered" in proof.statement
    ecmp = change_entries(compute_routes(fabric, "ecmp", to_switches=False), {(0, 7): 255})
    assert judge(fabric, ecmp, "balance").verdict is Verdict.UNKNOWN


def test_large_fabrics_are_sampled_where_windows_do_not_tell_and_the_proof_says_so() -> None:
    """On rails the endpoints of a leaf are no run of the numbering, so that windows bound too loosely."""
    fabric = make_fabric("rail-optimised", hosts=8, rails=2, ports=8, unit_size=4)
    routes = compute_routes(fabric, "fat-tree", to_switches=False)
    proof = judge(fabric, routes, "balance", all_shifts_up_to=4, sample_shifts=3)
    assert proof.verdict is Verdict.PROVED
    assert proof.statement.startswith(
        "Over the stated sample of 3 of 15 shift permutations (more than 4 endpoints), no directed link"
    )
    assert proof.detail["is_sample"]
    assert check_certificate(fabric, routes, proof)


def test_few_steps_force_a_sample(tree: tuple[Fabric, Routes]) -> None:
    proof = judge(*tree, "balance", max_steps=60)
    assert proof.detail["shifts_judged"] < 7
    assert "all would take more than 60 table steps" in proof.statement


def test_sample_holds_the_telling_shifts_and_follows_the_seed() -> None:
    fabric = make_fabric("rail-optimised", hosts=32, rails=2, ports=16, unit_size=8)
    crowd = balance.gather_crowd(fabric, read_tables(fabric, compute_routes(fabric, "fat-tree", to_switches=False)))
    assert crowd.largest == 64
    chosen = [balance.choose_shifts(fabric, crowd, 20, seed).tolist() for seed in (1, 1, 5)]
    assert {1, 2, 4, 16, 32, 63, 62, 60, 48} <= set(chosen[0])
    assert chosen[0] == chosen[1] != chosen[2]
    assert all(0 < shift < 64 for shift in chosen[2])
    assert balance.choose_shifts(fabric, crowd, 63, 1).tolist() == list(range(1, 64))


def test_components_shift_side_by_side() -> None:
    fabric = make_fabric("rail-only", hosts=8, rails=2, ports=4, unit_size=2)
    routes = compute_routes(fabric, "fat-tree", to_switches=False)
    proof = judge(fabric, routes, "balance")
    assert proof.verdict is Verdict.PROVED
    assert proof.detail["shifts_in_all"] == 7
    assert proof.detail["endpoints"] == 16


def test_split_loads_without_distances_are_unknown(tree: tuple[Fabric, Routes]) -> None:
    fabric, _ = tree
    routes = compute_routes(fabric, "ecmp", to_switches=False)
    assert judge(fabric, routes, "balance", max_steps=1).verdict is Verdict.UNKNOWN


def test_no_entries_lose_every_flow(tree: tuple[Fabric, Routes]) -> None:
    fabric, _ = tree
    assert judge(fabric, make_routes(fabric, lambda _r, _d: None), "balance").detail["flows_lost"] == 7 * 8


@pytest.mark.parametrize("threshold", [float("nan"), -1.0, 0.0])
def test_threshold_that_allows_nothing_proves_nothing(tree: tuple[Fabric, Routes], threshold: float) -> None:
    assert judge(*tree, "balance", balance_threshold=threshold).verdict is Verdict.REFUTED


def test_endpoint_without_a_column_leaves_the_claim_unknown(tree: tuple[Fabric, Routes]) -> None:
    fabric, routes = tree
    fewer = replace(
        routes,
        destination_node=routes.destination_node[:-1],
        destination_port=routes.destination_port[:-1],
        group=np.ascontiguousarray(routes.group[:, :-1]),
    )
    proof = judge(fabric, fewer, "balance", balance_threshold=9.0)
    assert proof.verdict is Verdict.UNKNOWN
    assert proof.detail["flows_lost"] == 6


def test_link_is_as_fast_as_its_slower_end(tree: tuple[Fabric, Routes]) -> None:
    fabric, routes = tree
    rate = fabric.port_rate_gbps.copy()
    up = next(p for p in range(fabric.port_count) if fabric.port_name(p) == "spine-01/1")
    rate[up] = 100.0
    slow = replace(fabric, port_rate_gbps=rate)
    routes = replace(routes, fabric_digest=slow.digest)
    crowd = balance.gather_crowd(slow, read_tables(slow, routes))
    assert crowd.port_rate[[up, int(fabric.port_peer[up])]].tolist() == [100.0, 100.0]
    rules = ProofRules(balance_threshold=9.0, all_shifts_up_to=1, sample_shifts=1)
    assert prove(slow, routes, rules, (ports(0), ports(4))).proofs[2].detail["worst_of_job"] == pytest.approx(4.0)


def test_detail_tells_the_worst_of_the_shifts(tree: tuple[Fabric, Routes]) -> None:
    fabric, _ = tree
    proof = judge(fabric, all_by_one_spine(fabric), "balance")
    assert (proof.detail["worst_of_shifts"], proof.detail["worst_shift"]) == (4.0, 4)
    assert proof.detail["worst_link"] == "leaf-001/5~spine-01/1"


def test_flow_has_the_lower_rate_of_its_ends(tree: tuple[Fabric, Routes]) -> None:
    fabric, routes = tree
    rate = fabric.port_rate_gbps.copy()
    rate[[0, int(fabric.port_peer[0])]] = 100.0
    mixed = replace(fabric, port_rate_gbps=rate)
    same = replace(routes, fabric_digest=mixed.digest)
    proof = prove(mixed, same, ProofRules(), (ports(0, 5), ports(4, 0))).proofs[2]
    assert proof.verdict is Verdict.PROVED
    assert (proof.bound, proof.detail["worst_of_job"]) == (pytest.approx(1.0), pytest.approx(1.0))
    crowd = balance.gather_crowd(mixed, read_tables(mixed, same))
    source, _, rates = balance.flows_of_shift(crowd, 4)
    assert {int(port): float(rate) for port, rate in zip(source, rates, strict=True)} == {
        **dict.fromkeys(range(8), 400.0), 0: 100.0, 4: 100.0,
    }  # fmt: skip
    assert check_certificate(mixed, same, proof)


@pytest.mark.parametrize(("limit", "judged"), [(8, 7), (7, 3)])
def test_every_shift_is_judged_up_to_the_size_that_the_rules_name(
    tree: tuple[Fabric, Routes], limit: int, judged: int
) -> None:
    proof = judge(*tree, "balance", all_shifts_up_to=limit, sample_shifts=3)
    assert proof.detail["shifts_judged"] == judged
    assert ("worst_of_all_shifts_at_most" in proof.detail) == (judged < 7)


def test_above_the_size_for_all_shifts_windows_bound_every_one_on_a_full_tree(tree: tuple[Fabric, Routes]) -> None:
    proof = judge(*tree, "balance", all_shifts_up_to=4, sample_shifts=3)
    assert proof.verdict is Verdict.PROVED
    assert proof.bound == pytest.approx(1.0)
    assert proof.statement.startswith("Over all 7 shift permutations, no directed link carries more than 1 times its")
    assert "of the shifts 3 were loaded, and for the others a link carries no more flows than" in proof.statement
    assert proof.detail["worst_of_all_shifts_at_most"] == pytest.approx(1.0)
    assert not proof.detail["is_sample"]
    assert check_certificate(*tree, proof)


def test_windows_that_show_nothing_leave_a_sample(tree: tuple[Fabric, Routes]) -> None:
    fabric, _ = tree
    routes = all_by_one_spine(fabric)
    proof = judge(fabric, routes, "balance", all_shifts_up_to=4, sample_shifts=3, balance_threshold=3.9)
    assert "worst_of_all_shifts_at_most" not in proof.detail
    assert proof.detail["is_sample"]
    weaker = judge(fabric, routes, "balance", all_shifts_up_to=4, sample_shifts=3, balance_threshold=4.0)
    assert weaker.detail["worst_of_all_shifts_at_most"] == pytest.approx(4.0)
    assert check_certificate(fabric, routes, weaker)


def test_an_argument_that_is_claimed_of_other_tables_is_rejected(tree: tuple[Fabric, Routes]) -> None:
    fabric, routes = tree
    proof = judge(fabric, routes, "balance", all_shifts_up_to=4, sample_shifts=3)
    other = all_by_one_spine(fabric)
    assert not check_certificate(fabric, other, replace(proof, of=other.digest))
    detail = {**proof.detail, "worst_of_all_shifts_at_most": 0.5}
    assert not check_certificate(fabric, routes, replace(proof, bound=0.5, detail=detail))
