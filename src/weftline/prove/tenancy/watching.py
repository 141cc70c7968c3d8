"""Watching and pausing: sessions that copy a tenant's packets, and what one tenant's pauses do to others."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from operator import attrgetter

from weftline.admit.filters import RuleIndex
from weftline.model.isolation import MANAGEMENT, NOBODY
from weftline.model.observed_routing import ObservedMirror
from weftline.model.separation import EdgePort, SeparationFiles
from weftline.prove.sharing import Allowed, call_owner
from weftline.prove.tenancy.edges import name_edges
from weftline.prove.tenancy.ground import DeviceGround, Step, is_shut
from weftline.prove.tenancy.placement import Placement, Standing

_WATCHDOG = attrgetter("watchdog")


@dataclass(frozen=True, slots=True)
class Watched:
    """One endpoint whose packets a session copies."""

    end: EdgePort | None
    """None where it is a cable between switches, which carries packets of all."""
    device: str
    step: Step


def find_watched(files: SeparationFiles, placement: Placement, doubts: list[str]) -> Iterator[Watched]:
    """List the sessions that observe a port by which tenants' packets pass."""
    watching = {name for name, ground in placement.grounds.items() if ground.device.mirrors}
    held = [one for one in placement.standings if one.ground.device.name in watching]
    edges = name_edges([one for one in held if one.end.owner != MANAGEMENT])
    cabled: dict[str, dict[str, str]] = {}
    for link in files.links if watching else ():
        for end in (link.a, link.b):
            ground = placement.grounds[end[0]] if end is not None and end[0] in watching else None
            if end is not None and ground is not None:
                names = cabled.setdefault(end[0], {})
                names.setdefault(end[1], link.name)
                names.update((port.name, link.name) for port in ground.carriers(end[1]))
    for ground in placement.grounds.values():
        name = ground.device.name
        near, far = edges.get(name, {}), cabled.get(name, {})
        for mirror in ground.device.mirrors:
            yield from _judge_mirror(ground, mirror, near, far, doubts)
    for standing in placement.standings:
        if standing.end.owner != MANAGEMENT:
            for index, _ in standing.held:
                if index.mirrors:
                    yield from _tell_mirror_rules(standing, index)


def _judge_mirror(
    ground: DeviceGround,
    mirror: ObservedMirror,
    near: dict[str, Standing],
    far: dict[str, str],
    doubts: list[str],
) -> Iterator[Watched]:
    words = f"session {mirror.name} ({mirror.kind.value}) of {ground.device.name}"
    target = "" if mirror.target is None else f" to {mirror.target.value}"
    if not mirror.ports:
        if "sflow" not in mirror.kind.value.lower():
            doubts.append(f"{words} does not say which ports it observes")
        elif near or far:
            yield Watched(
                next(iter(near.values())).end if near else None, ground.device.name, _say(words, target, mirror)
            )
        return
    for said in mirror.ports:
        step = Step(f"{words} copies what passes {said.value}{target}", said.where)
        if said.value in near:
            yield Watched(near[said.value].end, ground.device.name, step)
        elif said.value in far:
            yield Watched(None, ground.device.name, Step(f"{step.says}, a cable between switches", said.where))
        elif said.value not in ground.ports:
            doubts.append(f"{words} observes {said.value}, which is no port that the files have")


def _say(words: str, target: str, mirror: ObservedMirror) -> Step:
    return Step(f"{words} samples all ports{target}", mirror.where)


def _tell_mirror_rules(standing: Standing, index: RuleIndex) -> Iterator[Watched]:
    for rule in index.mirrors:
        words = f"rule {rule.order} of filter {index.one.name} copies packets that {standing.end.facing} takes"
        yield Watched(standing.end, standing.ground.device.name, Step(words, rule.where))


def list_risks(files: SeparationFiles, placement: Placement, may: Allowed) -> list[str]:
    """Say in sentences what one tenant can still do to another, or to the switches, by these files."""
    return [*_risk_pauses(files, placement, may), *_risk_strangers(placement), *_risk_tunnels(placement)]


def _list_priorities(standing: Standing) -> frozenset[int]:
    said = (port.pauses for port in standing.carriers)
    return frozenset(priority for pauses in said if pauses is not None for priority in pauses.value)


def _risk_pauses(files: SeparationFiles, placement: Placement, may: Allowed) -> Iterator[str]:
    """Name the priorities in which owners that must not meet pause the same cables between switches."""
    senders: dict[int, set[str]] = {}
    for said, owners in _group_by_pauses(placement).items():
        for priority in said:
            senders.setdefault(priority, set()).update(owners)
    shared = _find_shared(files, placement, senders.keys())
    dogs = [
        dog
        for ground in placement.grounds.values()
        for dog in (ground.device.watchdog, *map(_WATCHDOG, ground.device.ports))
        if dog is not None
    ]
    times = {dog.detect_ms.value for dog in dogs if dog.detect_ms is not None}
    bound = f"; the watchdog bounds each pause to {max(times):,} ms" if times else "; no file bounds it by a watchdog"
    for priority in sorted(shared):
        owners = sorted(senders[priority], key=lambda owner: (owner == NOBODY, owner))
        pair = next(((a, b) for a, b in combinations(owners, 2) if not may(a, b)), None)
        if pair is not None:
            names = f"{call_owner(pair[0])} and {_call_hosts(pair[1])}"
            more = f" ({len(owners):,} owners in all)" if len(owners) > len(pair) else ""
            yield (
                f"{names}{more} share priority {priority} on the cables between switches, so hosts of one that pause "
                f"can hold up the other{bound}"
            )
    if any("pauses" not in ground.device.covers for ground in placement.grounds.values()):
        yield "of some switches no file says which priorities pause"


