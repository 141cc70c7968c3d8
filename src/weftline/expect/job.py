"""What a training job will do: step time, tokens per second, and what a lost millisecond costs."""

from __future__ import annotations

from weftline.expect.closed import closed_form
from weftline.model.design import ResolvedSpec
from weftline.model.result import ClosedForm, JobPrediction, SimResult
from weftline.model.spec import JobSpec
from weftline.model.traffic import JobTraffic

HOURS_PER_MONTH = 730.0
FLOPS_PER_PARAMETER = 6.0
"""Forward and backward pass, per parameter and token; source: Kaplan et al. 2020, arXiv 2001.08361, 2.1."""


def job_closed_form(
    design: ResolvedSpec, traffic: JobTraffic, latency_us: float, inside_host_gbytes_per_s: float | None
) -> ClosedForm:
    """Say by arithmetic how long a job's all-reduce takes without contention, for jobs too large to simulate.

    Raises:
        SpecError: ``spec.closed-form``.
    """
    return closed_form(
        traffic.collective,
        rate_gbps=design.rate_gbps * traffic.placement.rank_port.shape[1],
        latency_us=latency_us,
        ranks_per_host=max(traffic.members_per_host, 1),
        inside_host_gbytes_per_s=inside_host_gbytes_per_s,
    )


def job_compute_us(design: ResolvedSpec, job_index: int) -> float | None:
    """Say how long the arithmetic of one step takes on each GPU; None where the peak rate is not known."""
    job = design.spec.jobs[job_index]
    tokens = float(job.global_batch) * job.sequence_length
    return _compute_us(design, job, len(design.job_hosts[job_index]) * design.gpus, tokens, [])


def predict_job(
    design: ResolvedSpec, job_index: int, traffic: JobTraffic, result: SimResult | ClosedForm
) -> JobPrediction:
    """Predict a step: arithmetic, then the all-reduce, simulated or by its closed form, with no overlap of the two.

    One millisecond lost in every step wastes the share 1 ms / step time of all GPU hours of a month:
    GPUs x price x 730 h x 1 ms / step. Figures that need an unknown one are None.
    """
    job = design.spec.jobs[job_index]
    gpus = len(design.job_hosts[job_index]) * design.gpus
    tokens = float(job.global_batch) * job.sequence_length
    texts = list(traffic.assumptions)
    if isinstance(result, ClosedForm):
        reduce_us, more = result.time_us, (f"the all-reduce is not simulated: {result.formula} without contention",)
    else:
        reduce_us, more = result.total_us, result.assumptions
    compute = _compute_us(design, job, gpus, tokens, texts)
    step = None if compute is None else compute + reduce_us
    return JobPrediction(
        job=job.name,
        gpus=gpus,
        allreduce_bytes=traffic.collective.size_bytes,
        allreduce_us=reduce_us,
        busbw_gbytes_per_s=traffic.collective.bus_bandwidth(reduce_us),
        compute_us=compute,
        step_us=step,
        tokens_per_s=None if step is None else tokens / step * 1e6,
        lost_ms_cost_per_month=None if step is None else gpus * job.gpu_hour_price * HOURS_PER_MONTH * 1000.0 / step,
        currency=job.currency,
        assumptions=(*texts, *more),
    )


def _compute_us(design: ResolvedSpec, job: JobSpec, gpus: int, tokens: float, texts: list[str]) -> float | None:
    peak = design.host.gpu_peak_tflops.get(job.precision)
    if peak is None:
        texts.append(
            f"step time is unknown: give gpu_peak_tflops.{job.precision} of host part {design.host_name} under parts"
        )
        return None
    work = f"{job.parameters:g} parameters x {tokens:g} tokens at {job.utilisation:.0%} of {peak:g} TFLOP/s per GPU"
    texts.extend((f"arithmetic: 6 x {work}", "the all-reduce is fully exposed: no overlap with arithmetic"))
    return FLOPS_PER_PARAMETER * job.parameters * tokens / (gpus * peak * 1e12 * job.utilisation) * 1e6
