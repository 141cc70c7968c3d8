"""The JSON of a simulation and of a job prediction."""

from __future__ import annotations

from weftline.app.simulate import Simulated
from weftline.model.result import JobPrediction


def view_simulation(simulated: Simulated) -> dict[str, object]:
    """Show when the last byte arrived, the bus bandwidth, and the bound that no schedule beats."""
    result = simulated.result
    return {
        "schema": "weftline/simulation/1",
        "of": simulated.routes_digest,
        "title": simulated.title,
        "fidelity": result.fidelity,
        "finish_us": result.total_us,
        "busbw_GBps": simulated.busbw_gbytes_per_s,
        "bound_low_us": result.bound_low_us,
        "bound_name": result.bound_name,
        "flows": simulated.flows,
        "collective": {
            "kind": simulated.collective.kind,
            "algorithm": simulated.collective.algorithm,
            "size_bytes": simulated.collective.size_bytes,
            "ranks": simulated.collective.ranks,
        },
        "placement": {"order": simulated.placement_order, "seed": simulated.seed},
        "assumptions": list(result.assumptions),
        "job": None if simulated.prediction is None else view_job(simulated.prediction),
    }


def view_job(job: JobPrediction) -> dict[str, object]:
    """Show what a training job would do; null where a figure is missing."""
    return {
        "job": job.job,
        "gpus": job.gpus,
        "allreduce_bytes": job.allreduce_bytes,
        "allreduce_us": job.allreduce_us,
        "busbw_GBps": job.busbw_gbytes_per_s,
        "compute_us": job.compute_us,
        "step_us": job.step_us,
        "tokens_per_s": job.tokens_per_s,
        "lost_ms_cost_per_month": job.lost_ms_cost_per_month,
        "currency": job.currency,
        "assumptions": list(job.assumptions),
    }
