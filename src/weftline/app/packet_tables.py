"""Tables of a packet simulation in Parquet files: flows, ports, and ports over time."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from weftline.app.campaign import Campaign
from weftline.app.files import write_bytes
from weftline.app.packets import Packets
from weftline.model.campaign import Outcome
from weftline.model.fabric import Fabric
from weftline.model.traffic import Flows

TABLES = ("flows.parquet", "ports.parquet", "series.parquet")


def save_packets(packets: Packets, flows: Flows, fabric: Fabric, folder: Path) -> tuple[Path, ...]:
    """Write the tables into a folder, each whole or not at all; the same result gives the same bytes.

    Raises:
        ArtifactError: ``artifact.unwritable``.
    """
    paths = tuple(folder / name for name in TABLES)
    for path, columns in zip(paths, _list_tables(packets, flows, fabric), strict=True):
        write_bytes(path, _encode(columns))
    return paths


def save_campaign(campaign: Campaign, folder: Path) -> Path:
    """Write a row for each run, with a column for each option that differs.

    Raises:
        ArtifactError: ``artifact.unwritable``.
    """
    names = [key for key, _ in campaign.settings[0].words]
    columns: dict[str, Any] = {
        name: [dict(campaign.settings[one.setting].words)[name] for one in campaign.outcomes] for name in names
    }
    columns |= {
        field.name: [getattr(one, field.name) for one in campaign.outcomes]
        for field in fields(Outcome)
        if field.name != "setting"
    }
    path = folder / "runs.parquet"
    write_bytes(path, _encode(columns))
    return path


def _encode(columns: dict[str, Any]) -> bytes:
    tables, files = cast("Any", pa), cast("Any", parquet)
    with tables.BufferOutputStream() as stream:
        files.write_table(tables.table(columns), stream, compression="zstd")
        return stream.getvalue().to_pybytes()


def _list_tables(packets: Packets, flows: Flows, fabric: Fabric) -> tuple[dict[str, Any], ...]:
    result, lanes = packets.result, packets.result.lanes
    names = np.array([fabric.port_name(at) for at in range(fabric.port_count)])
    # Ports that never sent would be most of the rows.
    used = np.flatnonzero(result.port_bytes > 0)
    times = len(result.series.at_ps)
    return (
        {
            "source": names[flows.source],
            "target": names[flows.target],
            "bytes": flows.size_bytes,
            "tag": flows.tag,
            "start_ps": result.start_ps,
            "finish_ps": result.finish_ps,
            "let_go_by": result.cause,
            "longest_wait_ps": result.longest_ps,
            "waited_at": np.where(result.longest_at >= 0, names[result.longest_at], ""),
        },
        {
            "port": names,
            "peer": [names[at] if at >= 0 else "" for at in fabric.port_peer],
            "bytes": result.port_bytes,
            "largest_queue_bytes": lanes.most_queued.max(axis=1),
            "largest_held_bytes": lanes.most_held.max(axis=1),
            "held_ps": lanes.held_ps.sum(axis=1),
            "without_credit_ps": lanes.starved_ps.sum(axis=1),
            "marks": lanes.marks.sum(axis=1),
            "drops": lanes.drops.sum(axis=1),
            "pauses_sent": lanes.pauses.sum(axis=1),
            "discards": lanes.discards.sum(axis=1),
        },
        {
            "at_ps": np.repeat(result.series.at_ps, len(used)),
            "port": np.tile(names[used], times),
            "sent_bytes": result.series.sent_bytes[:, used].ravel(),
            "queued_bytes": result.series.queued_bytes[:, used].ravel(),
            "held_lanes": result.series.held_lanes[:, used].ravel(),
        },
    )
