"""What a lab makes: a namespace per device, a pair of virtual ports per cable, and the programs of each switch."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from weftline.errors import CapabilityError, Problem
from weftline.formats.config_db import Tables, read_tables
from weftline.formats.ipv4 import format_ipv4
from weftline.formats.lines import Reading
from weftline.kernels.column import NIL
from weftline.labs.netns.sieving import write_filters
from weftline.model.fabric import NodeKind
from weftline.model.intent import FactValue
from weftline.model.lab import LabDesign, LabDevice

PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")
INTERFACE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,14}")
"""Names that the kernel takes for an interface: fewer than 16 bytes. linux/if.h, IFNAMSIZ."""
MAC = re.compile(r"[0-9a-f]{2}(?::[0-9a-f]{2}){5}")
FRAME_MTU = 9216
TUNNEL_MTU = FRAME_MTU - 50
"""Without the outer headers of VXLAN over IPv4. RFC 7348, 5."""
MOST_RESOLVED = 128
"""Links up to which neighbours find each other: the kernel keeps 512 of all namespaces together for longer than five
seconds, and never more than 1,024 (net.ipv4.neigh.default.gc_thresh2 and 3), and each link has two. ip(7), arp(7)."""
SWITCH_SETTINGS = {
    # A router whose unnumbered sessions find each other at once, that hashes ports too, and leaves dead links out.
    "net.ipv6.conf.all.accept_dad": "0",
    "net.ipv6.conf.default.accept_dad": "0",
    "net.ipv4.ip_forward": "1",
    "net.ipv6.conf.all.forwarding": "1",
    "net.ipv4.fib_multipath_hash_policy": "1",
    "net.ipv4.conf.all.rp_filter": "0",
    "net.ipv4.conf.default.rp_filter": "0",
    "net.ipv4.conf.all.ignore_routes_with_linkdown": "1",
    "net.ipv4.conf.default.ignore_routes_with_linkdown": "1",
}
HOST_SETTINGS = {"net.ipv6.conf.all.accept_dad": "0", "net.ipv6.conf.default.accept_dad": "0"}


@dataclass(frozen=True, slots=True)
class End:
    """One end of a link: its namespace, its interface there, and its port of the fabric."""

    namespace: str
    interface: str
    mtu: int
    port: int
    mac: str
    mark: int
    """The byte with DSCP and ECN bits that its RDMA packets carry."""


@dataclass(frozen=True, slots=True)
class Link:
    """One cable."""

    near: End
    far: End


@dataclass(slots=True)
class Namespace:
    """One device, or one VRF of a switch: what its kernel is told, and the commands of ``ip`` that run in it."""

    name: str
    device: str
    node: int
    is_switch: bool
    """Whether daemons run in it; those of a VRF run in its switch."""
    settings: dict[str, str] = field(default_factory=dict[str, str])
    commands: list[str] = field(default_factory=list[str])
    vrfs: dict[str, str] = field(default_factory=dict[str, str])
    """Namespace of each VRF by its name."""
    filters: str = ""
    """What is dropped where packets come in, as a script of ``nft``."""
    tunnel_source: str = ""
    """Where a switch unpacks tunnels."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Everything that stands in a lab."""

    namespaces: Mapping[str, Namespace]
    """By the name of the device."""
    links: tuple[Link, ...]
    ends: Mapping[int, End]
    """By port of the fabric."""

    @property
    def spaces(self) -> Mapping[str, Namespace]:
        """The namespaces by their own names."""
        return {space.name: space for space in self.namespaces.values()}


