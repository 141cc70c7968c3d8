"""Networks: to which network packets for each endpoint are sent by the files, and who tells of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weftline.admit.prefix import BITS, Prefix, is_inside, overlaps, parse_prefix
from weftline.errors import Place
from weftline.formats.ipv4 import format_ipv4
from weftline.kernels.column import NIL
from weftline.kernels.reach import IS_ENDPOINT
from weftline.model.fabric import Fabric
from weftline.model.observed import ObservedDevice
from weftline.model.observed_routing import DEFAULT_VRF, ObservedRouter
from weftline.prove.speakers import Speaker, Speakers, Told
from weftline.prove.tables import Tables
from weftline.prove.tenancy.cabling import find_ports
from weftline.prove.tenancy.ground import call_vrf, is_shut


@dataclass(frozen=True, slots=True)
class Wrong:
    """One thing in the files that leads to other tables."""

    says: str
    device: str
    prefix: str
    where: Place | None


def name_prefix(prefix: Prefix) -> str:
    """Write a prefix."""
    if prefix[0] != 4:
        return str(prefix[1])
    return f"{format_ipv4(prefix[1])}/{BITS[4] - (prefix[2] - prefix[1]).bit_length()}"


def find_goals(
    fabric: Fabric, tables: Tables, speakers: Speakers, devices: Sequence[ObservedDevice]
) -> tuple[dict[int, Prefix], Wrong | None]:
    """Find by switch the widest network that packets to its endpoints are sent to, and the first thing that is wrong.

    An endpoint in a VRF is reached by the end of the tunnel of its switch. O(endpoints * networks of a switch).
    """
    find = find_ports(fabric, [device for device in devices if device.role == "switch"])
    found: dict[int, Prefix] = {}
    seen: set[tuple[int, str]] = set()
    for d in np.flatnonzero((tables.target_kind == IS_ENDPOINT) & (tables.target_row != NIL)).tolist():
        row, end = int(tables.target_row[d]), int(tables.target_port[d])
        speaker = speakers.by_row[row]
        ref = find(int(fabric.port_peer[end]))
        name = fabric.port_name(end)
        if speaker is None or ref is None or ref[1] not in speaker.ports:
            return found, Wrong(f"no file has the port that faces {name}", fabric.port_name(end), "", None)
        vrf = speaker.home_of(ref[1])
        if vrf != DEFAULT_VRF and (row, vrf) in seen and not is_shut(speaker.ports[ref[1]]):
            continue
        seen.add((row, vrf))
        goal, wrong = _find_network(speaker, ref[1], vrf, name)
        if goal is None:
            return found, wrong
        if row not in found or is_inside(found[row], goal):
            found[row] = goal
    return found, None


def _find_network(speaker: Speaker, port: str, vrf: str, end: str) -> tuple[Prefix | None, Wrong | None]:
    """Find the network by which others reach one endpoint: as wide as the switch tells of it."""
    device, said = speaker.device, speaker.ports[port]
    if vrf == DEFAULT_VRF:
        own = [prefix for one in said.addresses if (prefix := parse_prefix(one.value)) is not None]
        where, goal = said.where, own[0] if own else None
    else:
        source = None if device.tunnel is None else device.tunnel.source
        goal = None if source is None else parse_prefix(source.value.partition("/")[0])
        where = said.where if device.tunnel is None else device.tunnel.where
        if (wrong := _check_vrf(speaker, vrf)) is not None:
            return None, wrong
    if is_shut(said):
        return None, Wrong(f"{port} of {device.name}, which faces {end}, is shut", device.name, "", said.where)
    if goal is None:
        return None, Wrong(f"{device.name} has no address towards {end}", device.name, "", where)
    told = next((one.prefix for one in speaker.told if is_inside(goal, one.prefix)), None)
    if told is None:
        words = f"{device.name} does not tell of {name_prefix(goal)}, by which {end} is reached"
        return None, Wrong(words, device.name, name_prefix(goal), speaker.router.where)
    return told, None


def _check_vrf(speaker: Speaker, vrf: str) -> Wrong | None:
    """Say what keeps the networks of a VRF from other switches."""
    device = speaker.device
    routers = [one for one in device.routers if one.vrf == vrf]
    tells = any(said.value in {"connected", "direct"} for one in routers for said in one.redistributed)
    if tells and any(one.exports for one in routers):
        return None
    where = routers[0].where if routers else speaker.router.where
    return Wrong(f"{call_vrf(vrf)} of {device.name} does not tell of its networks", device.name, vrf, where)


def find_strangers(speakers: Speakers) -> Wrong | None:
    """Find a network that two switches tell of: packets to it may go to either. O(networks * log networks)."""
    told = [(one, speaker) for speaker in speakers.by_row if speaker is not None for one in speaker.told]
    told.sort(key=lambda pair: (pair[0].prefix[0], pair[0].prefix[1], -pair[0].prefix[2]))
    widest: tuple[Told, Speaker] | None = None
    for one, speaker in told:
        if widest is not None and widest[1] is not speaker and overlaps(widest[0].prefix, one.prefix):
            text, other = name_prefix(one.prefix), f"{widest[1].device.name} of {name_prefix(widest[0].prefix)}"
            words = f"{speaker.device.name} tells of {text}, and {other} ({widest[0].where})"
            return Wrong(words, speaker.device.name, text, one.where)
        if widest is None or one.prefix[0] != widest[0].prefix[0] or one.prefix[2] > widest[0].prefix[2]:
            widest = one, speaker
    return None


def find_untaken(speakers: Speakers) -> Wrong | None:
    """Find a VRF that does not take what another one of its network number gives. O(VRFs)."""
    by_number: dict[int, list[tuple[Speaker, ObservedRouter]]] = {}
    for speaker in speakers.by_row:
        if speaker is None:
            continue
        numbers = {one.name: one.vni.value for one in speaker.device.vrfs if one.vni is not None}
        for router in speaker.device.routers:
            if router.vrf in numbers:
                by_number.setdefault(numbers[router.vrf], []).append((speaker, router))
    for group in by_number.values():
        given = {said.value: speaker.device.name for speaker, router in group for said in router.exports}
        for speaker, router in group:
            missing = sorted(given.keys() - {said.value for said in router.imports})
            if missing and "auto" not in given:
                words = f"{call_vrf(router.vrf)} of {speaker.device.name} does not take {missing[0]}"
                return Wrong(f"{words}, which {given[missing[0]]} gives", speaker.device.name, missing[0], router.where)
    return None
