"""Ports by what files call them: node GUID and number, port GUID, or LID, to the name that people use."""

from __future__ import annotations

from dataclasses import dataclass, field

from weftline.formats.eui import format_guid
from weftline.kernels.column import NIL
from weftline.model.adoption import Adoption


@dataclass(frozen=True, slots=True)
class PortNames:
    """Where each port of the adopted fabric is found again."""

    adoption: Adoption | None
    of_guid: dict[int, int]
    """Port of an endpoint by its port GUID."""
    of_switch: dict[tuple[int, int], int]
    """Port of a switch by its node GUID and number."""
    of_lid: dict[int, int]
    """Port of an endpoint by its base LID."""
    switch_of_lid: dict[int, int] = field(default_factory=dict[int, int])
    """Node GUID of a switch by its LID."""

    def find(self, node: int, number: int, port_guid: int = 0, lid: int = NIL) -> int:
        """Return the port of the fabric that a file means; NIL where the fabric has none."""
        if port_guid in self.of_guid:
            return self.of_guid[port_guid]
        port = self.of_switch.get((node or self.switch_of_lid.get(lid, 0), number), NIL)
        return port if port != NIL or lid == NIL else self.of_lid.get(lid, NIL)

    def say(self, node: int, number: int, port_guid: int = 0, lid: int = NIL) -> str:
        """Name a port as the fabric does, else as the file does."""
        port = self.find(node, number, port_guid, lid)
        if port != NIL and self.adoption is not None:
            return self.adoption.fabric.port_name(port)
        if port_guid and not node:
            return f"port {format_guid(port_guid)}"
        return f"node {format_guid(node)} port {number}" if node else f"LID {lid}"


def name_ports(adoption: Adoption | None) -> PortNames:
    """Index the ports of a fabric; without one every port is named as its file does."""
    if adoption is None:
        return PortNames(None, {}, {}, {})
    fabric, ids = adoption.fabric, adoption.addresses
    endpoints = fabric.endpoint_port.tolist()
    of_guid = {int(ids.port_id[port]): port for port in endpoints if int(ids.port_id[port])}
    of_lid = {int(ids.port_address[port]): port for port in endpoints if int(ids.port_address[port]) > 0}
    of_switch = {
        (int(ids.node_id[node]), int(fabric.port_number[port])): port
        for node in fabric.switch_node.tolist()
        for port in range(int(fabric.port_ptr[node]), int(fabric.port_ptr[node + 1]))
    }
    switch_of_lid = {
        int(ids.node_address[node]): int(ids.node_id[node])
        for node in fabric.switch_node.tolist()
        if int(ids.node_address[node]) > 0
    }
    return PortNames(adoption, of_guid, of_switch, of_lid, switch_of_lid)
