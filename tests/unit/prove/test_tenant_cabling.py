from __future__ import annotations

from dataclasses import replace

from tests import tenant_files as make
from tests.fabrics import make_fabric
from weftline.kernels.column import NIL
from weftline.model.fabric import Fabric, NodeKind
from weftline.model.isolation import NOBODY, Owners
from weftline.model.observed import ObservedDevice
from weftline.model.observed_port import ObservedPort
from weftline.prove.tenancy.cabling import bind_files


def observe(fabric: Fabric, *, by: str) -> tuple[ObservedDevice, ...]:
    """Let every switch have a file that tells its ports by number, or by whom they face."""
    return tuple(
        ObservedDevice(
            fabric.node_name[node], "switch", "any", (), covers=make.COVERS,
            ports=tuple(
                tell(fabric, node, port, by)
                for port in range(int(fabric.port_ptr[node]), int(fabric.port_ptr[node + 1]))
            ),
        )
        for node in map(int, fabric.switch_node)
    )  # fmt: skip


def tell(fabric: Fabric, node: int, port: int, by: str) -> ObservedPort:
    name, number, peer = fabric.node_name[node], int(fabric.port_number[port]), int(fabric.port_peer[port])
    made = make.make_port(name, f"swp{number}")
    if by == "number":
        return replace(made, number=make.say(name, "alias", number))
    words = "" if peer == NIL else f"{by}{fabric.port_name(peer)}"
    return replace(made, peer=make.say(name, "description", words))


def test_ports_are_found_by_number_and_by_whom_they_face() -> None:
    fabric = make_fabric("rail-optimised", hosts=4, rails=2, unit_size=2)
    owners = Owners({int(port): "red" for port in fabric.endpoint_port[:3]}, (), "premise")
    for by in ("number", "", "port 9 to "):
        files = bind_files(fabric, owners, observe(fabric, by=by), source="files")
        assert len(files.ends) == len(fabric.endpoint_port)
        assert [end.owner for end in files.ends[:4]] == ["red", "red", "red", NOBODY]
        for end in files.ends:
            assert end.port is not None
            assert end.facing == f"{end.port[0]}/{end.port[1].removeprefix('swp')}"
        cables = sum(
            fabric.node_kind[fabric.port_node[port]] == NodeKind.SWITCH
            and fabric.port_peer[port] > port
            and fabric.node_kind[fabric.port_node[fabric.port_peer[port]]] == NodeKind.SWITCH
            for port in range(fabric.port_count)
        )
        assert len(files.links) == cables
        assert all(link.a is not None and link.b is not None for link in files.links)


def test_ports_that_no_file_has_are_none() -> None:
    fabric = make_fabric("rail-optimised", hosts=4, rails=2, unit_size=2)
    owners = Owners({}, (), "premise")
    assert all(end.port is None and end.facing for end in bind_files(fabric, owners, (), source="files").ends)
    bare = tuple(replace(device, ports=()) for device in observe(fabric, by="number"))
    files = bind_files(fabric, owners, bare, source="files")
    assert all(end.port is None for end in files.ends)
    assert all(link.a is None and link.b is None for link in files.links)


def test_the_digest_is_of_the_files() -> None:
    fabric = make_fabric("rail-optimised", hosts=4, rails=2, unit_size=2)
    owners = Owners({}, (), "premise")
    one = bind_files(fabric, owners, observe(fabric, by="number"), source="files").of
    other = bind_files(fabric, owners, observe(fabric, by=""), source="files").of
    assert one != other
    assert bind_files(fabric, owners, (), source="files", of="x").of == "x"