def lay_out(design: LabDesign) -> Layout:
    """Say what to make of a design.

    Raises:
        CapabilityError: ``capability.lab-files`` when the rendered files do not name the interface of a port.
    """
    devices = {device.name: device for device in design.devices}
    fabric = design.fabric
    namespaces: dict[str, Namespace] = {}
    ends: dict[int, End] = {}
    for node, name in enumerate(fabric.node_name):
        is_switch = fabric.node_kind[node] == NodeKind.SWITCH
        plain = name if PLAIN.fullmatch(name) else f"device-{node}"
        one = Namespace(plain, name, node, is_switch, dict(SWITCH_SETTINGS if is_switch else HOST_SETTINGS))
        namespaces[name] = one
        one.commands.append("link set dev lo up")
        device = devices.get(name, LabDevice(name, {}, {}))
        names = _name_switch_ports(device) if is_switch else {}
        members = make_vrfs(one, read_switch(device), namespaces) if is_switch else {}
        for port in _list_ports(design, node):
            if fabric.port_peer[port] != NIL:
                end = _make_end(design, device, one, port, names)
                space = members.get(end.interface, one)
                ends[port] = replace(end, namespace=space.name)
                space.commands.append(f"link set dev {end.interface} up")
        if is_switch:
            known = {ends[port].interface for port in _list_ports(design, node) if port in ends}
            _address_switch(device, one, members, known)
            for space in {id(space): space for space in (one, *members.values())}.values():
                mine = [name for name in sorted(known) if members.get(name, one) is space]
                space.filters = write_filters(read_switch(device), mine)
        else:
            _address_host(design, device, one, ends)
    links = [
        Link(ends[port], ends[peer])
        for port, peer in enumerate(fabric.port_peer.tolist())
        if peer != NIL and port < peer
    ]
    if len(links) > MOST_RESOLVED:
        _name_neighbours(design, namespaces, links)
    return Layout(namespaces, tuple(links), ends)


def _list_ports(design: LabDesign, node: int) -> range:
    return range(int(design.fabric.port_ptr[node]), int(design.fabric.port_ptr[node + 1]))


def make_vrfs(one: Namespace, tables: Tables, namespaces: dict[str, Namespace]) -> dict[str, Namespace]:
    """Make a namespace of each VRF of a switch; returns which interface is in which.

    FRR takes a namespace for a VRF (``zebra -n``), and tunnels of a VRF end in the namespace of their switch, where
    their far ends are reached.
    """
    source = next((row["src_ip"] for row in tables.get("VXLAN_TUNNEL", {}).values() if "src_ip" in row), "")
    one.tunnel_source = source
    gates = {row["vrf_name"]: name for name, row in tables.get("VLAN_INTERFACE", {}).items() if "vrf_name" in row}
    for vrf, row in tables.get("VRF", {}).items():
        space = Namespace(f"{one.name}.{vrf}", one.device, one.node, is_switch=False, settings=dict(SWITCH_SETTINGS))
        space.commands.append("link set dev lo up")
        namespaces[space.name] = space
        one.vrfs[vrf] = space.name
        vni, gate = row.get("vni", ""), gates.get(vrf, "")
        if vni and gate and source:
            tunnel = f"vxlan{vni}"
            # Without tos inherit the outer header has DSCP 0, and what is lossless inside is not on the way.
            words = f"type vxlan id {vni} dstport 4789 local {source} nolearning tos inherit"
            one.commands += [
                f"link add name {tunnel} mtu {TUNNEL_MTU} {words}",
                f"link set dev {tunnel} netns {space.name}",
            ]
            # One address for all VRFs of a switch, as switches have it: far ends keep one per switch.
            mac = "02:58:" + one.node.to_bytes(4, "big").hex(":")
            space.commands += [
                f"link add name {gate} address {mac} mtu {TUNNEL_MTU} type bridge",
                f"link set dev {tunnel} master {gate}",
                f"link set dev {tunnel} up",
                f"link set dev {gate} up",
            ]
    rows = tables.get("INTERFACE", {})
    return {
        name: namespaces[one.vrfs[row["vrf_name"]]]
        for name, row in rows.items()
        if "|" not in name and row.get("vrf_name") in one.vrfs
    }


def _make_end(design: LabDesign, device: LabDevice, one: Namespace, port: int, names: Mapping[str, str]) -> End:
    fabric = design.fabric
    number = int(fabric.port_number[port])
    if one.is_switch:
        name = names.get(fabric.port_name(int(fabric.port_peer[port])), "")
    else:
        name = _word(device.facts, f"host.nics.{number}.device") or f"nic{number}"
    if not INTERFACE.fullmatch(name):
        raise CapabilityError(
            "capability.lab-files",
            f"the rendered files of {one.device} name no interface that leads to "
            f"{fabric.port_name(int(fabric.port_peer[port]))}",
            "the lab runs what render writes: a config_db.json with a description per port",
        )
    mtu = device.facts.get(f"ports.{number}.mtu", FRAME_MTU)
    own = _word(device.facts, f"host.nics.{number}.port_id")
    mac = own if MAC.fullmatch(own) else "02:57:" + port.to_bytes(4, "big").hex(":")
    mark = device.facts.get(f"host.nics.{number}.traffic_class")
    return End(
        one.name,
        name,
        mtu if isinstance(mtu, int) else FRAME_MTU,
        port,
        mac,
        mark if isinstance(mark, int) else 0,
    )


