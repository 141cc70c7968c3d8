"""Jobs become collectives, and collectives become flows that wait for each other."""

from weftline.schedule.expansion import ALGORITHMS, expand
from weftline.schedule.job import expand_job, job_collectives, job_pairs, job_rings
from weftline.schedule.placement import place_ranks
from weftline.schedule.trees import pipelined_chunks

__all__ = [
    "ALGORITHMS",
    "expand",
    "expand_job",
    "job_collectives",
    "job_pairs",
    "job_rings",
    "pipelined_chunks",
    "place_ranks",
]
