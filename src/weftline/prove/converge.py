"""Converge: what routers make of their files, once they have told each other everything, is the proved tables.

A router takes the shortest of the paths that do not hold its own number and uses all of these together, up to as many
as it may (RFC 4271, 9.1; RFC 7938, 5.2 and 6.3). So the tables follow from sessions, numbers and networks by levels,
without a clock. Whatever nobody here can follow leaves the claim open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from weftline.admit.prefix import Prefix
from weftline.kernels.column import I32, I64, NIL, Array, digest_parts
from weftline.kernels.reach import IS_ENDPOINT
from weftline.kernels.settle import NOT_MIXED, OTHER_WAYS, TOO_NARROW, settle
from weftline.kernels.threads import run_parts, split_range
from weftline.model.fabric import Fabric
from weftline.model.observed import ObservedDevice
from weftline.model.proof import Certificate, Proof, Verdict, Witness
from weftline.model.routes import Routes
from weftline.prove.networks import Wrong, find_goals, find_strangers, find_untaken, name_prefix
from weftline.prove.speakers import Speakers, read_speakers
from weftline.prove.tables import Tables, read_tables

CLAIM = "converge"
LEAST_ORIGINS = 32
"""Origins that are worth a thread."""


def prove_converge(
    fabric: Fabric, routes: Routes, devices: Sequence[ObservedDevice], of: str, *, required: bool
) -> Proof:
    """Prove or refute that the files of switches lead to the routes.

    O(switches with endpoints * (sessions + members)).
    """
    tables = read_tables(fabric, routes)
    speakers = read_speakers(fabric, devices)
    columns = _lay_columns(fabric, tables, speakers)
    origins = columns["origin"]
    many = len(origins) * max(tables.group.shape[0] - 1, 0)
    statement = (
        f"By the files of {len(speakers.by_row):,} switches {speakers.count:,} sessions come up, and what these tell "
        f"of the networks of {len(origins):,} switches with endpoints settles, by shortest paths that do not hold a "
        f"router's own number, on the ports of the proved tables, entry by entry ({many:,})."
    )
    detail: dict[str, Any] = {"sessions": speakers.count, "origins": len(origins), "switches": len(speakers.by_row)}
    if speakers.doubts:
        words = f"{statement} Not decided: {speakers.doubts[0]}."
        return Proof(CLAIM, required, Verdict.UNKNOWN, words, of, detail=detail | {"doubts": len(speakers.doubts)})
    goals, wrong = find_goals(fabric, tables, speakers, devices)
    wrong = wrong or find_strangers(speakers) or find_untaken(speakers)
    many, first = 1, np.zeros(5, dtype=np.int64)
    if wrong is None:
        many, first = _compare(tables, columns)
    if wrong is None and many:
        wrong = _tell(fabric, tables, speakers, first, goals)
    if wrong is not None:
        told = {"device": wrong.device, "prefix": wrong.prefix, "where": str(wrong.where or "")}
        witness = Witness("file", wrong.says + (f" ({wrong.where})" if wrong.where else ""), told)
        return Proof(
            CLAIM, required, Verdict.REFUTED, statement, of, many, "entries that differ", witness=witness,
            detail=detail,
        )  # fmt: skip
    certificate = Certificate(
        "sessions",
        "The sessions, numbers and widths that the files have, from which the tables follow level by level.",
        columns,
        digest_parts((CLAIM, *columns.values())),
    )
    return Proof(
        CLAIM, required, Verdict.PROVED, statement, of, 0, "entries that differ", certificate=certificate, detail=detail
    )


def check_converge(fabric: Fabric, routes: Routes, proof: Proof) -> bool:
    """Check a proved claim: its sessions let settle again, and held against the tables."""
    certificate = proof.certificate
    if proof.claim != CLAIM or proof.verdict is not Verdict.PROVED or certificate is None:
        return False
    if certificate.digest != digest_parts((CLAIM, *certificate.columns.values())):
        return False
    tables = read_tables(fabric, routes)
    origins = certificate.columns.get("origin")
    if origins is None or not np.array_equal(origins, np.unique(_homes(tables))):
        return False
    fresh = {**certificate.columns, **_group_columns(tables, origins.astype(np.int32))}
    return _compare(tables, fresh)[0] == 0


def _homes(tables: Tables) -> I32:
    """List the switch of every endpoint that is a destination and has a cable to one."""
    judged = (tables.target_kind == IS_ENDPOINT) & (tables.target_row != NIL)
    return tables.target_row[judged]


def _lay_columns(fabric: Fabric, tables: Tables, speakers: Speakers) -> dict[str, Array]:
    origins = np.unique(_homes(tables)).astype(np.int32)
    shared, words = _number_shared(speakers.number)
    return {
        "session_ptr": speakers.session_ptr,
        "session_row": speakers.session_row,
        "session_far": speakers.session_far,
        "number": speakers.number,
        "shared": shared,
        "words": np.array([words, fabric.port_count], dtype=np.int32),
        "width": speakers.width,
        "mixes": speakers.mixes,
        "origin": origins,
        **_group_columns(tables, origins),
    }


def _number_shared(number: I32) -> tuple[I32, int]:
    """Give each number that several switches have a bit; NIL to the others."""
    distinct, which, many = np.unique(number, return_inverse=True, return_counts=True)
    bit = np.full(len(distinct), NIL, dtype=np.int32)
    several = np.flatnonzero(many > 1)
    bit[several] = np.arange(len(several), dtype=np.int32)
    return bit[which.reshape(-1)].astype(np.int32), max(1, (len(several) + 63) // 64)


def _group_columns(tables: Tables, origins: I32) -> dict[str, Array]:
    """List for each origin the columns of its endpoints that are judged for themselves."""
    judged = tables.columns[(tables.target_kind == IS_ENDPOINT)[tables.columns]]
    judged = judged[tables.target_row[judged] != NIL]
    order = np.argsort(tables.target_row[judged], kind="stable")
    judged = judged[order]
    row = tables.target_row[judged]
    ptr = np.concatenate((np.searchsorted(row, origins), [len(judged)])).astype(np.int64)
    return {"column_ptr": ptr, "column": np.ascontiguousarray(judged).astype(np.int32)}


def _compare(tables: Tables, columns: Mapping[str, Array]) -> tuple[int, I64]:
    """Let every origin settle, on all cores; count the entries that differ, and say where the first one is."""
    words, ports = columns["words"].tolist()
    entry = tables.group

    def work(first: int, last: int) -> tuple[int, I64]:
        found = np.zeros(5, dtype=np.int64)
        mark = np.full(ports, NIL, dtype=np.int32)
        many = settle(
            first, last, columns["origin"].astype(np.int32), columns["session_ptr"].astype(np.int32),
            columns["session_row"].astype(np.int32), columns["session_far"].astype(np.int32),
            columns["number"].astype(np.int32), columns["shared"].astype(np.int32), words,
            columns["width"].astype(np.int32), columns["mixes"].astype(np.int8),
            columns["column_ptr"].astype(np.int64), columns["column"].astype(np.int32), entry, tables.group_ptr,
            tables.member_ptr, tables.member_port, tables.no_route, mark, found,
        )  # fmt: skip
        return int(many), found

    parts = run_parts(split_range(len(columns["origin"]), LEAST_ORIGINS), work)
    wrong = next((found for many, found in parts if many), np.zeros(5, dtype=np.int64))
    return sum(many for many, _ in parts), wrong


def _tell(fabric: Fabric, tables: Tables, speakers: Speakers, first: I64, goals: Mapping[int, Prefix]) -> Wrong:
    """Say in words where the first difference is and which line makes it."""
    kind, row, column, many, _ = (int(value) for value in first)
    speaker = speakers.by_row[row]
    if speaker is None:
        raise AssertionError(row)
    prefix, name, router = name_prefix(goals[int(tables.target_row[column])]), speaker.device.name, speaker.router
    if kind == TOO_NARROW:
        where = router.where if router.width is None else router.width.where
        return Wrong(f"{name} uses {speakers.width[row]} of {many} equal ways to {prefix}", name, prefix, where)
    if kind == NOT_MIXED:
        words = f"{name} does not use equal ways through different numbers together to {prefix}"
        return Wrong(words, name, prefix, router.where)
    if kind != OTHER_WAYS:
        words = f"which of several equal paths to {prefix} is told to {name} decides whether it takes it"
        return Wrong(words, name, prefix, router.where)
    says = f"by the files {name} has {many} ways to {prefix}, and the tables of the routes have others"
    for port in _list_silent(fabric, tables, speakers, row, column):
        why, where = speakers.silent[port]
        return Wrong(f"{says}; {fabric.port_name(port)} brings up no session: {why}", name, prefix, where)
    return Wrong(says, name, prefix, router.where)


def _list_silent(fabric: Fabric, tables: Tables, speakers: Speakers, row: int, column: int) -> list[int]:
    """List ports without a session: those of an entry of the routes first, as a way may end farther on too."""
    entry = int(tables.group[row, column])
    members: list[int] = []
    if entry < tables.no_route - 1:
        start = int(tables.group_ptr[row]) + entry
        members = tables.member_port[int(tables.member_ptr[start]) : int(tables.member_ptr[start + 1])].tolist()
    near = [end for port in members for end in (port, int(fabric.port_peer[port])) if end in speakers.silent]
    return near or sorted(speakers.silent)
