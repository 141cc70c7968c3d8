"""What the files given do not answer: a silent rule is no approval where nothing could be judged."""

from __future__ import annotations

from collections.abc import Iterator

from weftline.headroom.sorting import find_priorities, get_group
from weftline.kernels.column import NIL
from weftline.lint.buffers import makes_groups
from weftline.lint.rule import LintSource, name_ports
from weftline.model.finding import Unjudged
from weftline.model.observed import ObservedDevice

_QUESTIONS = (
    ("classes", "how packets are sorted"),
    ("pauses", "which priorities pause"),
    ("buffers", "headroom and pools"),
    ("marks", "ECN"),
    ("watchdog", "the watchdog"),
    ("routing", "routes"),
)


def list_unjudged(source: LintSource) -> tuple[Unjudged, ...]:
    """List what could not be judged, with what would answer it."""
    return tuple(_find(source))


def _find(source: LintSource) -> Iterator[Unjudged]:
    if source.switches and not source.hosts and source.dscps is None:
        yield Unjudged(
            "whether the hosts send what the switches call lossless",
            "the files of a host (mlnx_qos -i DEV, show_gids, NCCL's settings), or --dscp",
        )
    nothing = [device.name for device in source.devices if not device.covers]
    if nothing:
        yield Unjudged(f"anything of {name_ports(nothing)}: nothing of their files could be read", "the whole files")
    if source.hosts and not source.switches:
        yield Unjudged("whether the switches treat what the hosts send as lossless", "the switches' configuration")
    for key, what in _QUESTIONS:
        silent = [device.name for device in source.switches if key not in device.covers]
        if silent:
            yield Unjudged(f"{what} of {name_ports(silent)}", "files of the device that say so")
    ends = {id(port) for link in source.links for _, port in (link.a, link.b)}
    alone = [
        f"{device.name}/{port.name}"
        for device in source.switches
        for port in device.ports
        if find_priorities(port) and id(port) not in ends and (port.is_up is None or port.is_up.value)
    ]
    if alone:
        yield Unjudged(
            f"the other end of {len(alone):,} ports that pause, as {alone[0]}",
            "the files of the devices at the other end, and descriptions or neighbours that name them",
        )
    made = [device.name for device in source.switches if makes_groups(device) and _pauses(device)]
    if made:
        yield Unjudged(
            f"the headroom of {name_ports(made)}, which the device looks up by speed and cable",
            "the BUFFER_PG table of the running device, as `show runningconfiguration all` prints it",
        )
    computed = [
        f"{device.name}/{port.name}"
        for device in source.switches
        for port in device.ports
        if any(group.is_computed is not None and group.is_computed.value for group in port.groups)
    ]
    if computed:
        yield Unjudged(
            f"the headroom of {len(computed):,} ports that their device computes itself, as {computed[0]}",
            "`show buffer information` or the APPL_DB of the device",
        )


def _pauses(device: ObservedDevice) -> bool:
    return any(find_priorities(port) for port in device.ports)


def say_evidence(source: LintSource) -> str:
    """Say in one sentence what watermarks show of the headroom; empty where none is given."""
    worst: tuple[float, str] | None = None
    count = 0
    for device in source.switches:
        ports = {port.name: port for port in device.ports}
        for item in device.evidence:
            if item.kind != "headroom-watermark" or item.key == NIL or item.port not in ports:
                continue
            group = get_group(ports[item.port], item.key)
            said = None if group is None else group.xoff_bytes
            if said is not None and said.value:
                count += 1
                share = item.value / said.value
                if worst is None or share > worst[0]:
                    worst = (share, f"{device.name}/{item.port} group {item.key}: {item.value:,} of {said.value:,} B")
    if worst is None:
        return ""
    state = "configured and holding" if worst[0] < 1 else "configured, and exceeded"
    return f"headroom of {count:,} groups is {state}; the fullest was {worst[1]} ({worst[0]:.0%})"
