"""What an observed device says, in the paths of an intent, so that rendered files are held against what is meant."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from weftline.admit.filters import find_dropped_port
from weftline.errors import Place
from weftline.model.intent import FactValue
from weftline.model.observed import Fact, ObservedDevice
from weftline.model.observed_port import ObservedPort, ObservedQueue
from weftline.model.observed_routing import DEFAULT_VRF, ObservedRouter
from weftline.model.said import Said


@dataclass(slots=True)
class _Facts:
    """Facts so far; one that many ports share is said once, and one that they disagree on once for each value."""

    found: dict[tuple[str, FactValue], Place] = field(default_factory=dict[tuple[str, FactValue], Place])

    def say(self, path: str, value: FactValue, where: Place) -> None:
        self.found.setdefault((path, value), where)

    def put(
        self, path: str, said: Said[int] | Said[str] | Said[float] | Said[bool] | Said[tuple[int, ...]] | None
    ) -> None:
        if said is not None and said.value != ():
            self.say(path, said.value, said.where)


def list_said(device: ObservedDevice) -> tuple[Fact, ...]:
    """List the facts of a switch whose ports are numbered; what intents have no path for is left out."""
    facts = _Facts()
    numbers = {port.name: port.number.value for port in device.ports if port.number is not None}
    sets: dict[tuple[object, ...], tuple[ObservedPort, _Facts]] = {}
    for port in device.ports:
        if port.number is None:
            continue
        _say_port(facts, f"ports.{port.number.value}", port)
        kind = _traffic_of(port)
        if kind not in sets:
            sets[kind] = (port, _Facts())
            _say_classes(sets[kind][1], port)
    _join_sets(facts, list(sets.values()))
    for router in device.routers:
        if router.vrf == DEFAULT_VRF:
            _say_router(facts, device, router, numbers)
    _say_tenancy(facts, device, numbers)
    if device.watchdog is not None:
        dog = device.watchdog
        for name, said in (("detect", dog.detect_ms), ("restore", dog.restore_ms), ("poll", dog.poll_ms)):
            facts.put(f"queues.watchdog.{name}_ms", said)
        facts.put("queues.watchdog.action", dog.action)
    return tuple(Fact(path, value, where) for (path, value), where in facts.found.items())


def _join_sets(facts: _Facts, sets: list[tuple[ObservedPort, _Facts]]) -> None:
    """Say what ports do with traffic; what one kind of port leaves out, and another says, differs."""
    paths = {path: None for _, said in sets for path, _ in said.found}
    for port, said in sets:
        for (path, value), where in said.found.items():
            facts.say(path, value, where)
        for path in sorted(paths.keys() - {path for path, _ in said.found}):
            facts.say(path, f"not said of {port.name}", port.where)


def _say_port(facts: _Facts, base: str, port: ObservedPort) -> None:
    if port.peer is None:  # a port that leads nowhere has no description
        facts.say(f"{base}.peer", "", port.where)
    facts.put(f"{base}.peer", port.peer)
    facts.put(f"{base}.is_up", port.is_up)
    facts.put(f"{base}.rate_gbps", port.rate_gbps)
    facts.put(f"{base}.mtu", port.mtu)
    facts.put(f"{base}.vrf", port.vrf)
    facts.put(f"{base}.fec", port.fec)
    if port.length_m is not None:
        facts.say(f"{base}.length_m", round(port.length_m.value), port.length_m.where)
    facts.put(f"{base}.pause_priorities", port.pauses)
    facts.put(f"{base}.watched_priorities", port.watched)
    for said in port.addresses:
        facts.put(f"{base}.address", said)


def _traffic_of(port: ObservedPort) -> tuple[object, ...]:
    """Tell apart ports that treat traffic differently; maps are shared objects, so their identity is enough."""
    maps = tuple(id(said.value) if said is not None else 0 for said in (port.class_of_dscp, port.queue_of_class))
    queues = tuple((queue.key, queue.schedule, queue.weight, queue.marks) for queue in port.queues)
    trust = port.trust.value if port.trust is not None else None
    return (*maps, trust, port.pauses.value if port.pauses is not None else None, queues)


def _say_classes(facts: _Facts, port: ObservedPort) -> None:
    if port.class_of_dscp is None or port.trust is None or port.trust.value not in {"dscp", "both"}:
        return  # a map that no packet is sorted by says nothing
    members: dict[int, list[int]] = {}
    for dscp, number in sorted(port.class_of_dscp.value.items()):
        members.setdefault(number, []).append(dscp)
    queues = {queue.key: queue for queue in port.queues}
    for number, dscps in members.items():
        base = f"queues.classes.{number}"
        facts.say(f"{base}.dscps", tuple(dscps), port.class_of_dscp.where)
        key = number if port.queue_of_class is None else port.queue_of_class.value.get(number)
        if key is not None:
            where = port.class_of_dscp.where if port.queue_of_class is None else port.queue_of_class.where
            facts.say(f"{base}.queue", key, where)
            if key in queues:
                _say_queue(facts, base, queues[key])
        if port.pauses is not None and number in port.pauses.value:
            facts.say(f"{base}.priority", number, port.pauses.where)


def _say_queue(facts: _Facts, base: str, queue: ObservedQueue) -> None:
    facts.put(f"{base}.schedule", queue.schedule)
    facts.put(f"{base}.weight", queue.weight)
    if queue.marks is not None and queue.marks.is_marking is not None and queue.marks.is_marking.value:
        facts.put(f"{base}.mark_min_bytes", queue.marks.min_bytes)
        facts.put(f"{base}.mark_max_bytes", queue.marks.max_bytes)
        facts.put(f"{base}.mark_percent", queue.marks.percent)


def _say_router(facts: _Facts, device: ObservedDevice, router: ObservedRouter, numbers: dict[str, int]) -> None:
    base = "forwarding.exchange"
    facts.put(f"{base}.number", router.number)
    facts.put(f"{base}.width", router.width)
    if router.router_id is not None:
        facts.say(f"{base}.router_address", f"{router.router_id.value}/32", router.router_id.where)
    for peer in router.neighbours:
        if peer.name in numbers:
            facts.put(f"ports.{numbers[peer.name]}.neighbour_number", peer.number)
        evpn = next((said for said in peer.families if said.value == "evpn"), None)
        if evpn is not None:
            facts.say(f"{base}.carries_tenants", value=True, where=evpn.where)
    announced = tuple(_list_announced(device, router))
    if announced:
        facts.say(f"{base}.announced", announced, router.redistributed[0].where)


def _say_tenancy(facts: _Facts, device: ObservedDevice, numbers: dict[str, int]) -> None:
    routers = {router.vrf: router for router in device.routers}
    for vrf in device.vrfs:
        base = f"tenancy.vrfs.{vrf.name}"
        facts.put(f"{base}.vni", vrf.vni)
        router = routers.get(vrf.name)
        if router is None:
            continue
        facts.put(f"{base}.number", router.number)
        facts.put(f"{base}.rd", router.rd)
        for name, targets in (("imports", router.imports), ("exports", router.exports)):
            if targets:
                facts.say(f"{base}.{name}", tuple(said.value for said in targets), targets[0].where)
        if not any(said.value == "connected" for said in router.redistributed):
            facts.say(f"{base}.number", "a process that does not tell its routes", router.where)
    if device.tunnel is not None:
        facts.put("tenancy.tunnel_source", device.tunnel.source)
    for one in device.filters:
        bound = tuple(numbers[said.value] for said in one.ports if said.value in numbers)
        if bound and one.stage is not None and one.stage.value == "in":
            facts.say(f"tenancy.filters.{one.name}.ports", bound, one.where)
            sources = tuple(rule.source for rule in one.rules if rule.action == "permit")
            facts.say(f"tenancy.filters.{one.name}.sources", sources, one.where)
            dropped = find_dropped_port(one)
            if dropped is not None:
                facts.say(f"tenancy.filters.{one.name}.tunnel_port", *dropped)


def _list_announced(device: ObservedDevice, router: ObservedRouter) -> Iterator[str]:
    """List the networks that the sieve of connected routes lets through; it is named like its list of prefixes."""
    lists = {one.name.removeprefix("prefix-list "): one for one in device.filters}
    for said in router.redistributed:
        kind, _, sieve = said.value.partition(" via ")
        if kind == "connected" and sieve in lists:
            yield from (rule.source.partition(" ")[0] for rule in lists[sieve].rules if rule.action == "permit")
