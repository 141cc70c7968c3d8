"""Several loads at once: what each is, how it fares, and what cannot be asked."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from weftline.app.pipeline import Routed, run_to_routes
from weftline.app.simulate import LoadChoice, Simulated, simulate_place, simulate_routed
from weftline.app.views.load import view_simulation
from weftline.errors import ArtifactError, SpecError, UsageError

DECLARATION = """
fabric: {name: many-loads}
technology: infiniband
hosts:
  count: 8
  rails: 8
  rate_gbps: 400
  unit_size: 8
  extra_endpoints:
    - {name: store-1, ports: 2}
jobs:
  - {name: dense, parameters: 1e9, pipeline_parallel: 2, tensor_parallel: 4, global_batch: 32, sequence_length: 1024,
     utilisation: 0.4, gpu_hour_price: 2.0}
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight hosts with one job and a storage."""
    path = tmp_path_factory.mktemp("loads") / "many-loads.yaml"
    path.write_text(DECLARATION, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def routed(place: Path) -> Routed:
    """The routes of it."""
    return run_to_routes(place)


def run(routed: Routed, *loads: str, **choice: object) -> Simulated:
    """Simulate loads."""
    return simulate_routed(routed, LoadChoice(loads=loads, **choice))  # type: ignore[arg-type]


def test_a_load_alone_runs_alone(routed: Routed) -> None:
    simulated = run(routed, "incast:senders=7,size=1MB", latency_us=1.0)
    assert simulated.title == "incast of 1 MB from each of 7 NICs to host-0001/nic1"
    assert simulated.result.total_us == pytest.approx(7 * 20 + 1)
    assert (simulated.flows, simulated.prediction, simulated.collective) == (7, None, None)
    (times,) = simulated.loads
    assert (times.finish_us, times.median_us, times.size_bytes) == (simulated.result.total_us, pytest.approx(141), 7e6)


def test_a_job_beside_a_storage_is_slower_and_its_prediction_is_of_its_own_end(routed: Routed) -> None:
    alone = simulate_routed(routed, LoadChoice())
    storage_words = "storage:load=0.9,servers=host-0001+host-0002,read=4MiB,write=4MiB,for_us=20000"
    both = run(routed, storage_words, "incast:start_us=500000", job="dense")
    assert alone.prediction is not None
    assert both.prediction is not None
    assert both.title.endswith(", beside 2 more loads")
    job, storage, late = both.loads
    assert (job.load.kind, storage.load.kind) == ("job", "storage")
    assert job.finish_us is not None
    assert late.finish_us is not None
    assert job.finish_us > 1.1 * alone.result.total_us
    assert both.prediction.allreduce_us == job.finish_us
    assert both.busbw_gbytes_per_s == job.busbw_gbytes_per_s
    assert late.finish_us > 500_000 > job.finish_us
    assert both.result.total_us == late.finish_us
    assert both.result.total_us >= both.result.bound_low_us


def test_declared_storage_serves_where_nothing_else_is_named(routed: Routed) -> None:
    simulated = run(routed, "storage:load=0.5,read=64KiB,write=64KiB,for_us=2000,seed=3")
    assert simulated.title == "storage at 50% of 2 ports, 70% of the bytes read"
    assert (
        run(routed, "storage:for_us=2000", seed=3).result.total_us
        == run(routed, "storage:for_us=2000,seed=3").result.total_us
    )


def test_a_victim_stands_beside_its_incast(routed: Routed) -> None:
    simulated = run(routed, "victim:senders=20,size=1MiB,victim_size=2MiB")
    assert [times.load.kind for times in simulated.loads] == ["incast", "victim"]
    assert simulated.loads[1].size_bytes == 2 * 2**20
    incast, victim = (times.finish_us for times in simulated.loads)
    assert incast is not None
    assert victim is not None
    assert victim < incast


def test_pipelines_and_experts_come_from_the_job(routed: Routed) -> None:
    stages = run(routed, "pipeline:hidden=4096")
    assert stages.title == "job dense: 32 pipelines of 2 stages, 4 microbatches of 2.1 MB each way"
    compute = stages.loads[0].finish_us
    assert compute is not None
    assert compute > 0
    experts = run(routed, "experts:group=4,hidden=1024,imbalance=1.5,work_us=10")
    assert experts.title.startswith("experts in 16 groups of 4: 1.05 MB per rank there and back, the busiest gets 1.5")
    assert experts.result.total_us > 20
    with pytest.raises(SpecError, match="do not divide") as caught:
        run(routed, "experts:group=3")
    assert caught.value.code == "spec.load"


def test_a_late_rank_makes_a_collective_late(routed: Routed) -> None:
    words = {"collective": "all-reduce", "algorithm": "ring", "ranks": 8, "size": "8MB", "latency_us": 1.0}
    on_time, late = (run(routed, stragglers=who, **words) for who in ((), ("2:700",)))
    assert late.result.total_us == pytest.approx(700 + on_time.result.total_us)
    assert "rank 2 starts 700 us late" in late.result.assumptions
    drawn = run(routed, stragglers=("uniform:100",), **words)
    assert on_time.result.total_us < drawn.result.total_us <= 100 + on_time.result.total_us
    for who in ("8:1", "2000:1"):
        with pytest.raises(UsageError, match="no load has such a rank") as caught:
            run(routed, stragglers=(who,), **words)
        assert caught.value.code == "usage.load"


def test_a_late_rank_is_late_from_the_start_of_its_load_on(routed: Routed) -> None:
    """Also a rank that is drawn; without the delay being counted from 0, a load that starts later would hide it."""
    load = "all-reduce:ranks=8,size=8MB"
    early = run(routed, load, latency_us=1.0, stragglers=("2:300", "exponential:20"))
    later = run(routed, f"{load},start_us=500", latency_us=1.0, stragglers=("2:300", "exponential:20"))
    assert early.result.total_us > 300
    assert later.result.total_us == pytest.approx(500 + early.result.total_us)


def test_a_load_may_start_later_and_its_bandwidth_counts_from_then(routed: Routed) -> None:
    one = run(routed, "all-reduce:ranks=8,size=8MB", latency_us=1.0)
    later = run(routed, "all-reduce:ranks=8,size=8MB,start_us=500", latency_us=1.0)
    assert later.result.total_us == pytest.approx(500 + one.result.total_us)
    assert later.busbw_gbytes_per_s == pytest.approx(one.busbw_gbytes_per_s)
    assert later.title.endswith(", from 500 us on")


def test_a_trace_runs_beside_the_rest_or_alone(routed: Routed, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("source,target,bytes,start_us\nhost-0001/nic1,host-0002/nic1,1MB,100\n", encoding="utf-8")
    simulated = run(routed, trace=path, latency_us=1.0)
    assert (simulated.title, simulated.result.total_us) == ("1 flow of t.csv", pytest.approx(121))
    both = run(routed, "shift:by=8,size=1MB", trace=path, collective="broadcast", size="1MB")
    assert [times.load.kind for times in both.loads] == ["broadcast", "shift", "trace"]
    path.write_text("source,target,bytes\nhost-0001/nic1,host-0099/nic1,1\n", encoding="utf-8")
    with pytest.raises(ArtifactError) as caught:
        run(routed, trace=path)
    assert caught.value.where is not None
    assert (caught.value.code, caught.value.where.line, caught.value.where.column) == ("artifact.trace-end", 2, 16)


@pytest.mark.parametrize(
    ("load", "code"),
    [
        ("job:name=none", "usage.load"),
        ("incast:senders=64", "spec.load"),
        ("incast:receiver=store-1", "usage.load"),
        ("storage:load=2", "spec.load"),
        ("all-gather:algorithm=tree", "spec.collective"),
        ("all-gather:placement=chance", "spec.placement"),
        ("shift:by=64", "spec.load"),
        ("experts:imbalance=50", "spec.load"),
        ("incast:start_us=9999999999", "spec.straggler"),
        ("incast:size=lots", "usage.size"),
    ],
)
def test_what_cannot_be_made_is_refused(load: str, code: str, routed: Routed) -> None:
    with pytest.raises((UsageError, SpecError)) as caught:
        run(routed, load)
    assert caught.value.code == code
    assert caught.value.hint


def test_a_word_is_refused_before_the_declaration_is_read(tmp_path: Path) -> None:
    for choice in (LoadChoice(loads=("nothing",)), LoadChoice(stragglers=("nobody",))):
        with pytest.raises(UsageError):
            simulate_place(tmp_path / "missing.yaml", choice)


def test_json_shows_every_load(routed: Routed) -> None:
    view = view_simulation(run(routed, "incast", "all-reduce:ranks=8,size=1MB"))
    loads = view["loads"]
    assert isinstance(loads, list)
    loads = cast("list[dict[str, object]]", loads)
    assert [load["kind"] for load in loads] == ["incast", "all-reduce"]
    assert loads[0]["busbw_GBps"] is None
    assert isinstance(loads[1]["busbw_GBps"], float)
    assert view["collective"] is None
    assert view["busbw_GBps"] is None


def test_a_job_with_one_stage_passes_nothing_on(tmp_path: Path) -> None:
    path = tmp_path / "one.yaml"
    path.write_text(DECLARATION.replace("pipeline_parallel: 2, ", ""), encoding="utf-8")
    with pytest.raises(UsageError, match="has one stage"):
        simulate_place(path, LoadChoice(loads=("pipeline",)))
