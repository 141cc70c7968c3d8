"""A complete ``startup.yaml`` for one switch, in the spelling of its release."""

from __future__ import annotations

from weftline.formats.settings import Settings, write_settings
from weftline.model.artifact import Artifact
from weftline.model.intent import ClassIntent, DeviceIntent, PortIntent, QueueIntent, RoutingIntent
from weftline.vendors.nvue.file import NAME
from weftline.vendors.nvue.spelling import Spelling, read_release
from weftline.vendors.nvue.tenants import make_filters, make_tunnel, make_vrfs, name_filters
from weftline.vendors.nvue.traffic import GLOBAL, ROCE_PRIORITY

OWN = "OWN"
FEC = {"rs": "rs", "fc": "baser", "none": "off"}
HASH_KEYS = {
    "source-address": "source-ip", "target-address": "destination-ip", "protocol": "ip-protocol",
    "source-port": "source-port", "target-port": "destination-port", "ingress-port": "ingress-interface",
    "inner-source-address": "inner-source-ip", "inner-target-address": "inner-destination-ip",
    "inner-protocol": "inner-ip-protocol", "inner-source-port": "inner-source-port",
    "inner-target-port": "inner-destination-port",
}  # fmt: skip
"""What is hashed, in the words of an intent and of NVUE. NVUE reference, 'System', forwarding."""
POOL_PERCENT = 50
MIN_POLL_MS, MAX_POLL_MS = 100, 5_000
NOTE_POOLS = (
    "pools and the pause thresholds of groups are the platform's own: it makes headroom from cable-length, so of the "
    "bytes nothing is proved"
)
NOTE_WATCHDOG = "the watchdog drops, and restores by itself: neither its action nor its restore time can be set"


def unsaid(path: str) -> bool:
    """Say whether no setting of NVUE says a fact: ingress groups, bytes of buffers, lanes, most of the watchdog."""
    parts = path.split(".")
    if parts[0] == "buffers":
        return True
    if parts[0] == "ports":
        return parts[2] in {"lanes", "groups"}
    if parts[:2] == ["queues", "classes"]:
        return parts[3] in {"group", "share"}
    if parts[:2] == ["tenancy", "vrfs"]:
        return parts[-1] == "vlan"
    return path in {"queues.watchdog.poll_ms", "queues.watchdog.restore_ms", "queues.watchdog.action"}


def interface_name(number: int, ports_per_cage: int) -> str:
    """Name a port: the cage, and its part from 0 where the cage is split."""
    cage, place = divmod(number - 1, ports_per_cage)
    return f"swp{cage + 1}" + (f"s{place}" if ports_per_cage > 1 else "")


def render(intents: tuple[DeviceIntent, ...]) -> tuple[Artifact, ...]:
    """Write the file of each switch."""
    return tuple(
        Artifact(
            path=f"switches/{intent.device}/startup.yaml",
            content=("\n".join(_write_file(intent)) + "\n").encode(),
            device=intent.device,
            vendor=NAME,
        )
        for intent in intents
        if intent.role == "switch"
    )


def _write_file(intent: DeviceIntent) -> list[str]:
    platform = intent.platform
    cage = 1 if platform is None else platform.ports_per_cage
    spelling = Spelling(read_release(None if platform is None else platform.release))
    version = "Cumulus Linux {}.{}.0".format(*spelling.release)
    header: Settings = {
        "header": {
            "model": "unknown" if platform is None else platform.part,
            "nvue-api-version": "nvue_v1",
            "rev-id": "1.0",
            "version": version,
        }
    }
    exchange = intent.forwarding.exchange if intent.forwarding is not None else None
    lossless = _name_lossless(intent)
    names = {port.key: interface_name(port.key, cage) for port in intent.ports}
    settings: dict[str, Settings] = {"system": {"hostname": intent.device, **_hashing(intent, spelling)}}
    settings["interface"] = _interfaces(intent, names, cage, spelling, lossless)
    if intent.queues is not None:
        settings["qos"] = _qos(intent.queues, lossless, spelling)
    if exchange is not None:
        ports = [(names[port.key], port) for port in intent.ports]
        is_adaptive = intent.hashing is not None and intent.hashing.is_adaptive is True
        settings |= _routing(exchange, ports, spelling, is_adaptive=is_adaptive)
    if exchange is not None and intent.tenancy is not None:
        settings["vrf"] = {**settings["vrf"], **make_vrfs(exchange, intent.tenancy, spelling)}
        settings |= {"evpn": spelling.on, "nve": make_tunnel(intent.tenancy, spelling)}
        if intent.tenancy.filters:
            settings["acl"] = make_filters(intent.tenancy, spelling)
    return [
        f"# {intent.device} of fabric {intent.fabric}: settings for {version}; install as /etc/nvue.d/startup.yaml",
        f"# {NOTE_POOLS}",
        f"# {NOTE_WATCHDOG}",
        *_item(header),
        *_item({"set": settings}),
    ]


