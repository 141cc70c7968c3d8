"""One subnet written in forms whose own writers are not free to run: ibdiagnet2, NVIDIA's manager and UFM."""

from __future__ import annotations

import json

from weftline.model.discovery import Discovery, NodeRecord, PortRecord

SPEED_BITS = {"SDR": 1, "DDR": 2, "QDR": 4, "FDR": 256, "EDR": 512, "HDR": 1024, "NDR": 2048}
WIDTH_BITS = {1: 1, 4: 2, 8: 4, 12: 8, 2: 16}
KINDS = {"ca": 1, "switch": 2, "router": 3}
PORT_HEAD = (
    "NodeGuid,PortGuid,PortNum,MKey,LID,CapMsk,M_KeyLeasePeriod,LinkWidthActv,LinkWidthSup,LinkSpeedActv,LinkSpeedSup,"
    "LMC,MKeyProtBits,PortPhyState,PortState,VLCap,OpVLs,NMTU,MTUCap,PartEnfInb,PartEnfOutb,PKeyViolations,OOOSLMask"
)


def _links(discovery: Discovery) -> list[tuple[NodeRecord, PortRecord, NodeRecord]]:
    """List each link once."""
    nodes = {node.key: node for node in discovery.nodes}
    return [
        (node, port, nodes[port.peer])
        for node in discovery.nodes
        for port in node.ports
        if (node.key, port.number) < (port.peer, port.peer_number)
    ]


def _far(node: NodeRecord, port: PortRecord) -> PortRecord:
    """Return the port of the far end."""
    return next(other for other in node.ports if other.number == port.peer_number)


def write_db_csv(discovery: Discovery, key: str = "0x0000000000000000") -> bytes:
    """Write the sections of ibdiagnet2 that say what the subnet is."""
    out = ["# This database file is made for a test", "", "START_NODES"]
    out.append(
        "NodeDesc,NumPorts,NodeType,ClassVersion,BaseVersion,SystemImageGUID,NodeGUID,PortGUID,DeviceID,PartitionCap"
    )
    for node in discovery.nodes:
        first = node.guid if node.kind == "switch" else node.ports[0].guid
        out.append(
            f'"{node.description}",{node.port_count},{KINDS[node.kind]},1,1,0x{node.guid:016x},0x{node.guid:016x},'
            f"0x{first:016x},54002,64"
        )
    out += ["END_NODES", "", "", "START_PORTS", PORT_HEAD]
    for node in discovery.nodes:
        if node.kind == "switch":
            head = f"0x{node.guid:016x},0x{node.guid:016x}"
            out.append(f"{head},0,{key},{node.lid},1207979080,15,0,0,0,0,0,0,5,4,4,4,5,5,0,0,0,N/A")
        for port in node.ports:
            guid = node.guid if node.kind == "switch" else port.guid
            words = f"{WIDTH_BITS[port.width]},19,{SPEED_BITS[port.speed]},3841"
            lid, own = (0, "0x0000000000000000") if node.kind == "switch" else (port.lid, key)
            protection = 0 if node.kind == "switch" else 1
            out.append(
                f"0x{node.guid:016x},0x{guid:016x},{port.number},{own},{lid},0,0,{words},0,{protection},5,4,4,3,5,5,1,1,0,N/A"
            )
    out += ["END_PORTS", "", "START_LINKS", "NodeGuid1,PortNum1,NodeGuid2,PortNum2"]
    for node, port, peer in _links(discovery):
        out.append(f"0x{node.guid:016x},{port.number},0x{peer.guid:016x},{port.peer_number}")
    out += ["END_LINKS", "", "START_SWITCHES", "NodeGUID,LinearFDBCap,RandomFDBCap,MCastFDBCap,LinearFDBTop,PartEnfCap"]
    out += [f"0x{node.guid:016x},49152,0,16384,100,32" for node in discovery.nodes if node.kind == "switch"]
    out += ["END_SWITCHES", "", "START_PHY_DB7", "NodeGuid,PortNum,field0", "0x1,1,5", "END_PHY_DB7", ""]
    return "\n".join(out).encode()