def _name_neighbours(design: LabDesign, namespaces: Mapping[str, Namespace], links: list[Link]) -> None:
    """Write down who stands at the far end of each link, which need not be asked for then."""
    spaces = {one.name: one for one in namespaces.values()}
    own = design.addresses.port_address
    for link in links:
        for near, far in ((link.near, link.far), (link.far, link.near)):
            address = int(own[far.port])
            name = format_ipv4(address) if address >= 0 else link_local(far.mac)
            words = f"neigh replace {name} lladdr {far.mac} dev {near.interface} nud permanent"
            spaces[near.namespace].commands.append(words)


def link_local(mac: str) -> str:
    """Make the address that the kernel gives an interface by itself. RFC 4291, appendix A."""
    raw = bytes.fromhex(mac.replace(":", ""))
    value = bytes([raw[0] ^ 2, *raw[1:3], 0xFF, 0xFE, *raw[3:]])
    return str(ipaddress.IPv6Address(bytes([0xFE, 0x80]) + bytes(6) + value))


def read_switch(device: LabDevice) -> Tables:
    """Read the tables of a switch from its rendered file."""
    problems: list[Problem] = []
    reading = Reading(f"switches/{device.name}/config_db.json", problems)
    return read_tables(device.files.get("config_db.json", b"{}"), reading)


def _name_switch_ports(device: LabDevice) -> dict[str, str]:
    """Find the interface of a switch by what it leads to, as its own file says."""
    rows = read_switch(device).get("PORT", {})
    return {row["description"]: name for name, row in rows.items() if "description" in row}


def _address_switch(
    device: LabDevice, one: Namespace, members: Mapping[str, Namespace], known: Collection[str]
) -> None:
    tables = read_switch(device)
    for key in tables.get("LOOPBACK_INTERFACE", {}):
        _, _, address = key.partition("|")
        if address:
            one.commands.append(f"address add {address} dev lo")
    for key in tables.get("INTERFACE", {}):
        interface, _, address = key.partition("|")
        if address and interface in known:
            members.get(interface, one).commands.append(f"address add {address} dev {interface}")


def _address_host(design: LabDesign, device: LabDevice, one: Namespace, ends: Mapping[int, End]) -> None:
    """Give each NIC its address, and a route of its own for what leaves from it, as the host's script does."""
    fabric, facts = design.fabric, device.facts
    for path, value in facts.items():
        if path.startswith("host.settings.") and path.endswith(".value"):
            one.settings[path.removeprefix("host.settings.").removesuffix(".value")] = str(value)
    for port in _list_ports(design, one.node):
        if port not in ends:
            continue
        number, interface = int(fabric.port_number[port]), ends[port].interface
        own = int(design.addresses.port_address[port])
        address = _word(facts, f"ports.{number}.address") or (f"{format_ipv4(own)}/31" if own >= 0 else "")
        gateway = _word(facts, f"host.nics.{number}.gateway") or (format_ipv4(own - 1) if own >= 0 else "")
        table = facts.get(f"host.nics.{number}.route_table", 100 + number)
        if address:
            one.commands += [
                f"address add {address} dev {interface}",
                f"route add default via {gateway} dev {interface} table {table}",
                f"rule add from {address.partition('/')[0]} table {table}",
            ]


def _word(facts: Mapping[str, FactValue], path: str) -> str:
    value = facts.get(path)
    return value if isinstance(value, str) else ""


def list_endpoints(design: LabDesign, layout: Layout) -> dict[int, str]:
    """List the addresses of the endpoints with a cable, by port."""
    own = design.addresses.port_address
    return {
        port: format_ipv4(int(own[port]))
        for port in design.fabric.endpoint_port.tolist()
        if port in layout.ends and own[port] >= 0
    }


def describe_endpoint(design: LabDesign, layout: Layout, port: int) -> dict[str, object]:
    """Say of an endpoint what sends packets from it: where it stands, its address, how long frames may be, its mark."""
    return {
        "namespace": layout.ends[port].namespace,
        "address": format_ipv4(int(design.addresses.port_address[port])),
        "mtu": layout.ends[port].mtu,
        "tos": layout.ends[port].mark,
    }
