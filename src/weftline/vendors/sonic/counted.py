"""A dump of COUNTERS_DB as evidence: pauses, drops, marks, storms and watermarks of a running switch."""

from __future__ import annotations

import re
from collections.abc import Iterator

from weftline.errors import Place
from weftline.formats.counters_db import Counted, CounterDump
from weftline.kernels.column import NIL
from weftline.model.observed import Evidence

_PRIORITY = (
    (re.compile(r"SAI_PORT_STAT_PFC_([0-7])_RX_PKTS"), "pause-received"),
    (re.compile(r"SAI_PORT_STAT_PFC_([0-7])_TX_PKTS"), "pause-sent"),
    (re.compile(r"(?:SAI|EST)_PORT_STAT_PFC_([0-7])_RX_PAUSE_DURATION_US"), "pause-received-time"),
    (re.compile(r"SAI_PORT_STAT_PFC_([0-7])_TX_PAUSE_DURATION_US"), "pause-sent-time"),
)
_KINDS: dict[str, dict[str, str]] = {
    "port": {"SAI_PORT_STAT_IF_IN_DISCARDS": "port-drops"},
    "queue": {
        "SAI_QUEUE_STAT_DROPPED_PACKETS": "queue-drops",
        "SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS": "marked",
        "SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES": "queue-watermark",
        "PFC_WD_QUEUE_STATS_DEADLOCK_DETECTED": "storms-detected",
        "PFC_WD_QUEUE_STATS_DEADLOCK_RESTORED": "storms-restored",
    },
    "group": {
        "SAI_INGRESS_PRIORITY_GROUP_STAT_DROPPED_PACKETS": "group-drops",
        "SAI_INGRESS_PRIORITY_GROUP_STAT_SHARED_WATERMARK_BYTES": "group-watermark",
        "SAI_INGRESS_PRIORITY_GROUP_STAT_XOFF_ROOM_WATERMARK_BYTES": "headroom-watermark",
    },
    "pool": {
        "SAI_BUFFER_POOL_STAT_WATERMARK_BYTES": "pool-watermark",
        "SAI_BUFFER_POOL_STAT_XOFF_ROOM_WATERMARK_BYTES": "headroom-pool-watermark",
    },
}
_STORM_DROPS = ("PFC_WD_QUEUE_STATS_TX_DROPPED_PACKETS", "PFC_WD_QUEUE_STATS_RX_DROPPED_PACKETS")


def list_counted(dump: CounterDump) -> tuple[Evidence, ...]:
    """List what a dump says, each count with its line."""
    return tuple(item for counted in dump.objects for item in _read(dump.file, counted))


def _read(file: str, counted: Counted) -> Iterator[Evidence]:
    key = NIL if counted.number is None else counted.number
    for name, (value, line) in counted.counts.items():
        where = Place(file, line or None)
        if name in _KINDS[counted.kind]:
            yield Evidence(_KINDS[counted.kind][name], counted.name, key, value, where)
        elif counted.kind == "port":
            for pattern, kind in _PRIORITY:
                if match := pattern.fullmatch(name):
                    yield Evidence(kind, counted.name, int(match[1]), value, where)
    lost = [counted.counts[name] for name in _STORM_DROPS if name in counted.counts]
    if lost:
        yield Evidence(
            "storm-drops", counted.name, key, sum(value for value, _ in lost), Place(file, lost[0][1] or None)
        )
