"""A running configuration of Arista EOS for one switch, every line from its intent."""

from __future__ import annotations

from weftline.model.artifact import Artifact
from weftline.model.intent import ClassIntent, DeviceIntent, PortIntent, QueueIntent, RoutingIntent, WatchdogIntent
from weftline.vendors.eos.file import NAME
from weftline.vendors.eos.interfaces import LANES
from weftline.vendors.eos.tenants import (
    name_filters,
    write_family,
    write_filters,
    write_processes,
    write_tunnel,
    write_vrfs,
)

OWN = "OWN"
GROUP = "FABRIC"
PROFILE = "FABRIC"
LANE_GBPS = (25.0, 50.0, 100.0, 200.0)
ACTIONS = {"drop": "drop", "forward": "no-drop"}
GUARANTEE_KBPS = 100
NOTE_BUFFERS = (
    "headroom and pools are the platform's own: no public source shows the lines for them, so nothing is proved of them"
)
NOTE_WATCHDOG = (
    "the watchdog watches only queues with a guaranteed rate; a switch that refuses that line watches none of them"
)
FEC = {
    "rs": "error-correction encoding reed-solomon",
    "fc": "error-correction encoding fire-code",
    "none": "no error-correction encoding",
}


def unsaid(path: str) -> bool:
    """Say whether no line of EOS says a fact: cable lengths, ingress groups, buffers, lanes and hashing.

    The VLAN that joins a VRF to its network number is the switch's own choice.
    """
    parts = path.split(".")
    if parts[0] in {"buffers", "hashing"}:
        return True
    if parts[0] == "ports":
        return parts[2] in {"length_m", "lanes", "groups"}
    if parts[:2] == ["queues", "classes"]:
        return parts[3] in {"group", "share"}
    return path == "queues.watchdog.poll_ms" or (parts[:2] == ["tenancy", "vrfs"] and parts[-1] == "vlan")


def interface_name(number: int, ports_per_cage: int) -> str:
    """Name a port: the cage, and the lane that the port starts at."""
    cage, place = divmod(number - 1, ports_per_cage)
    return f"Ethernet{cage + 1}/{place * (LANES // ports_per_cage) + 1}"


def render(intents: tuple[DeviceIntent, ...]) -> tuple[Artifact, ...]:
    """Write the file of each switch."""
    return tuple(
        Artifact(
            path=f"switches/{intent.device}/running-config",
            content=("\n".join(_write_file(intent)) + "\n").encode(),
            device=intent.device,
            vendor=NAME,
        )
        for intent in intents
        if intent.role == "switch"
    )


def _write_file(intent: DeviceIntent) -> list[str]:
    cage = 1 if intent.platform is None else intent.platform.ports_per_cage
    names = {port.key: interface_name(port.key, cage) for port in intent.ports}
    exchange = intent.forwarding.exchange if intent.forwarding is not None else None
    lines = [
        f"! {intent.device} of fabric {intent.fabric}: configuration of Arista EOS",
        f"! {NOTE_BUFFERS}",
        f"! {NOTE_WATCHDOG}",
        "!",
        "service routing protocols model multi-agent",
        "!",
        f"hostname {intent.device}",
        "!",
    ]
    lines += write_vrfs(intent.tenancy)
    profiles = _name_profiles(intent)
    filters = name_filters(intent.tenancy)
    if intent.queues is not None:
        for key, name in profiles.items():
            lines += _write_profile(name, intent.queues, *key)
    for port in intent.ports:
        chosen = profiles if intent.queues is not None else {}
        lines += _write_interface(names[port.key], port, cage, chosen, filters.get(port.key))
    if exchange is not None:
        lines += ["interface Loopback0", f"   ip address {exchange.router_address}", "!"]
        lines += write_tunnel(intent.tenancy, exchange.router_address)
    lines += write_filters(intent.tenancy)
    if intent.queues is not None:
        lines += _write_maps(intent.queues)
    if exchange is not None:
        ports = [(names[port.key], port) for port in intent.ports]
        lines += [*_write_routing(exchange, ports), *write_family(exchange, intent.tenancy, GROUP)]
        lines += [*write_processes(exchange, intent.tenancy), "!"]
    return [*lines, "end"]


Pauses = tuple[tuple[int, ...] | None, tuple[int, ...] | None]


def _name_profiles(intent: DeviceIntent) -> dict[Pauses, str]:
    """Name one profile for each way in which ports pause."""
    kinds = dict.fromkeys((port.pause_priorities, port.watched_priorities) for port in intent.ports)
    return {kind: PROFILE if len(kinds) == 1 else f"{PROFILE}-{place + 1}" for place, kind in enumerate(kinds)}


def _write_profile(
    name: str, queues: QueueIntent, pauses: tuple[int, ...] | None, watched: tuple[int, ...] | None
) -> list[str]:
    lines = [f"qos profile {name}", "   qos trust dscp", "   !"]
    for item in sorted(queues.classes, key=lambda item: item.queue):
        lines += [f"   tx-queue {item.queue}", *_write_schedule(item), "   !"]
    if pauses:
        lines.append("   priority-flow-control on")
        lines += [f"   priority-flow-control priority {priority} no-drop" for priority in pauses]
        if watched:
            lines.append("   priority-flow-control pause watchdog")
    return [*lines, "!"]


