"""Separate: tenants are kept apart by the VRFs, networks and filters of switches, judged by what the files do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice, pairwise
from typing import Any

import numpy as np

from weftline.kernels.column import U8, digest_parts
from weftline.model.isolation import MANAGEMENT
from weftline.model.proof import Certificate, Proof, Verdict, Witness
from weftline.model.separation import SeparationFiles
from weftline.prove.isolate import CLAIM
from weftline.prove.sharing import Allowed, call_owner
from weftline.prove.tenancy.edges import EdgeVerdict, list_wide
from weftline.prove.tenancy.exchange import Roads, build_roads
from weftline.prove.tenancy.meetings import Judge, Meeting, tell_source, tell_tunnel, tell_watched
from weftline.prove.tenancy.placement import Placement, place_owners
from weftline.prove.tenancy.watching import find_watched, first_few, list_risks, list_uncovered

KIND = "separation"
MAX_WITNESSES = 20
MAX_MEETINGS = 10_000
BYTE = 8
Edges = tuple[list[EdgeVerdict], list[EdgeVerdict]]
"""What was judged of sources, and of packets for tunnel ends."""


def prove_separation(files: SeparationFiles, *, required: bool) -> Proof:
    """Prove or refute that owners are kept apart; what files do not say leaves it unknown, never proved.

    The work grows with the ports, imports, exports and cables of the files, not with the pairs of endpoints.
    """
    may = Allowed(files.sharings)
    placement = place_owners(files, may)
    roads = build_roads(files, placement)
    judge = Judge(files, placement, roads)
    doubts: list[str] = [*files.doubts]
    edges, tunnels = judge.judge_edges(), judge.judge_tunnels()
    found = [
        *judge.find_shared(),
        *judge.find_paths(),
        *islice((tell_watched(one) for one in find_watched(files, placement, doubts)), MAX_MEETINGS),
        *(tell_source(one) for one in islice((one for one in edges if one.verdict == "open"), MAX_MEETINGS)),
        *(tell_tunnel(one) for one in islice((one for one in tunnels if one.verdict == "open"), MAX_MEETINGS)),
    ]
    risks = [*list_risks(files, placement, may), *list_wide(edges)]
    detail = _tell(files, found, (edges, tunnels), risks)
    statement = _state(files, len(detail["owners"]), risks)
    if found:
        witness = Witness("meeting", found[0].summary, found[0].tell())
        return Proof(
            CLAIM, required, Verdict.REFUTED, statement, files.of, len(found), "meetings", witness, detail=detail
        )
    doubts.extend(_doubt(files, placement, roads, judge, (edges, tunnels)))
    if doubts:
        kept = first_few(doubts)
        words = f"{statement} Not decided: {'; '.join(kept)}."
        detail["doubts"] = list(kept)
        return Proof(CLAIM, required, Verdict.UNKNOWN, words, files.of, detail=detail)
    certificate = _certify(placement, roads, judge, (edges, tunnels))
    return Proof(
        CLAIM, required, Verdict.PROVED, statement, files.of, 0, "meetings", certificate=certificate, detail=detail
    )


def _doubt(files: SeparationFiles, placement: Placement, roads: Roads, judge: Judge, edges: Edges) -> Iterable[str]:
    """List why nothing can be proved."""
    if not any(end.facing for end in files.ends):
        yield "no endpoint is known"
    yield from list_uncovered(files, placement)
    yield from placement.doubts
    yield from roads.doubts
    yield from judge.doubt_paths()
    for form, verdicts in zip(("sources of {} are checked", "tunnel packets of {} are dropped"), edges, strict=True):
        open_ends = [one for one in verdicts if one.verdict == "unknown"]
        if open_ends:
            more = f", one of {len(open_ends):,}" if len(open_ends) > 1 else ""
            yield f"whether {form.format(open_ends[0].end.name)} is not known ({open_ends[0].step.says}){more}"


def _tell(files: SeparationFiles, found: list[Meeting], edges: Edges, risks: list[str]) -> dict[str, Any]:
    kinds = [meeting.kind for meeting in found]
    sources, tunnels = edges
    return {
        "owners": sorted(map(call_owner, {end.owner for end in files.ends})),
        "endpoints": len(files.ends),
        "switches": len({device.name for device in files.devices if device.role != "host"}),
        "checked_sources": sum(one.verdict == "checked" for one in sources),
        "own_sources": sum(one.verdict == "checked" and one.is_exact for one in sources),
        "open_sources": sum(one.verdict == "open" for one in sources),
        "stopped_tunnels": sum(one.verdict == "checked" for one in tunnels),
        "open_tunnels": sum(one.verdict == "open" for one in tunnels),
        "shared": sorted(call_owner(sharing.hub) for sharing in files.sharings),
        "kinds": {kind: kinds.count(kind) for kind in sorted(set(kinds))},
        "meetings": [meeting.tell() for meeting in found[:MAX_WITNESSES]],
        "residual_risks": risks,
    }


def _state(files: SeparationFiles, owners: int, risks: list[str]) -> str:
    hubs = [call_owner(sharing.hub) for sharing in files.sharings if sharing.hub != MANAGEMENT]
    shared = f" All may reach {', '.join(hubs)} where that is declared, and not each other by it." if hubs else ""
    return (
        f"By {files.source}, endpoints of {owners:,} owners are kept apart: no VRF, VLAN or VNI leads to another's "
        "hosts or gateways, to switches, tunnel ends or out; no session copies their packets; and each port takes "
        f"only its own IPv4 sources, and no UDP for tunnel ends.{shared} {files.premise}".rstrip()
    ) + (f" Residual risk: {'; '.join(risks)}." if risks else "")


def _certify(placement: Placement, roads: Roads, judge: Judge, edges: Edges) -> Certificate:
    """List every way between tables, what each point can reach, and who stands where: enough to judge again."""
    graph = roads.graph
    width = (len(roads.bits) + BYTE - 1) // BYTE
    everything = (1 << (BYTE * width)) - 1
    owners = [name for name in roads.bits if name in judge.forbidden]
    ways = [(a, way.to, way.targets & everything) for a, out in enumerate(graph.ways) for way in out]
    masks = {mask: row for row, mask in enumerate(dict.fromkeys([everything, *[mask for _, _, mask in ways]]))}
    way = np.array([(a, b, masks[mask]) for a, b, mask in ways], dtype=np.int64).reshape(-1, 3)
    crossing = np.column_stack([graph.crossings.start, graph.crossings.to, np.zeros_like(graph.crossings.to)])
    way = np.concatenate([way, crossing])
    place = {owner: number for number, owner in enumerate(owners)}
    stands = [(graph.table(table)[0], place[owner]) for table, claims in placement.in_table.items() for owner in claims]
    groups = [*placement.in_segment.values(), *judge.list_networks().values()]
    columns: dict[str, Any] = {
        "reach": _pack(judge.reach(is_certain=False), width),
        "way": way[np.argsort(way[:, 0], kind="stable")],
        "mask": _pack(masks, width),
        "end": np.array(sorted(graph.ends), dtype=np.int64),
        "end_reach": _pack([graph.ends[point] for point in sorted(graph.ends)], width),
        "stand": np.array(stands, dtype=np.int64).reshape(-1, 2),
        "forbidden": _pack([judge.forbidden[owner] for owner in owners], width),
        "may_meet": judge.may.mark_pairs(owners),
        "group_ptr": np.cumsum([0, *map(len, groups)], dtype=np.int64),
        "group_owner": np.array([place[owner] for group in groups for owner in sorted(group)], dtype=np.int64),
        "is_checked": np.array([one.verdict == "checked" for one in edges[0]], dtype=np.uint8),
        "stops_tunnels": np.array([one.verdict == "checked" for one in edges[1]], dtype=np.uint8),
    }
    statement = "what a point reaches holds what every way from it leads to, and nothing that its owners must not reach"
    return Certificate(KIND, statement, columns, digest_parts((KIND, *columns, *columns.values())))


def _pack(bits: Iterable[int], width: int) -> U8:
    rows = b"".join(one.to_bytes(width, "little") for one in bits)
    return np.frombuffer(rows, dtype=np.uint8).reshape(-1, width)


def check_separation(proof: Proof) -> bool:
    """Check a proved claim by its certificate, way by way; False where it does not hold, or has none."""
    certificate = proof.certificate
    if proof.claim != CLAIM or proof.verdict is not Verdict.PROVED or certificate is None or proof.bound != 0:
        return False
    columns = certificate.columns
    if certificate.kind != KIND or certificate.digest != digest_parts((KIND, *columns, *columns.values())):
        return False
    return bool(
        _is_closed(columns) and _is_kept(columns) and columns["is_checked"].all() and columns["stops_tunnels"].all()
    )


def _is_closed(columns: Mapping[str, Any]) -> bool:
    """Tell whether what each point reaches holds what all ways from it lead to, and what ends there."""
    reach, mask, way = columns["reach"], columns["mask"], columns["way"]
    onward = reach[way[:, 1]] & mask[way[:, 2]]
    return not ((onward & ~reach[way[:, 0]]).any() or (columns["end_reach"] & ~reach[columns["end"]]).any())


def _is_kept(columns: Mapping[str, Any]) -> bool:
    """Tell whether nobody stands where what is forbidden can be reached, or with one that must not be met."""
    stand, may_meet = columns["stand"], columns["may_meet"].astype(bool)
    if (columns["reach"][stand[:, 0]] & columns["forbidden"][stand[:, 1]]).any():
        return False
    who, starts = columns["group_owner"], columns["group_ptr"].tolist()
    return np.array_equal(may_meet, may_meet.T) and all(
        may_meet[np.ix_(who[first:last], who[first:last])].all() for first, last in pairwise(starts)
    )