def _hashing(intent: DeviceIntent, spelling: Spelling) -> Settings:
    if intent.hashing is None:
        return {}
    fields = {HASH_KEYS[word]: spelling.yes for word in intent.hashing.fields if word in HASH_KEYS}
    return {"forwarding": {"hash-seed": intent.hashing.seed, "ecmp-hash": fields}}


def _item(settings: Settings) -> list[str]:
    """Write one item of the list of changes."""
    lines = write_settings(settings, 2)
    return [f"- {lines[0].lstrip()}", *(f"  {line}" for line in lines[1:])]


Lossless = tuple[tuple[int, ...], int | None]
"""Priorities that pause, and metres of cable."""


def _name_lossless(intent: DeviceIntent) -> dict[Lossless, str]:
    """Name one profile of pauses for each set of priorities and length; the most common is that of all ports."""
    counts: dict[Lossless, int] = {}
    for port in intent.ports:
        kind = (port.pause_priorities or (), port.length_m)
        counts[kind] = counts.get(kind, 0) + 1
    ordered = sorted(counts, key=lambda kind: (-counts[kind], kind[0], kind[1] or 0))
    return {kind: GLOBAL if place == 0 else f"fabric-{place + 1}" for place, kind in enumerate(ordered)}


def _interfaces(
    intent: DeviceIntent, names: dict[int, str], cage: int, spelling: Spelling, lossless: dict[Lossless, str]
) -> Settings:
    found: dict[str, Settings] = {}
    filters = name_filters(intent.tenancy)
    if intent.forwarding is not None and intent.forwarding.exchange is not None:
        found["lo"] = {"type": "loopback", **spelling.place(intent.forwarding.exchange.router_address)}
    if cage > 1:
        for number in sorted({(port.key - 1) // cage + 1 for port in intent.ports}):
            found[f"swp{number}"] = {"type": "swp", "link": {"breakout": {f"{cage}x": {}}}}
    for port in intent.ports:
        profile = lossless[port.pause_priorities or (), port.length_m] if intent.queues is not None else GLOBAL
        found[names[port.key]] = _interface(port, spelling, profile, filters.get(port.key))
    return found


def _interface(port: PortIntent, spelling: Spelling, profile: str, sieve: str | None) -> Settings:
    link: dict[str, Settings | str | int] = {"state": {"up" if port.is_up else "down": {}}}
    link["speed"] = f"{port.rate_gbps:g}G"
    if port.mtu is not None:
        link["mtu"] = port.mtu
    if port.fec is not None:
        link["fec"] = FEC.get(port.fec, port.fec)
    found: dict[str, Settings | str | int] = {"type": "swp", "link": link}
    if port.peer:
        found["description"] = port.peer
    if port.address is not None or port.vrf is not None:
        found |= spelling.place(port.address, port.vrf)
    if sieve is not None:
        found["acl"] = {sieve: {"inbound": {}}}
    qos: dict[str, Settings] = {}
    if profile != GLOBAL:
        qos["pfc"] = {"profile": profile}
    if port.watched_priorities:
        # Switches of the ``qos`` tree keep ``enable`` in all releases.
        qos["pfc-watchdog"] = {"state": "enable"}
    return found | {"qos": qos} if qos else found


def _qos(queues: QueueIntent, lossless: dict[Lossless, str], spelling: Spelling) -> Settings:
    paused = sorted({priority for priorities, _ in lossless for priority in priorities})
    found: dict[str, Settings] = {}
    if paused == [ROCE_PRIORITY]:
        found["roce"] = {**spelling.on, "mode": "lossless"}
    dscps = sorted((dscp, item.key) for item in queues.classes for dscp in item.dscps)
    found["mapping"] = {GLOBAL: {"trust": "l3", "dscp": {str(dscp): {"switch-priority": key} for dscp, key in dscps}}}
    by_key = {str(item.key): {"traffic-class": item.queue} for item in queues.classes}
    found["egress-queue-mapping"] = {GLOBAL: {"switch-priority": by_key}}
    by_queue = sorted(queues.classes, key=lambda item: item.queue)
    found["egress-scheduler"] = {GLOBAL: {"traffic-class": {str(item.queue): _schedule(item) for item in by_queue}}}
    found["congestion-control"] = {GLOBAL: {"traffic-class": {str(item.queue): _marks(item) for item in by_queue}}}
    found["pfc"] = {name: _pauses(*kind) for kind, name in lossless.items()}
    if paused:
        found["traffic-pool"] = {
            "default-lossy": {"memory-percent": 100 - POOL_PERCENT},
            "roce-lossless": {
                "memory-percent": POOL_PERCENT,
                "switch-priority": {str(priority): {} for priority in paused},
            },
        }
    if queues.watchdog is not None:
        found["pfc-watchdog"] = _watchdog(queues.watchdog.detect_ms, queues.watchdog.poll_ms)
    return found


def _schedule(item: ClassIntent) -> Settings:
    found: dict[str, Settings | str | int] = {"mode": "strict" if item.schedule == "strict" else "dwrr"}
    return found if item.weight is None else found | {"bw-percent": item.weight}


def _marks(item: ClassIntent) -> Settings:
    """A class without marks says so: the preset marks queues 0 and 3."""
    if item.mark_min_bytes is None or item.mark_max_bytes is None or item.mark_percent is None:
        return {"ecn": "disable", "red": "disable"}
    return {
        "ecn": "enable",
        "red": "disable",
        "min-threshold": item.mark_min_bytes,
        "max-threshold": item.mark_max_bytes,
        "probability": item.mark_percent,
    }


def _pauses(priorities: tuple[int, ...], length: int | None) -> Settings:
    found: dict[str, Settings | str | int] = {"switch-priority": {str(priority): {} for priority in priorities}}
    found |= {"tx": "enable", "rx": "enable"} if priorities else {}
    return found if length is None else found | {"cable-length": length}


def _watchdog(detect: int, poll: int) -> Settings:
    """A pause is endless after whole intervals only, so an interval that does not divide the time gives way."""
    fits = detect % poll == 0 and MIN_POLL_MS <= poll <= MAX_POLL_MS
    return {"polling-interval": poll if fits else detect, "robustness": detect // poll if fits else 1}


def _routing(
    exchange: RoutingIntent, ports: list[tuple[str, PortIntent]], spelling: Spelling, *, is_adaptive: bool
) -> dict[str, Settings]:
    rules: dict[str, Settings] = {}
    for place, network in enumerate(exchange.announced):
        match: Settings = {network: {} if network.endswith("/32") else {"max-prefix-len": 32}}
        rules[str(10 * (place + 1))] = {"action": "permit", "match": match}
    policy: Settings = {
        "prefix-list": {OWN: {"rule": rules}},
        "route-map": {OWN: {"rule": {"10": {"action": {"permit": {}}, "match": {"ip-prefix-list": OWN}}}}},
    }
    bgp: Settings = {
        **spelling.on,
        "autonomous-system": exchange.number,
        "router-id": exchange.router_address.partition("/")[0],
    }
    family: dict[str, Settings | str | int] = {
        **spelling.on,
        "multipaths": {"ebgp": exchange.width},
        "redistribute": {"connected": {**spelling.on, "route-map": OWN}},
    }
    wide = [network for network in exchange.announced if not network.endswith("/32")]
    if wide:
        family["aggregate-route"] = {network: {"summary-only": spelling.yes} for network in wide}
    evpn: Settings = {"address-family": {"l2vpn-evpn": {**spelling.on}}} if exchange.carries_tenants else {}
    neighbours: dict[str, Settings] = {
        name: {"type": "unnumbered", "remote-as": port.neighbour_number, **evpn}
        for name, port in ports
        if port.neighbour_number is not None
    }
    process: dict[str, Settings | str | int] = {
        **spelling.on,
        "path-selection": {"multipath": {"aspath-ignore": spelling.yes}},
        "address-family": {"ipv4-unicast": family, **({"l2vpn-evpn": {**spelling.on}} if evpn else {})},
    }
    if neighbours:
        process["neighbor"] = neighbours
    router: dict[str, Settings] = {"policy": policy, "bgp": bgp}
    if is_adaptive:
        router["adaptive-routing"] = spelling.on
    return {"router": router, "vrf": {"default": {"router": {"bgp": process}}}}
