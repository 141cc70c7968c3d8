from __future__ import annotations

import numpy as np
import pytest

from tests.fabrics import make_fabric
from weftline.rehearse.names import Index, name_links, name_ports

FABRIC = make_fabric("rail-optimised", hosts=8, rails=2, ports=8, planes=2)


@pytest.mark.parametrize(
    ("text", "many"),
    [
        ("leaf-001", 16),
        ("leaf-001/1", 2),
        ("leaf-001/1~host-0001/nic1p1", 2),
        ("host-0001/nic1p1~leaf-001/1", 2),
        ("host-0001", 8),
        ("host-0001/nic2p*", 4),
        ("leaf-00[12]/1", 4),
        ("leaf-*/1 ", 2 * sum(name.startswith("leaf") for name in FABRIC.node_name)),
    ],
)
def test_names_mean_ports_and_their_peers(text: str, many: int) -> None:
    ports = Index(FABRIC).find(text)
    assert ports is not None
    assert len(ports) == many
    assert set(FABRIC.port_peer[ports].tolist()) == set(ports.tolist())


@pytest.mark.parametrize(
    "text", ["", "leaf-1", "leaf-001/99", "leaf-001/1~leaf-002/1", "/", "~", "[", "*" * 9, "a" * 300]
)
def test_what_nothing_is_called(text: str) -> None:
    assert Index(FABRIC).find(text) is None


def test_many_names_are_those_of_the_fabric() -> None:
    ports = np.flatnonzero(FABRIC.port_peer >= 0).astype(np.int32)
    assert name_ports(FABRIC, ports) == [FABRIC.port_name(int(port)) for port in ports]
    assert name_links(FABRIC, FABRIC.endpoint_port[:1])[0].startswith("leaf-001/")