def write_smdb(discovery: Discovery) -> bytes:
    """Write the database of NVIDIA's manager, padded as it is there."""
    out = ["START_NODES", "NodeGUID            , NodeType, NodeDesc"]
    out += [f'0x{node.guid:016x}  ,        {KINDS[node.kind]}, "{node.description}"   ' for node in discovery.nodes]
    out += ["END_NODES", "", "START_PORTS"]
    out.append("PortGUID, NodeGUID, LID, PortNum, PortLabel, PortState, LinkWidth, LinkSpeed, Status, Timestamp")
    for node in discovery.nodes:
        if node.kind == "switch":
            out.append(f"0x{node.guid:016x}, 0x{node.guid:016x}, {node.lid},   0, , 4, , , OK, 0")
        for port in node.ports:
            guid, lid = (node.guid, 0) if node.kind == "switch" else (port.guid, port.lid)
            out.append(
                f"0x{guid:016x}, 0x{node.guid:016x},  {lid},  {port.number}, p, 4, {port.width}x, {port.speed}, OK, 0"
            )
    out += ["END_PORTS", "", "START_LINKS", "NodeGUID1, PortNum1, NodeGUID2, PortNum2"]
    for node, port, peer in _links(discovery):
        out.append(f"0x{node.guid:016x},  {port.number}, 0x{peer.guid:016x},  {port.peer_number}")
    out += ["END_LINKS", "", "START_SM", "PortGUID, HostName, Version, RoutingEngine, StartTime"]
    out += [
        "0x0269b4fe8caa0001, host-0001, 5.19, ar_updn, 0",
        "END_SM",
        "",
        "START_SMS",
        "PortGUID, LID, Priority, State",
    ]
    out += [
        "0x0269b4fe8caa0001, 1, 14, 3",
        "0x02b31e1525be0001, 2, 13, 2",
        "END_SMS",
        "",
        "START_SM_PORTS",
        "PortGUID,Status",
    ]
    return "\n".join([*out, "0x0269b4fe8caa0001, 1", "END_SM_PORTS", ""]).encode()


def write_ufm_ports(discovery: Discovery) -> bytes:
    """Write what UFM lists as ports."""
    rows: list[dict[str, object]] = []
    nodes = {node.key: node for node in discovery.nodes}
    for node in discovery.nodes:
        for port in node.ports:
            is_switch = node.kind == "switch"
            guid = node.guid if is_switch else port.guid
            peer = nodes[port.peer]
            far = peer.guid if peer.kind == "switch" else _far(peer, port).guid
            rows.append(
                {
                    "name": f"{guid:016x}_{port.number}", "number": port.number, "guid": f"{guid:016x}",
                    "systemID": f"{node.guid:016x}", "lid": node.lid if is_switch else port.lid,
                    "node_description": f"{node.description}:{port.number}" if is_switch else node.description,
                    "path": f"default / {'Switch' if is_switch else 'Computer'}: {node.description} / NA / 1",
                    "logical_state": "Active", "active_width": f"{port.width}x", "active_speed": port.speed,
                    "peer": f"{far:016x}_{port.peer_number}", "peer_guid": f"{far:016x}",
                }
            )  # fmt: skip
    return json.dumps(rows).encode()


def write_ufm_links(discovery: Discovery) -> bytes:
    """Write what UFM lists as links."""

    def words(node: NodeRecord, number: int) -> str:
        return f"{node.description}:{number}" if node.kind == "switch" else node.description

    return json.dumps(
        [
            {
                "source_guid": f"{node.guid:016x}", "source_port": str(port.number), "width": f"{port.width}x",
                "destination_guid": f"{peer.guid:016x}", "destination_port": str(port.peer_number),
                "source_port_node_description": words(node, port.number),
                "destination_port_node_description": words(peer, port.peer_number),
                "name": f"{node.guid:016x}_{port.number}:{peer.guid:016x}_{port.peer_number}",
            }
            for node, port, peer in _links(discovery)
        ]
    ).encode()  # fmt: skip


def write_net_dump(discovery: Discovery) -> bytes:
    """Write the port table of ibdiagnet2 of all nodes."""
    nodes = {node.key: node for node in discovery.nodes}
    lanes = {"HDR": 50, "NDR": 100, "EDR": 25}
    out: list[str] = []
    for node in discovery.nodes:
        lid = node.lid if node.kind == "switch" else node.ports[0].lid
        out += [f'"{node.description}", Mellanox, 0x{node.guid:016x}, LID {lid}']
        out += [
            "# : IB# : Sta : PhysSta : MTU : LWA : LSA : FEC : RTR : Neighbor Guid : N# : NLID : Neighbor Description"
        ]
        for port in node.ports:
            peer = nodes[port.peer]
            far = peer.lid if peer.kind == "switch" else _far(peer, port).lid
            out.append(
                f"1/{port.number} : {port.number} : ACT : LINK_UP : 5 : {port.width}x : {lanes[port.speed]} : RS : N : "
                f'0x{peer.guid:016x} : {port.peer_number} : {far} : "{peer.description}"'
            )
        out.append("")
    return "\n".join(out).encode()
