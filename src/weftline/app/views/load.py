"""The JSON of a simulation and of a job prediction."""

from __future__ import annotations

from weftline.app.load_times import LoadTimes
from weftline.app.reduction import Reduction, name_switches
from weftline.app.simulate import Simulated
from weftline.app.views.packets import view_packets
from weftline.model.fabric import Fabric
from weftline.model.reduction import AggregationTree, ReductionLimits
from weftline.model.result import JobPrediction
from weftline.model.traffic import Collective


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
        "collective": _view_collective(simulated.collective),
        "placement": {"order": simulated.placement_order, "seed": simulated.seed},
        "loads": [_view_load(times, simulated.fabric) for times in simulated.loads],
        "assumptions": list(result.assumptions),
        "job": None if simulated.prediction is None else view_job(simulated.prediction),
        "packets": None if simulated.sent is None else view_packets(simulated.sent.packets, simulated.sent.fabric),
    }


def _view_collective(collective: Collective | None) -> dict[str, object] | None:
    if collective is None:
        return None
    return {
        "kind": collective.kind,
        "algorithm": collective.algorithm,
        "size_bytes": collective.size_bytes,
        "ranks": collective.ranks,
    }


def _view_load(times: LoadTimes, fabric: Fabric) -> dict[str, object]:
    """Show one load among those that ran at the same time."""
    return {
        "kind": times.load.kind,
        "title": times.load.title,
        "flows": times.load.count,
        "size_bytes": times.size_bytes,
        "start_us": times.load.start_us,
        "finish_us": times.finish_us,
        "busbw_GBps": times.busbw_gbytes_per_s,
        "message_median_us": times.median_us,
        "message_p99_us": times.p99_us,
        "reduction": None if times.reduction is None else _view_reduction(times.reduction, fabric),
    }


def _view_reduction(reduction: Reduction, fabric: Fabric) -> dict[str, object]:
    """Show the trees that a load was reduced along, and the limits; or why there are none."""
    return {
        "algorithm": reduction.algorithm,
        "reason": reduction.plan.reason,
        "trees": [_view_tree(tree, fabric) for tree in reduction.plan.trees],
        "limits": [_view_limits(one) for one in reduction.plan.limits],
        "chunks": reduction.chunks,
        "chunks_under_way": reduction.window,
        "shared_links": reduction.plan.shared_links,
    }


def _view_tree(tree: AggregationTree, fabric: Fabric) -> dict[str, object]:
    return {
        "rail": tree.rail + 1,
        "plane": tree.plane + 1,
        "root": fabric.node_name[int(tree.switch[0])],
        "levels": name_switches(tree, fabric),
        "uplinks": [fabric.link_name(int(port)) for port in tree.up_port[1:]],
        "members": [fabric.port_name(int(port)) for port in tree.member_port],
    }


def _view_limits(one: ReductionLimits) -> dict[str, object]:
    return {
        "part": one.part,
        "reduces": one.reduces,
        "trees_per_switch": one.trees_per_switch,
        "trees_per_port": one.trees_per_port,
        "trees_in_fabric": one.trees_in_fabric,
        "children": one.children,
        "latency_ns": one.latency_ns,
        "window_bytes": one.window_bytes,
        "source": one.source,
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
