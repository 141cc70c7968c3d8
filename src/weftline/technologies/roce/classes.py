"""Traffic classes: every table of switch and host comes from the one lossless class of the declaration."""

from __future__ import annotations

from weftline.model.intent import ClassIntent, QueueIntent, WatchdogIntent
from weftline.model.spec import LosslessSection

DSCPS = 64
MARK_MIN_BYTES = 1_048_576
MARK_MAX_BYTES = 2_097_152
MARK_PERCENT = 5
"""SONiC's own default profile (files/build_templates/qos_config.j2). One end of what is in use."""
WEIGHT = 50
"""Equal shares for the lossless class and the rest."""
WATCHDOG = WatchdogIntent(detect_ms=200, restore_ms=200, poll_ms=200, action="drop")
"""SONiC's defaults."""
ECT = 2
"""ECN-capable transport, ECT(0); without it a congested switch drops instead of marking. RFC 3168, 5."""


def make_queues(lossless: LosslessSection) -> QueueIntent:
    """Derive the classes: the rest, the lossless class, and congestion notifications ahead of both."""
    rest = rest_class(lossless)
    special = {lossless.dscp, lossless.cnp_dscp}
    classes = (
        ClassIntent(
            key=rest,
            dscps=tuple(dscp for dscp in range(DSCPS) if dscp not in special),
            group=0 if lossless.priority != 0 else rest,
            queue=rest,
            schedule="weighted",
            weight=WEIGHT,
        ),
        ClassIntent(
            key=lossless.priority,
            dscps=(lossless.dscp,),
            group=lossless.priority,
            queue=lossless.priority,
            schedule="weighted",
            priority=lossless.priority,
            weight=WEIGHT,
            mark_min_bytes=MARK_MIN_BYTES,
            mark_max_bytes=MARK_MAX_BYTES,
            mark_percent=MARK_PERCENT,
        ),
        ClassIntent(
            key=lossless.cnp_priority,
            dscps=(lossless.cnp_dscp,),
            group=0 if lossless.priority != 0 else rest,
            queue=lossless.cnp_priority,
            schedule="strict",
        ),
    )
    return QueueIntent(classes=tuple(sorted(classes, key=lambda item: item.key)), watchdog=WATCHDOG)


def rest_class(lossless: LosslessSection) -> int:
    """Choose the class of all other traffic: the lowest that is neither lossless nor for notifications."""
    return min({0, 1, 2} - {lossless.priority, lossless.cnp_priority})


def traffic_class_byte(lossless: LosslessSection) -> int:
    """Make the byte that hosts send: DSCP in the upper six bits, ECT(0) in the lower two."""
    return lossless.dscp * 4 + ECT
