"""Isolate: endpoints of different owners meet in no group, by their own tables and by those of the switches alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from weftline.kernels.column import I64, digest_parts
from weftline.model.isolation import Groups, IsolatedEnd, IsolationTables
from weftline.model.proof import Certificate, Proof, Verdict, Witness
from weftline.prove.sharing import Allowed, call_owner

CLAIM = "isolate"
OWN = "own tables"
WALL = "switch ports"
MAX_WITNESSES = 20
FULL = 1 << 31


@dataclass(frozen=True, slots=True)
class _Meeting:
    """Two endpoints that meet and should not."""

    wall: str
    a: IsolatedEnd
    b: IsolatedEnd
    group: int | None
    """None where no table stands between them."""

    def say(self) -> str:
        if self.group is None:
            return (
                f"{self.a.facing or 'the port'} that faces {self.a.name} ({call_owner(self.a.owner)}) does not "
                f"enforce, so nothing but its own table keeps it from {self.b.name} ({call_owner(self.b.owner)})"
            )
        return (
            f"{self.a.name} ({call_owner(self.a.owner)}) and {self.b.name} ({call_owner(self.b.owner)}) meet in group "
            f"{self.group:#06x} by {'their own tables' if self.wall == OWN else 'the tables of their switch ports'}"
        )

    def tell(self) -> dict[str, Any]:
        return {
            "wall": self.wall,
            "a": self.a.name,
            "a_owner": call_owner(self.a.owner),
            "b": self.b.name,
            "b_owner": call_owner(self.b.owner),
            "group": None if self.group is None else f"{self.group:#06x}",
        }


def prove_isolation(tables: IsolationTables, *, required: bool) -> Proof:
    """Prove or refute that owners are kept apart; what is not known leaves it unknown, never proved.

    The work grows with the entries of the tables and the pairs of owners, not with the pairs of endpoints.
    """
    of = tables.of
    may = Allowed(tables.sharings)
    own, own_unknown = _judge(tables.ends, lambda end: end.own, may)
    wall, wall_unknown = _judge(tables.ends, lambda end: end.wall if _enforces(end) else None, may)
    opened = list(_find_open(tables.ends, may))
    unknown = [end for end in wall_unknown if not _is_open(end)]
    found = [
        *(_Meeting(OWN, a, b, group) for a, b, group in own),
        *(_Meeting(WALL, a, b, group) for a, b, group in wall),
        *opened,
    ]
    detail: dict[str, Any] = {
        "owners": sorted({call_owner(end.owner) for end in tables.ends}),
        "endpoints": len(tables.ends),
        "own_tables": _word(bool(own), bool(own_unknown)),
        "switch_ports": _word(bool(wall or opened), bool(unknown)),
        "unknown_own_tables": len(own_unknown),
        "unknown_switch_ports": len(unknown),
        "shared": sorted(call_owner(sharing.hub) for sharing in tables.sharings),
        "meetings": [meeting.tell() for meeting in found[:MAX_WITNESSES]],
    }
    statement = _state(tables, len(detail["owners"]))
    if found:
        summary = f"{tables.cause}: {found[0].say()}" if tables.cause else found[0].say()
        witness = Witness("meeting", summary, found[0].tell())
        return Proof(CLAIM, required, Verdict.REFUTED, statement, of, len(found), "meetings", witness, detail=detail)
    doubts = [*tables.doubts]
    if own_unknown:
        doubts.append(f"the table of {own_unknown[0].name} is not known, one of {len(own_unknown):,}")
    if unknown:
        doubts.append(f"the switch port that faces {unknown[0].name} is not known, one of {len(unknown):,}")
    if not tables.ends:
        doubts.append("no endpoint is known")
    if doubts:
        words = f"{statement} Not decided: {'; '.join(doubts)}."
        return Proof(CLAIM, required, Verdict.UNKNOWN, words, of, detail=detail)
    certificate = _certify(tables, may)
    return Proof(CLAIM, required, Verdict.PROVED, statement, of, 0, "meetings", certificate=certificate, detail=detail)


def _state(tables: IsolationTables, owners: int) -> str:
    hubs = [call_owner(sharing.hub) for sharing in tables.sharings]
    shared = f" All may reach {', '.join(hubs)} where that is declared, and not each other by it." if hubs else ""
    return (
        f"By {tables.source}, endpoints of {owners:,} owners meet in no group, neither by their own tables nor by "
        f"those of the switch ports that they are cabled to, which enforce in both directions.{shared} {tables.premise}"
    )


def _word(is_refuted: bool, is_unknown: bool) -> str:  # noqa: FBT001
    return str(Verdict.REFUTED if is_refuted else Verdict.UNKNOWN if is_unknown else Verdict.PROVED)


def _is_open(end: IsolatedEnd) -> bool:
    """Tell whether the switch port is known to let something through without a look at its table."""
    return end.enforces_in is False or end.enforces_out is False


def _enforces(end: IsolatedEnd) -> bool:
    return end.enforces_in is True and end.enforces_out is True


def _find_open(ends: Iterable[IsolatedEnd], may: Allowed) -> Iterator[_Meeting]:
    """Pair each port that does not enforce with an endpoint of an owner that its own must not meet."""
    first: dict[str, IsolatedEnd] = {}
    kept = tuple(ends)
    for end in kept:
        first.setdefault(end.owner, end)
    for end in kept:
        if _is_open(end):
            other = next((one for owner, one in first.items() if not may(end.owner, owner)), None)
            if other is not None:
                yield _Meeting(WALL, end, other, None)


def _judge(
    ends: Iterable[IsolatedEnd], read: Callable[[IsolatedEnd], Groups | None], may: Allowed
) -> tuple[list[tuple[IsolatedEnd, IsolatedEnd, int]], list[IsolatedEnd]]:
    """Find one meeting per pair of owners and group, and the endpoints whose table is not known."""
    full: dict[int, dict[str, IsolatedEnd]] = {}
    anyhow: dict[int, dict[str, IsolatedEnd]] = {}
    unknown: list[IsolatedEnd] = []
    for end in ends:
        groups = read(end)
        if groups is None:
            unknown.append(end)
            continue
        for group in groups.full:
            full.setdefault(group, {}).setdefault(end.owner, end)
        for group in groups.full | groups.limited:
            anyhow.setdefault(group, {}).setdefault(end.owner, end)
    found = [
        (a, b, group)
        for group in sorted(full)
        for a_owner, a in full[group].items()
        for b_owner, b in anyhow[group].items()
        if not may(a_owner, b_owner) and not (b_owner in full[group] and b_owner < a_owner)
    ]
    return found, unknown


def _certify(tables: IsolationTables, may: Allowed) -> Certificate:
    """List every entry of every table by owner, and which owners may meet: enough to judge again without a search."""
    owners = sorted({end.owner for end in tables.ends})
    index = {owner: number for number, owner in enumerate(owners)}
    columns: dict[str, Any] = {
        "owner": np.array([index[end.owner] for end in tables.ends], dtype=np.int32),
        "may_meet": np.array([[may(a, b) for b in owners] for a in owners], dtype=np.uint8).reshape(len(owners), -1),
    }
    for name, groups in (("own", [end.own for end in tables.ends]), ("wall", [end.wall for end in tables.ends])):
        entries = [_encode(one) for one in groups]
        columns[f"{name}_ptr"] = np.cumsum([0, *map(len, entries)], dtype=np.int64)
        columns[f"{name}_entry"] = np.array([entry for row in entries for entry in row], dtype=np.int64)
    statement = "no group holds a full member of one owner and a member of another that may not meet"
    return Certificate(CLAIM, statement, columns, digest_parts((CLAIM, *columns, *columns.values())))


def _encode(groups: Groups | None) -> list[int]:
    if groups is None:
        return []
    return sorted({*groups.limited, *(group | FULL for group in groups.full)})


def check_isolation(proof: Proof) -> bool:
    """Check a proved claim by its certificate, entry by entry; False where it does not hold, or has none."""
    certificate = proof.certificate
    if proof.claim != CLAIM or proof.verdict is not Verdict.PROVED or certificate is None or proof.bound != 0:
        return False
    columns = certificate.columns
    if certificate.digest != digest_parts((CLAIM, *columns, *columns.values())):
        return False
    owner = columns["owner"].astype(np.int64)
    may_meet = columns["may_meet"].astype(bool)
    if may_meet.shape[0] != may_meet.shape[1] or not np.array_equal(may_meet, may_meet.T):
        return False
    return all(_holds(owner, may_meet, columns, name) for name in ("own", "wall"))


def _holds(owner: I64, may_meet: np.ndarray[Any, Any], columns: Mapping[str, Any], name: str) -> bool:
    lengths = np.diff(columns[f"{name}_ptr"])
    if len(lengths) != len(owner):
        return False
    entry = columns[f"{name}_entry"]
    who = np.repeat(owner, lengths)
    group, is_full = entry & (FULL - 1), entry >= FULL
    for number in np.unique(group[is_full]).tolist():
        mine = group == number
        if not may_meet[np.ix_(np.unique(who[mine & is_full]), np.unique(who[mine]))].all():
            return False
    return True
