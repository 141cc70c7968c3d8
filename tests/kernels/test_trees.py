from __future__ import annotations

import pytest

from tests.fabrics import make_fabric
from tests.kernels.reference.trees import count_pods, next_device
from tests.unit.route.walks import members
from weftline.route import compute_routes


@pytest.mark.parametrize("half", [1, 2, 3, 4])
def test_a_full_tree_of_three_tiers_matches_the_twin(half: int) -> None:
    pods = count_pods(half)
    fabric = make_fabric("fat-tree", hosts=pods * half * half, ports=2 * half, tiers=3)
    devices: list[tuple[object, ...]] = []
    devices += [("leaf", pod, leaf) for pod in range(pods) for leaf in range(half)]
    devices += [("spine", pod, position) for pod in range(pods) for position in range(half)]
    devices += [("core", position, index) for position in range(half) for index in range(half)]
    hosts = [(pod, leaf, place) for pod in range(pods) for leaf in range(half) for place in range(half)]
    assert len(devices) == len(fabric.switch_node)
    every = [("host", *host) for host in hosts] + devices
    routes = compute_routes(fabric, "fat-tree", to_switches=False)
    for row, device in enumerate(devices):
        for goal, host in enumerate(hosts):
            ports = members(routes, row, goal)
            assert ports is not None
            assert [every[fabric.port_node[fabric.port_peer[port]]] for port in ports] == [
                next_device(device, host, half)
            ]
