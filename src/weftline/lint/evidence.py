"""Rules on evidence: what running devices counted, held against what is configured."""

from __future__ import annotations

from collections.abc import Iterator

from weftline.errors import Place
from weftline.headroom.sorting import find_paused_groups, get_group
from weftline.kernels.column import NIL
from weftline.lint.rule import Hit, LintSource, Rule, gather
from weftline.model.observed import Evidence, ObservedDevice
from weftline.model.observed_port import ObservedPort

DROPS = {
    "group-drops": "ingress group {key} dropped {value:,} packets",
    "queue-drops": "queue {key} dropped {value:,} packets",
    "storm-drops": "the watchdog dropped {value:,} packets of queue {key}",
}
FULL = 0.9
"""From this share of the headroom on there is little left."""


def _find(device: ObservedDevice, kind: str) -> Iterator[tuple[ObservedPort | None, Evidence]]:
    ports = {port.name: port for port in device.ports}
    for item in device.evidence:
        if item.kind == kind:
            yield ports.get(item.port), item


def _judge_headroom(source: LintSource) -> Iterator[Hit]:
    """A headroom that was full has lost packets, or is about to."""
    for device in source.switches:
        for port, item in _find(device, "headroom-watermark"):
            group = None if port is None else get_group(port, item.key)
            said = None if group is None else group.xoff_bytes
            if said is None or said.value == 0 or item.value < FULL * said.value:
                continue
            is_over = item.value >= said.value
            words = (
                f"group {item.key} held {item.value:,} B in its headroom of {said.value:,} B ({said.where}): "
                f"{'it was exceeded' if is_over else 'nearly full'}"
            )
            right = "more headroom: a longer cable or a slower peer than was reckoned with"
            yield Hit(device.name, words, item.where, right, (item.port,), "critical" if is_over else "warning")


def _judge_drops(source: LintSource) -> Iterator[Hit]:
    for device in source.devices:
        for kind, words in DROPS.items():
            found: list[tuple[ObservedPort, str, Place, str]] = []
            for port, item in _find(device, kind):
                if port is None or item.value == 0:
                    continue
                if kind == "group-drops" and item.key not in find_paused_groups(port):
                    continue
                right = "see the findings on this port; a lossless class must drop nothing"
                found.append((port, words.format(key=item.key, value=item.value), item.where, right))
            yield from gather(found, device.name)


def _judge_storms(source: LintSource) -> Iterator[Hit]:
    for device in source.switches:
        for _, item in _find(device, "storms-detected"):
            if item.value:
                words = f"the watchdog found {item.value:,} pause storms on queue {item.key}"
                right = "the NIC behind this port: its receive buffers, its driver, its host"
                yield Hit(device.name, words, item.where, right, (item.port,))


def _judge_pauses(source: LintSource) -> Iterator[Hit]:
    """Pauses on a priority that is not lossless stop traffic for nothing."""
    for device in source.switches:
        for kind in ("pause-received", "pause-sent"):
            found: list[tuple[ObservedPort, str, Place, str]] = []
            for port, item in _find(device, kind):
                if port is None or port.pauses is None or item.key == NIL or not item.value:
                    continue
                if item.key not in port.pauses.value:
                    way = "came in" if kind == "pause-received" else "went out"
                    words = f"{item.value:,} pauses of priority {item.key} {way}, and it is not lossless here"
                    found.append((port, words, item.where, "the same lossless priorities at both ends"))
            yield from gather(found, device.name)


RULES = (
    Rule("evidence.headroom", "critical", _judge_headroom, "SAI XOFF_ROOM_WATERMARK against the profile's xoff"),
    Rule("evidence.drops", "critical", _judge_drops, "NVIDIA/daqiri issue 250: look at the counters per priority"),
    Rule("evidence.storms", "warning", _judge_storms, "SIGCOMM 2016, section 4.3: a NIC's pause storm"),
    Rule("evidence.stray-pauses", "warning", _judge_pauses, "pfc_enable differs from what the peer sends"),
)
