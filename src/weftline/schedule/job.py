"""The traffic of a declared training job: the gradient all-reduce of its data-parallel groups."""

from __future__ import annotations

import math

import numpy as np

from weftline.errors import SpecError
from weftline.kernels.column import I8, I32, NIL
from weftline.model.design import ResolvedSpec
from weftline.model.fabric import Fabric
from weftline.model.spec import AUTO, JobSpec
from weftline.model.traffic import Collective, Flows, JobTraffic, Placement, Via
from weftline.schedule.rings import RING_STEPS, flat_ring, hierarchical_ring
from weftline.schedule.transfers import Transfers, check_count, make_flows
from weftline.units import MAX_BYTES

GRADIENT_BYTES = {"bf16": 2, "fp16": 2, "fp8": 2, "fp32": 4}
"""Bytes of one gradient: 8-bit training reduces gradients in 16 bits."""


def job_collectives(design: ResolvedSpec, fabric: Fabric, job_index: int) -> JobTraffic:
    """Work out who reduces what with whom when a job's step ends.

    Each GPU holds parameters / (tensor x pipeline) gradients and reduces them with the GPUs that hold the same ones.

    Raises:
        SpecError: ``spec.parallel-degrees``, ``spec.job-size``, ``spec.too-many-ranks``.
    """
    job = design.spec.jobs[job_index]
    hosts = design.job_hosts[job_index]
    tensor, pipeline = job.tensor_parallel, job.pipeline_parallel
    total = len(hosts) * design.gpus
    data = total // (tensor * pipeline) if job.data_parallel == AUTO else job.data_parallel
    if data < 1 or tensor * pipeline * data != total:
        raise SpecError(
            "spec.parallel-degrees",
            f"job {job.name}: {tensor} (tensor) x {pipeline} (pipeline) x {data} (data) is not {total} GPUs",
            "choose degrees that multiply to the GPUs of the job",
        )
    width = GRADIENT_BYTES[job.precision]
    size = math.ceil(job.parameters / (tensor * pipeline)) * width
    if not 1 <= size <= MAX_BYTES:
        raise SpecError(
            "spec.job-size", f"job {job.name}: {size} gradient bytes per GPU are out of range", "check jobs.parameters"
        )
    rank = np.arange(total, dtype=np.int32).reshape(pipeline, data, tensor)
    groups = np.ascontiguousarray(rank.transpose(0, 2, 1)).reshape(pipeline * tensor, data)
    placement = _place_job(design, fabric, hosts)
    members = _members_per_host(groups, placement)
    algorithm = "hierarchical" if members else "ring"
    return JobTraffic(
        job=job.name,
        placement=placement,
        group_rank=groups,
        collective=Collective("all-reduce", algorithm, size, data),
        members_per_host=members,
        assumptions=_assumptions(job, design, width, members),
    )


