"""Patches for ``config apply-patch``: which rows each operation sets, and which must be there by then."""

from __future__ import annotations

from weftline.formats.config_db_keys import read_references
from weftline.formats.json_patch_read import Patch, PatchStep
from weftline.model.observed import ObservedStep

SETS = frozenset({"add", "replace"})
WATCHDOG, PAUSES = "PFC_WD", "PORT_QOS_MAP"
REFERENCES: dict[tuple[str, str], str] = {
    ("PORT_QOS_MAP", "dscp_to_tc_map"): "DSCP_TO_TC_MAP",
    ("PORT_QOS_MAP", "tc_to_queue_map"): "TC_TO_QUEUE_MAP",
    ("PORT_QOS_MAP", "tc_to_pg_map"): "TC_TO_PRIORITY_GROUP_MAP",
    ("PORT_QOS_MAP", "pfc_to_queue_map"): "MAP_PFC_PRIORITY_TO_QUEUE",
    ("PORT_QOS_MAP", "pfc_to_pg_map"): "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",
    ("BUFFER_PROFILE", "pool"): "BUFFER_POOL",
    ("BUFFER_PG", "profile"): "BUFFER_PROFILE",
    ("BUFFER_QUEUE", "profile"): "BUFFER_PROFILE",
    ("QUEUE", "scheduler"): "SCHEDULER",
    ("QUEUE", "wred_profile"): "WRED_PROFILE",
}
"""Fields that refer to a row of another table (sonic-yang-models)."""
NO_ROW = frozenset({"", "NULL"})


def list_steps(patch: Patch) -> tuple[ObservedStep, ...]:
    """List the rows that a patch sets, in its order, each with the rows that it stands on."""
    return tuple(
        ObservedStep(step.table, step.row, _list_needs(step), step.where) for step in patch.steps if step.verb in SETS
    )


def _list_needs(step: PatchStep) -> tuple[tuple[str, str], ...]:
    """The watchdog of a port starts on the queues that its map names then; a reference needs its row."""
    if step.table == WATCHDOG and step.row != "GLOBAL":
        return ((PAUSES, step.row),)
    return tuple(
        (table, said.name)
        for field, text in step.fields
        if (table := REFERENCES.get((step.table, field))) is not None
        for said in read_references(text)
        if said.name not in NO_ROW
    )