def _group_by_pauses(placement: Placement) -> dict[tuple[int, ...], set[str]]:
    """Map priorities that hosts may pause to the owners of those hosts."""
    found: dict[tuple[int, ...], set[str]] = {}
    for standing in placement.standings:
        for port in standing.carriers:
            if port.pauses is not None:
                owners = found.get(port.pauses.value)
                if owners is None:
                    owners = found[port.pauses.value] = set()
                owners.add(standing.end.owner)
    return found


def _find_shared(files: SeparationFiles, placement: Placement, wanted: Collection[int]) -> set[int]:
    """Find which of some priorities are paused on cables between switches."""
    shared: set[int] = set()
    for link in files.links:
        if len(shared) == len(wanted):  # mostly the first cable has them all
            break
        for end in (link.a, link.b):
            ground = None if end is None else placement.grounds.get(end[0])
            port = None if ground is None or end is None else ground.ports.get(end[1])
            if port is not None and port.pauses is not None:
                shared.update(priority for priority in port.pauses.value if priority in wanted)
    return shared


def _call_hosts(owner: str) -> str:
    return "hosts of no tenant" if owner == NOBODY else call_owner(owner)


def _risk_strangers(placement: Placement) -> Iterator[str]:
    """Name ports of no tenant whose pauses or marks are taken."""
    trusting = [
        standing
        for standing in placement.standings
        if standing.end.owner == NOBODY
        and (_list_priorities(standing) or any(_trusts(port.trust) for port in standing.carriers))
    ]
    if trusting:
        more = f" ({len(trusting):,} such ports)" if len(trusting) > 1 else ""
        yield f"{trusting[0].end.facing} takes pauses or DSCPs of {trusting[0].end.name}, which is no tenant's{more}"
    known: dict[str, dict[str, Standing]] | None = None
    for ground in placement.grounds.values():
        dark = [
            port.name
            for port in ground.device.ports
            if port.peer is None and not is_shut(port) and port.is_up is not None and port.pauses is not None
            and port.pauses.value
        ]  # fmt: skip
        if dark:
            known = name_edges(placement.standings) if known is None else known
            names = known.get(ground.device.name, {})
            dark = [name for name in dark if name not in names]
        if dark:
            yield f"{ground.device.name}/{dark[0]} is up, faces nobody that is declared, and its pauses are taken"
            return


def _trusts(trust: object) -> bool:
    return getattr(trust, "value", None) in {"dscp", "both"}


def _risk_tunnels(placement: Placement) -> Iterator[str]:
    """Say where only the VRF keeps made-up tunnel packets off, for some ASICs take them from any VRF."""
    bare = [
        standing.end.facing
        for standing in placement.standings
        if standing.ground.device.tunnel is not None
        and "filters" not in standing.ground.device.covers
        and standing.end.owner != MANAGEMENT
    ]
    if bare:
        yield (
            f"the files of {len(bare):,} edge ports, {bare[0]} first, cannot say filters against UDP to the tunnel "
            "port: the VRF alone keeps them from tunnel ends, which holds where the ASIC ends tunnels in the default "
            "VRF only"
        )


def list_uncovered(files: SeparationFiles, placement: Placement) -> Iterator[str]:
    """Name what files do not cover, could not be read, or nobody here understands."""
    edge = {standing.ground.device.name for standing in placement.standings}
    cabled = {end[0] for link in files.links for end in (link.a, link.b) if end is not None}
    concerned = edge | cabled
    missing: dict[str, list[str]] = {}
    unread: dict[str, list[str]] = {}
    broken: list[str] = []
    for ground in placement.grounds.values():
        device = ground.device
        if device.name not in concerned:
            continue
        for topic in sorted({"ports", "tenancy", "routing", "mirrors"} | ({"filters"} & _need(device.name, edge))):
            if topic not in device.covers:
                missing.setdefault(topic, []).append(device.name)
        for table, _ in device.unread:
            unread.setdefault(table, []).append(device.name)
        broken.extend(f"{device.name}: {problem.message}" for problem in device.problems if problem.severity != "note")
    yield from _name("the files of {} do not say anything of {}", missing)
    yield from _name("the files of {} have {}, which nobody here reads", unread)
    if broken:
        more = f", one of {len(broken):,} such problems" if len(broken) > 1 else ""
        yield f"{broken[0]}{more}"


def _need(name: str, edge: set[str]) -> set[str]:
    return {"filters"} if name in edge else set()


def _name(form: str, found: dict[str, list[str]]) -> Iterator[str]:
    for topic, devices in found.items():
        more = f" and {len(devices) - 1:,} more" if len(devices) > 1 else ""
        yield form.format(f"{devices[0]}{more}", topic)


def first_few(words: Iterable[str], most: int = 5) -> tuple[str, ...]:
    """Keep the first few sentences and count the others."""
    kept = tuple(dict.fromkeys(words))
    return kept if len(kept) <= most else (*kept[:most], f"{len(kept) - most:,} more such doubts")
