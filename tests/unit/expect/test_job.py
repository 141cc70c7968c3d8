from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from tests.fabrics import make_design, make_fabric
from weftline.expect import job_closed_form, predict_job
from weftline.model.design import ResolvedSpec
from weftline.model.result import JobPrediction
from weftline.model.spec import JobSpec
from weftline.route import compute_routes
from weftline.schedule import expand_job, job_collectives
from weftline.simulate import SimOptions, simulate

JOB = JobSpec(
    name="job", parameters=8e9, tensor_parallel=4, global_batch=64, sequence_length=4096, utilisation=0.4,
    gpu_hour_price=2.0, currency="EUR",
)  # fmt: skip


def predict(job: JobSpec = JOB, change: Any = None) -> tuple[ResolvedSpec, JobPrediction]:
    """Predict a job on four hosts of four GPUs."""
    design = make_design("rail-optimised", jobs=(job,), hosts=4, rails=4, ports=16)
    if change:
        design = change(design)
    fabric = make_fabric("rail-optimised", jobs=(job,), hosts=4, rails=4, ports=16)
    traffic = job_collectives(design, fabric, 0)
    routes = compute_routes(fabric, "fat-tree", to_switches=False)
    result = simulate(expand_job(traffic), fabric, routes, SimOptions(1.0, 450.0))
    return design, predict_job(design, 0, traffic, result)


def test_a_step_is_arithmetic_and_the_exposed_all_reduce() -> None:
    _, job = predict()
    assert (job.job, job.gpus, job.currency, job.allreduce_bytes) == ("job", 16, "EUR", 4 * 10**9)
    assert job.allreduce_us == pytest.approx(6 * (10**9 / 50_000 + 1))
    compute = 6 * 8e9 * 64 * 4096 / (16 * 989e12 * 0.4) * 1e6
    assert job.compute_us == pytest.approx(compute)
    assert job.step_us == pytest.approx(compute + job.allreduce_us)
    assert job.step_us is not None
    assert job.tokens_per_s == pytest.approx(64 * 4096 / job.step_us * 1e6)
    assert job.busbw_gbytes_per_s == pytest.approx(1.5 * 4e9 / job.allreduce_us / 1000)
    assert "the all-reduce is fully exposed: no overlap with arithmetic" in job.assumptions


def test_a_lost_millisecond_costs_its_share_of_a_month() -> None:
    _, job = predict()
    assert job.step_us is not None
    assert job.lost_ms_cost_per_month == pytest.approx(16 * 2.0 * 730 * 1000 / job.step_us)


def test_without_a_peak_rate_nothing_is_invented() -> None:
    def forget(design: ResolvedSpec) -> ResolvedSpec:
        return dataclasses.replace(design, host=design.host.model_copy(update={"gpu_peak_tflops": {}}))

    _, job = predict(change=forget)
    assert (job.compute_us, job.step_us, job.tokens_per_s, job.lost_ms_cost_per_month) == (None, None, None, None)
    assert job.allreduce_us > 0
    wanted = "step time is unknown: give gpu_peak_tflops.bf16 of host part generic-host under parts"
    assert wanted in job.assumptions


def test_a_job_without_data_parallelism_has_no_all_reduce() -> None:
    _, job = predict(JOB.model_copy(update={"tensor_parallel": 16}))
    assert (job.allreduce_us, job.busbw_gbytes_per_s) == (0.0, None)
    assert job.step_us == job.compute_us


def test_the_closed_form_stands_in_for_a_simulation_without_contention() -> None:
    design, simulated = predict(JOB.model_copy(update={"tensor_parallel": 2}))
    fabric = make_fabric("rail-optimised", hosts=4, rails=4, ports=16)
    traffic = job_collectives(design, fabric, 0)
    form = job_closed_form(design, traffic, 1.0, 450.0)
    assert form.time_us == pytest.approx(simulated.allreduce_us, rel=1e-9)
    job = predict_job(design, 0, traffic, form)
    assert job.step_us == pytest.approx(simulated.step_us)
    wanted = "the all-reduce is not simulated: 2(g-1)(M/(g V) + L) + 2(H-1)(M/(g H B) + L) without contention"
    assert wanted in job.assumptions
