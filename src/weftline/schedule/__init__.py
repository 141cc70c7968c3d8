"""Jobs become collectives, and collectives become flows that wait for each other."""

from weftline.schedule.aggregation import plan_trees
from weftline.schedule.expansion import ALGORITHMS, expand
from weftline.schedule.experts import Experts, expert_traffic
from weftline.schedule.in_network import expand_reduction, reduction_chunks
from weftline.schedule.job import (
    GRADIENT_BYTES,
    expand_job,
    job_collectives,
    job_experts,
    job_pairs,
    job_pipelines,
    job_rings,
)
from weftline.schedule.joining import delay_ranks, draw_delays, join_flows, start_later
from weftline.schedule.patterns import (
    StorageLoad,
    find_victim,
    incast,
    pair_flow,
    shift,
    spread_ranks,
    storage,
)
from weftline.schedule.pipeline import Stages, pipeline
from weftline.schedule.placement import place_ranks
from weftline.schedule.trace import trace_flows
from weftline.schedule.trees import pipelined_chunks

__all__ = [
    "ALGORITHMS",
    "GRADIENT_BYTES",
    "Experts",
    "Stages",
    "StorageLoad",
    "delay_ranks",
    "draw_delays",
    "expand",
    "expand_job",
    "expand_reduction",
    "expert_traffic",
    "find_victim",
    "incast",
    "job_collectives",
    "job_experts",
    "job_pairs",
    "job_pipelines",
    "job_rings",
    "join_flows",
    "pair_flow",
    "pipeline",
    "pipelined_chunks",
    "place_ranks",
    "plan_trees",
    "reduction_chunks",
    "shift",
    "spread_ranks",
    "start_later",
    "storage",
    "trace_flows",
]