def expand_job(traffic: JobTraffic) -> Flows:
    """Turn the all-reduces of all groups, which work at the same time, into flows.

    Raises:
        SpecError: ``spec.too-many-flows``.
    """
    groups, data = traffic.group_rank.shape
    planes = traffic.placement.rank_port.shape[1]
    members = traffic.members_per_host
    steps = RING_STEPS["all-reduce"] * (data - 1)
    if members:
        steps = 2 * (members - 1) + 2 * (data // members - 1)
    check_count(groups * data * steps, planes, f"the all-reduce of {groups} groups of {data} GPUs")
    return make_flows(_job_transfers(traffic), traffic.placement)


def job_pairs(design: ResolvedSpec, fabric: Fabric, job_index: int) -> tuple[I32, I32]:
    """List who sends to whom through the fabric at one time in a job's all-reduce, for the balance proof.

    Returns source ports and destination indices (places in ``fabric.endpoint_port``); empty where nothing is sent.
    """
    traffic = job_collectives(design, fabric, job_index)
    placement = traffic.placement
    rings, via = _rings(traffic)
    after = np.roll(rings, -1, axis=1)
    use = (np.broadcast_to(via, rings.shape) == Via.FABRIC) & (rings != after)
    source = placement.rank_port[rings[use]].ravel()
    target = placement.rank_port[after[use]].ravel()
    index = np.full(fabric.port_count, NIL, dtype=np.int32)
    index[fabric.endpoint_port] = np.arange(len(fabric.endpoint_port), dtype=np.int32)
    return source.astype(np.int32), index[target]


def job_rings(traffic: JobTraffic) -> I32:
    """List the rings in which the ranks of a job pass pieces on, ``[rings, length]``; each rank is in one of them.

    In the steady step of the all-reduce each rank sends to the next of its ring, through the fabric where that stands
    on another host.
    """
    return _rings(traffic)[0].astype(np.int32)


def job_pipelines(traffic: JobTraffic, stages: int) -> I32:
    """List the ranks that pass activations on to each other, ``[pipelines, stages]``."""
    groups, data = traffic.group_rank.shape
    return np.ascontiguousarray(traffic.group_rank.reshape(stages, groups // stages, data).T.reshape(-1, stages))


def job_experts(traffic: JobTraffic, members: int) -> I32:
    """Split each data-parallel group into groups of neighbours that hold the experts, ``[groups, members]``.

    Raises:
        SpecError: ``spec.load`` where they do not divide.
    """
    data = traffic.group_rank.shape[1]
    if not 2 <= members <= data or data % members:
        raise SpecError(
            "spec.load",
            f"{data} data-parallel ranks do not divide into groups of {members} experts",
            f"choose a divisor of {data}, at least 2" if data > 1 else "the job has one copy of the model only",
        )
    return np.ascontiguousarray(traffic.group_rank.reshape(-1, members))


def _job_transfers(traffic: JobTraffic) -> Transfers:
    size = float(traffic.collective.size_bytes)
    groups, data = traffic.group_rank.shape
    members = traffic.members_per_host
    if members:
        grids = traffic.group_rank.reshape(groups, data // members, members)
        return hierarchical_ring("all-reduce", grids, size)
    rings, via = _rings(traffic)
    return flat_ring("all-reduce", rings, size, via)


def _rings(traffic: JobTraffic) -> tuple[I32, I8]:
    """List the rings between hosts, and which network each hop uses."""
    groups, data = traffic.group_rank.shape
    members = traffic.members_per_host
    if members:
        grids = traffic.group_rank.reshape(groups, data // members, members)
        rings = np.ascontiguousarray(grids.transpose(0, 2, 1)).reshape(groups * members, data // members)
        return rings, np.zeros((1, 1), dtype=np.int8)
    host = traffic.placement.rank_host[traffic.group_rank]
    same = host == np.roll(host, -1, axis=1)
    return traffic.group_rank, np.where(same, Via.HOST, Via.FABRIC).astype(np.int8)


def _members_per_host(groups: I32, placement: Placement) -> int:
    """Count a group's ranks per host where hosts hold equal numbers on equal rails; 0 where they do not."""
    host = placement.rank_host[groups]
    data = groups.shape[1]
    members = int((host[0] == host[0, 0]).sum())
    if data % members:
        return 0
    blocks = host.reshape(len(groups), -1, members)
    rails = placement.rank_rail[groups].reshape(len(groups), -1, members)
    even = (blocks == blocks[:, :, :1]).all() and (np.diff(blocks[:, :, 0], axis=1) > 0).all()
    return members if even and (rails == rails[:, :1]).all() else 0


def _place_job(design: ResolvedSpec, fabric: Fabric, hosts: tuple[int, ...]) -> Placement:
    """Put a rank on every GPU of the job's hosts; where GPUs outnumber NICs, neighbours share one."""
    node = np.repeat(np.asarray(hosts, dtype=np.int32), design.gpus)
    rail = np.tile(np.arange(design.gpus) * design.rails // design.gpus, len(hosts)).astype(np.int32)
    port = fabric.port_ptr[node] + rail * fabric.planes
    if (port + fabric.planes > fabric.port_ptr[node + 1]).any():
        raise SpecError(
            "spec.too-many-ranks",
            f"a host of the job has fewer than {design.rails} NICs",
            "check hosts.rails against the fabric",
        )
    ports = port[:, None] + np.arange(fabric.planes, dtype=np.int32)
    return Placement(ports.astype(np.int32), node, rail, "order", 0)


def _assumptions(job: JobSpec, design: ResolvedSpec, width: int, members: int) -> tuple[str, ...]:
    texts = [
        f"gradients of {width} bytes each, reduced once per step among GPUs that hold the same parameters",
        "ranks count tensor-parallel first, then data-parallel, then pipeline stages, host by host",
    ]
    if members == 0:
        texts.append("groups do not divide into hosts evenly: one ring per group, inside hosts where it can")
    if design.gpus > design.rails:
        texts.append(f"{design.gpus} GPUs share {design.rails} NICs per host")
    if job.tensor_parallel > 1:
        texts.append("tensor-parallel and pipeline traffic is not simulated; the declared utilisation covers it")
    return tuple(texts)
