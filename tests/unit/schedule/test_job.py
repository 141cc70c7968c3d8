from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.fabrics import make_design, make_fabric
from weftline.errors import SpecError
from weftline.model.design import ResolvedSpec
from weftline.model.fabric import Fabric
from weftline.model.spec import JobSpec
from weftline.model.traffic import Via
from weftline.schedule import expand_job, job_collectives, job_pairs


def make_job(**options: Any) -> JobSpec:
    """Make a job of a small model."""
    fields: dict[str, Any] = {
        "name": "job", "parameters": 8e9, "tensor_parallel": 4, "global_batch": 64, "sequence_length": 4096,
        "utilisation": 0.4, "gpu_hour_price": 2.0, **options,
    }  # fmt: skip
    return JobSpec(**fields)


def make_case(
    hosts: int = 4, rails: int = 4, kind: str = "rail-optimised", **options: Any
) -> tuple[ResolvedSpec, Fabric]:
    """Make a design with one job, and its fabric."""
    planes = options.pop("planes", 1)
    shape: dict[str, Any] = {"hosts": hosts, "rails": rails, "ports": 16, "planes": planes}
    jobs = (make_job(**options),)
    return make_design(kind, jobs=jobs, **shape), make_fabric(kind, jobs=jobs, **shape)


def test_groups_are_the_same_local_gpu_of_every_host() -> None:
    design, fabric = make_case()
    traffic = job_collectives(design, fabric, 0)
    assert traffic.group_rank.tolist() == [[t, t + 4, t + 8, t + 12] for t in range(4)]
    assert traffic.members_per_host == 1
    assert traffic.collective.size_bytes == 8 * 10**9 // 4 * 2
    assert (traffic.collective.algorithm, traffic.collective.ranks) == ("hierarchical", 4)
    flows = expand_job(traffic)
    assert flows.count == 4 * 4 * 2 * 3
    assert (flows.via == Via.FABRIC).all()
    assert (fabric.port_rail[flows.source] == fabric.port_rail[flows.target]).all()


def test_groups_with_several_members_in_a_host_reduce_inside_first() -> None:
    design, fabric = make_case(tensor_parallel=2)
    traffic = job_collectives(design, fabric, 0)
    assert traffic.group_rank[0].tolist() == [0, 2, 4, 6, 8, 10, 12, 14]
    assert traffic.members_per_host == 2
    flows = expand_job(traffic)
    assert flows.count == 2 * 8 * (2 * 1 + 2 * 3)
    assert (flows.via == Via.HOST).sum() == 2 * 8 * 2


def test_pipeline_stages_divide_the_hosts() -> None:
    design, fabric = make_case(pipeline_parallel=2)
    traffic = job_collectives(design, fabric, 0)
    assert traffic.group_rank.tolist()[0] == [0, 4]
    assert traffic.group_rank.tolist()[4] == [8, 12]


def test_tensor_parallel_over_two_hosts_leaves_one_ring_per_rail() -> None:
    design, fabric = make_case(tensor_parallel=8)
    traffic = job_collectives(design, fabric, 0)
    assert traffic.group_rank.shape == (8, 2)
    assert traffic.members_per_host == 1
    source, target = job_pairs(design, fabric, 0)
    assert len(source) == 16
    assert (fabric.port_rail[source] == fabric.port_rail[fabric.endpoint_port[target]]).all()


def test_groups_that_do_not_divide_into_hosts_become_one_ring_each() -> None:
    design, fabric = make_case(hosts=3, rails=4, tensor_parallel=3)
    traffic = job_collectives(design, fabric, 0)
    assert traffic.members_per_host == 0
    assert traffic.collective.algorithm == "ring"
    assert any("evenly" in text for text in traffic.assumptions)
    flows = expand_job(traffic)
    assert flows.count == 3 * 4 * 2 * 3
    host = fabric.port_node
    assert ((host[flows.source] == host[flows.target]) == (flows.via == Via.HOST)).all()
    source, target = job_pairs(design, fabric, 0)
    assert (host[source] != host[fabric.endpoint_port[target]]).all()


def test_without_data_parallelism_nothing_is_sent() -> None:
    design, fabric = make_case(hosts=4, tensor_parallel=16)
    assert expand_job(job_collectives(design, fabric, 0)).count == 0
    assert [len(column) for column in job_pairs(design, fabric, 0)] == [0, 0]


def test_pairs_go_to_the_next_host_on_the_same_rail_and_plane() -> None:
    design, fabric = make_case(planes=2)
    source, target = job_pairs(design, fabric, 0)
    assert (source.dtype, target.dtype) == (np.int32, np.int32)
    port = fabric.endpoint_port[target]
    assert len(source) == 4 * 4 * 2
    assert (fabric.port_rail[source] == fabric.port_rail[port]).all()
    assert (fabric.port_plane[source] == fabric.port_plane[port]).all()
    assert ((fabric.port_node[source] + 1) % 4 == fabric.port_node[port]).all()
    assert len(set(port.tolist())) == len(port)


@pytest.mark.parametrize(("precision", "width"), [("bf16", 2), ("fp16", 2), ("fp8", 2), ("fp32", 4)])
def test_gradients_have_the_width_of_their_precision(precision: str, width: int) -> None:
    design, fabric = make_case(precision=precision)
    assert job_collectives(design, fabric, 0).collective.size_bytes == 2 * 10**9 * width


def test_degrees_that_do_not_multiply_to_the_gpus_are_refused() -> None:
    design, fabric = make_case(tensor_parallel=4, data_parallel=3)
    with pytest.raises(SpecError, match="is not 16 GPUs") as caught:
        job_collectives(design, fabric, 0)
    assert caught.value.code == "spec.parallel-degrees"


def test_a_model_beyond_all_sizes_is_refused() -> None:
    design, fabric = make_case(parameters=9e14, tensor_parallel=1, data_parallel=16, precision="fp32")
    assert job_collectives(design, fabric, 0).collective.size_bytes == 36 * 10**14
    huge = design.spec.jobs[0].model_copy(update={"parameters": 1e18})
    spec = design.spec.model_copy(update={"jobs": (huge,)})
    object.__setattr__(design, "spec", spec)
    with pytest.raises(SpecError) as caught:
        job_collectives(design, fabric, 0)
    assert caught.value.code == "spec.job-size"


def test_a_host_with_fewer_nics_than_declared_is_refused() -> None:
    design, _ = make_case()
    fabric = make_fabric("rail-optimised", hosts=4, rails=2, ports=16)
    with pytest.raises(SpecError) as caught:
        job_collectives(design, fabric, 0)
    assert caught.value.code == "spec.too-many-ranks"