def _write_schedule(item: ClassIntent) -> list[str]:
    lines = ["      priority strict"] if item.schedule == "strict" else ["      no priority"]
    if item.weight is not None:
        lines.append(f"      bandwidth percent {item.weight}")
    if item.mark_max_bytes is not None:
        lines.append(
            f"      random-detect ecn minimum-threshold {item.mark_min_bytes} bytes maximum-threshold "
            f"{item.mark_max_bytes} bytes max-mark-probability {item.mark_percent} weight 0"
        )
    return lines


def _write_interface(
    name: str, port: PortIntent, cage: int, profiles: dict[Pauses, str], sieve: str | None
) -> list[str]:
    lines = [f"interface {name}"]
    if port.peer:
        lines.append(f"   description {port.peer}")
    lines.append("   no shutdown" if port.is_up else "   shutdown")
    if port.mtu is not None:
        lines.append(f"   mtu {port.mtu}")
    lines.append(f"   speed {_write_speed(port.rate_gbps, cage)}")
    if port.fec in FEC:
        lines.append(f"   {FEC[port.fec]}")
    lines.append("   no switchport")
    if port.vrf is not None:
        lines.append(f"   vrf {port.vrf}")
    if port.address is not None:
        lines.append(f"   ip address {port.address}")
    if port.neighbour_number is not None:
        lines.append("   ipv6 enable")
    if sieve is not None:
        lines.append(f"   ip access-group {sieve} in")
    kind = (port.pause_priorities, port.watched_priorities)
    if kind in profiles:
        lines.append(f"   service-profile {profiles[kind]}")
        for priority in port.watched_priorities or () if port.pause_priorities else ():
            lines += ["   !", f"   tx-queue {priority}", f"      bandwidth guaranteed {GUARANTEE_KBPS}"]
    return [*lines, "!"]


def _write_speed(rate: float, cage: int) -> str:
    """Write a rate with the lanes that carry it: those of the port, or fewer where a lane cannot run so slow."""
    lanes = next((count for count in (LANES // cage, 4, 2, 1) if rate / count in LANE_GBPS), None)
    return f"{rate:g}g" if lanes is None else f"{rate:g}g-{lanes}"


def _write_maps(queues: QueueIntent) -> list[str]:
    lines: list[str] = []
    for item in queues.classes:
        numbers = " ".join(str(dscp) for dscp in item.dscps)
        lines.append(f"qos map dscp {numbers} to traffic-class {item.key}")
    lines += [f"qos map traffic-class {item.key} to tx-queue {item.queue}" for item in queues.classes]
    # Packets that cannot be marked are not dropped by the same thresholds: a sender without ECN loses nothing more.
    lines += ["!", "qos random-detect ecn allow non-ect chip-based", "!"]
    return lines if queues.watchdog is None else [*lines, *_write_watchdog(queues.watchdog), "!"]


def _write_watchdog(watchdog: WatchdogIntent) -> list[str]:
    """The polling interval is left to the switch, which wants at most half of the shorter time."""
    base = "priority-flow-control pause watchdog"
    return [
        f"{base} default timeout {watchdog.detect_ms / 1_000:g}",
        f"{base} default recovery-time {watchdog.restore_ms / 1_000:g}",
        f"{base} action {ACTIONS.get(watchdog.action, watchdog.action)}",
    ]


def _write_routing(exchange: RoutingIntent, ports: list[tuple[str, PortIntent]]) -> list[str]:
    lines = ["ip routing ipv6 interfaces", "ipv6 unicast-routing", "!"]
    for place, network in enumerate(exchange.announced):
        tail = "" if network.endswith("/32") else " le 32"
        lines.append(f"ip prefix-list {OWN} seq {5 * (place + 1)} permit {network}{tail}")
    lines += ["!", f"route-map {OWN} permit 10", f"   match ip address prefix-list {OWN}", "!"]
    lines += [
        f"router bgp {exchange.number}",
        f"   router-id {exchange.router_address.partition('/')[0]}",
        "   no bgp default ipv4-unicast",
        "   timers bgp 3 9",
        f"   maximum-paths {exchange.width}",
        "   bgp bestpath as-path multipath-relax",
        f"   neighbor {GROUP} peer group",
    ]
    if exchange.carries_tenants:  # route targets are extended communities
        lines.append(f"   neighbor {GROUP} send-community standard extended")
    lines += [
        f"   neighbor interface {name} peer-group {GROUP} remote-as {port.neighbour_number}"
        for name, port in ports
        if port.neighbour_number is not None
    ]
    lines += ["   !", "   address-family ipv4", f"      neighbor {GROUP} activate"]
    lines.append(f"      neighbor {GROUP} next-hop address-family ipv6 originate")
    lines += [
        f"      aggregate-address {network} summary-only"
        for network in exchange.announced
        if not network.endswith("/32")
    ]
    return [*lines, f"      redistribute connected route-map {OWN}"]
