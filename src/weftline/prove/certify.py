"""Certify: what proofs found, put so that a program without Weftline can check it against the tables."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import cast

import numpy as np

from weftline.errors import CapabilityError
from weftline.kernels.column import I32, I64, NIL, U8
from weftline.kernels.reach import IS_SKIPPED
from weftline.model.certificates import Counts, DerivedTables, TableCertificates
from weftline.model.fabric import Fabric
from weftline.model.proof import Proof
from weftline.model.routes import Routes, local_delivery, no_route
from weftline.prove.deadlock import find_channels
from weftline.prove.tables import Tables, read_tables

LOCAL, NONE = 254, 255
"""Codes of derived tables: handed over by the endpoint's own cable, and no way."""
CHUNK = 4096
"""Columns that are laid out at a time."""

NameTargets = Callable[[int], tuple[str, ...]]
"""Names a destination of the routes as the tables call it; several names where it has several addresses."""


def list_links(fabric: Fabric) -> Iterator[tuple[str, str]]:
    """List every cabled link once."""
    for port in np.flatnonzero(fabric.port_peer > np.arange(fabric.port_count)).tolist():
        yield fabric.port_name(port), fabric.port_name(int(fabric.port_peer[port]))


def count_reach(proof: Proof) -> Counts:
    """Take the counts that the statement of a bundle has from a proof of reach."""
    detail = proof.detail
    return Counts(
        detail["connected_pairs"],
        detail["foreign_pairs"],
        detail["switch_pairs_reached"],
        detail.get("further_addresses", 0),
        int(proof.bound or 0),
    )


def certify_tables(
    fabric: Fabric, routes: Routes, proofs: tuple[Proof, Proof], name: str, plane: int | None, call: NameTargets
) -> TableCertificates:
    """Put the certificates of reach and deadlock as an auditor reads them, for one plane or for all.

    Of destinations that all switches are equally far from one column is written.

    Raises:
        CapabilityError: ``capability.certificate-lanes`` when packets change their lane on the way.
    """
    if routes.steps is not None:
        message = "packets change their lane on the way here, and a bundle of certificates has no table that says how"
        hint = "use an engine whose packets keep their lane, as updown or layered"
        raise CapabilityError("capability.certificate-lanes", message, hint)
    tables = read_tables(fabric, routes)
    rows = _rows(fabric, plane)
    columns = _columns(fabric, routes, tables, plane)
    distance, rank = (_column(proof) for proof in proofs)
    kept, classes = _share_columns(distance, rows, columns)
    channels = find_channels(fabric, tables)
    channels = channels[np.isin(fabric.switch_row[fabric.port_node[channels]], rows)]
    return TableCertificates(
        name=name,
        switches=tuple(fabric.node_name[int(node)] for node in fabric.switch_node[rows]),
        classes=tuple(tuple(token for d in members for token in call(d)) for members in classes),
        distance=np.ascontiguousarray(distance[rows][:, kept]).astype(np.uint8, copy=False),
        channels=tuple(fabric.port_name(int(port)) for port in channels),
        rank=np.ascontiguousarray(rank[:, channels]).astype(np.int32, copy=False),
    )


def derive_tables(fabric: Fabric, routes: Routes) -> DerivedTables:
    """Write routes as groups of ports by number; endpoints that all switches but their own treat alike share a column.

    Raises:
        CapabilityError: ``capability.certificate-groups`` when a switch has more groups than a code can say.
    """
    tables = read_tables(fabric, routes)
    judged = np.flatnonzero(
        (tables.target_kind != IS_SKIPPED) & (tables.target_port != NIL) & (tables.target_row != NIL)
    )
    first = np.unique(tables.same_as[judged])
    members: dict[int, list[str]] = {int(d): [] for d in first}
    for d in judged.tolist():
        members[int(tables.same_as[d])].append(fabric.port_name(int(tables.target_port[d])))
    names = tuple(fabric.node_name[int(node)] for node in fabric.switch_node)
    most = int(np.diff(routes.group_ptr).max(initial=0))
    if most > LOCAL:
        switch = names[int(np.argmax(np.diff(routes.group_ptr)))]
        message = f"{switch} has {most} groups of ports, and a row of a certificate names {LOCAL}"
        raise CapabilityError("capability.certificate-groups", message, "use an engine that makes fewer groups")
    entry = routes.group[:, first]
    codes = entry.astype(np.uint8)
    codes[entry == no_route(routes.group)] = NONE
    codes[entry == local_delivery(routes.group)] = NONE
    home = tables.target_row[first]
    is_direct = tables.is_direct[first] == 1
    codes[home[is_direct], np.flatnonzero(is_direct)] = LOCAL
    return DerivedTables(
        columns=tuple((names[int(row)], tuple(members[int(d)])) for row, d in zip(home, first, strict=True)),
        switches=names,
        groups=tuple(_list_groups(fabric, routes, row) for row in range(len(names))),
        entry=codes,
    )


def _list_groups(fabric: Fabric, routes: Routes, row: int) -> tuple[tuple[int, ...], ...]:
    first, last = int(routes.group_ptr[row]), int(routes.group_ptr[row + 1])
    bounds = routes.member_ptr[first : last + 1].tolist()
    return tuple(tuple(fabric.port_number[routes.member_port[start:end]].tolist()) for start, end in pairwise(bounds))


def _rows(fabric: Fabric, plane: int | None) -> I64:
    nodes = fabric.switch_node
    return np.arange(len(nodes)) if plane is None else np.flatnonzero(fabric.node_plane[nodes] == plane)


def _columns(fabric: Fabric, routes: Routes, tables: Tables, plane: int | None) -> I64:
    """List the destinations that are judged: those of one plane, without endpoints that have no cable."""
    port, node = routes.destination_port, routes.destination_node
    judged = tables.target_kind != IS_SKIPPED
    if plane is not None:
        judged &= np.where(port == NIL, fabric.node_plane[node], fabric.port_plane[np.maximum(port, 0)]) == plane
    return np.flatnonzero(judged)


def _column(proof: Proof) -> U8 | I32:
    if proof.certificate is None:
        raise AssertionError(proof.claim)
    return cast("U8 | I32", next(iter(proof.certificate.columns.values())))


def _share_columns(distance: U8 | I32, rows: I64, columns: I64) -> tuple[list[int], list[Sequence[int]]]:
    """Find equal columns: the first of each, and all destinations that have it."""
    found: dict[bytes, list[int]] = {}
    for start in range(0, len(columns), CHUNK):
        part = columns[start : start + CHUNK]
        laid = np.ascontiguousarray(distance[:, part][rows].T)
        for at, d in enumerate(part.tolist()):
            found.setdefault(hashlib.blake2b(laid[at].tobytes(), digest_size=16).digest(), []).append(d)
    return [members[0] for members in found.values()], list(found.values())
