"""Isolate: endpoints of different owners meet in no group, by their own tables and by those of the switches alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

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


@dataclass(frozen=True, slots=True)
class _Found:
    """Meetings: how many there are, and the first of them."""

    count: int
    first: tuple[_Meeting, ...]


@dataclass(frozen=True, slots=True)
class _Alike:
    """Endpoints that no table and no owner tells apart: one of them stands for all."""

    ends: tuple[IsolatedEnd, ...]
    """The first of each kind, in the order in which they come."""
    kind_of: I64
    """Per endpoint its kind."""
    counts: tuple[int, ...]
    """Endpoints of each kind."""

    def count(self, kept: Callable[[IsolatedEnd], bool]) -> tuple[int, IsolatedEnd | None]:
        """Count the endpoints of some kinds, and give the first."""
        chosen = [at for at, end in enumerate(self.ends) if kept(end)]
        return sum(self.counts[at] for at in chosen), self.ends[chosen[0]] if chosen else None


def prove_isolation(tables: IsolationTables, *, required: bool) -> Proof:
    """Prove or refute that owners are kept apart; what is not known leaves it unknown, never proved.

    The work grows with the distinct tables and owners, and with the groups and owners in them: neither with the pairs
    of endpoints nor with the pairs of owners. Each endpoint is looked at once.
    """
    of = tables.of
    may = Allowed(tables.sharings)
    alike = _find_alike(tables.ends)
    own = _judge(OWN, alike, lambda end: end.own, may)
    wall = _judge(WALL, alike, lambda end: end.wall if _enforces(end) else None, may)
    opened = _find_open(alike, may)
    own_unknown, own_first = alike.count(lambda end: end.own is None)
    unknown, first = alike.count(lambda end: not _is_open(end) and (end.wall is None or not _enforces(end)))
    found = (*own.first, *wall.first, *opened.first)
    count = own.count + wall.count + opened.count
    detail: dict[str, Any] = {
        "owners": sorted({call_owner(end.owner) for end in alike.ends}),
        "endpoints": len(tables.ends),
        "own_tables": _word(bool(own.count), bool(own_unknown)),
        "switch_ports": _word(bool(wall.count or opened.count), bool(unknown)),
        "unknown_own_tables": own_unknown,
        "unknown_switch_ports": unknown,
        "shared": sorted(call_owner(sharing.hub) for sharing in tables.sharings),
        "meetings": [meeting.tell() for meeting in found[:MAX_WITNESSES]],
    }
    statement = _state(tables, len(detail["owners"]))
    if found:
        summary = f"{tables.cause}: {found[0].say()}" if tables.cause else found[0].say()
        witness = Witness("meeting", summary, found[0].tell())
        return Proof(CLAIM, required, Verdict.REFUTED, statement, of, count, "meetings", witness, detail=detail)
    doubts = [*tables.doubts]
    if own_first is not None:
        doubts.append(f"the table of {own_first.name} is not known, one of {own_unknown:,}")
    if first is not None:
        doubts.append(f"the switch port that faces {first.name} is not known, one of {unknown:,}")
    if not tables.ends:
        doubts.append("no endpoint is known")
    if doubts:
        words = f"{statement} Not decided: {'; '.join(doubts)}."
        return Proof(CLAIM, required, Verdict.UNKNOWN, words, of, detail=detail)
    certificate = _certify(alike, may)
    return Proof(CLAIM, required, Verdict.PROVED, statement, of, 0, "meetings", certificate=certificate, detail=detail)


def _find_alike(ends: Iterable[IsolatedEnd]) -> _Alike:
    """Put together the endpoints of one owner in one part of the fabric whose tables are the same."""
    place: dict[object, int] = {}
    first: list[IsolatedEnd] = []
    kinds: list[int] = []
    for end in ends:
        key = (end.owner, end.component, end.own, end.wall, end.enforces_in, end.enforces_out)
        kind = place.setdefault(key, len(first))
        if kind == len(first):
            first.append(end)
        kinds.append(kind)
    kind_of: I64 = np.array(kinds, dtype=np.int64)
    return _Alike(tuple(first), kind_of, tuple(np.bincount(kind_of, minlength=len(first)).tolist()))


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


def _find_open(alike: _Alike, may: Allowed) -> _Found:
    """Pair each port that does not enforce with an endpoint of an owner that its own must not meet."""
    owners: dict[int, dict[str, IsolatedEnd]] = {}
    for end in alike.ends:
        owners.setdefault(end.component, {}).setdefault(end.owner, end)
    count = 0
    found: list[_Meeting] = []
    for end, many in zip(alike.ends, alike.counts, strict=True):
        if not _is_open(end):
            continue
        others = owners[end.component]
        partners = may.list_partners(end.owner)
        other = None if partners is None else next((one for name, one in others.items() if name not in partners), None)
        if other is not None:
            count += many
            found.append(_Meeting(WALL, end, other, None))
    return _Found(count, tuple(found[:MAX_WITNESSES]))


def _judge(wall: str, alike: _Alike, read: Callable[[IsolatedEnd], Groups | None], may: Allowed) -> _Found:
    """Count the pairs of owners that meet in a group of a part of the fabric, and show the first.

    Of each group only the sets of owners matter: whom an owner may not meet is what is left of a set without its
    partners, so that no pair is looked at that does not meet.
    """
    full: dict[tuple[int, int], dict[str, IsolatedEnd]] = {}
    anyhow: dict[tuple[int, int], dict[str, IsolatedEnd]] = {}
    for end in alike.ends:
        groups = read(end)
        if groups is None:
            continue
        for group in groups.full:
            full.setdefault((group, end.component), {}).setdefault(end.owner, end)
        for group in groups.full | groups.limited:
            anyhow.setdefault((group, end.component), {}).setdefault(end.owner, end)
    count = 0
    found: list[_Meeting] = []
    for place in sorted(full):
        for name, end in full[place].items():
            partners = may.list_partners(name)
            if partners is None or len(anyhow[place]) == 1:
                continue
            strangers = anyhow[place].keys() - partners
            # two full members would be counted twice
            count += sum(not (other in full[place] and other < name) for other in strangers)
            if strangers and len(found) < MAX_WITNESSES:
                others = (one for other, one in anyhow[place].items() if other in strangers)
                pairs = (one for one in others if not (one.owner in full[place] and one.owner < name))
                found.extend(_Meeting(wall, end, one, place[0]) for one in pairs)
    return _Found(count, tuple(found[:MAX_WITNESSES]))


def _certify(alike: _Alike, may: Allowed) -> Certificate:
    """List every entry of every table by owner, and which owners may meet: enough to judge again without a search."""
    owners = sorted({end.owner for end in alike.ends})
    index = {owner: number for number, owner in enumerate(owners)}
    kinds = alike.kind_of
    columns: dict[str, Any] = {
        "owner": np.array([index[end.owner] for end in alike.ends], dtype=np.int32)[kinds],
        "may_meet": may.mark_pairs(owners),
        "component": np.array([end.component for end in alike.ends], dtype=np.int32)[kinds],
    }
    for name, groups in (("own", [end.own for end in alike.ends]), ("wall", [end.wall for end in alike.ends])):
        rows: list[I64] = [np.array(_encode(one), dtype=np.int64) for one in groups]
        lengths = np.array([len(row) for row in rows], dtype=np.int64)[kinds]
        columns[f"{name}_ptr"] = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(lengths)))
        columns[f"{name}_entry"] = np.concatenate([rows[int(kind)] for kind in kinds], dtype=np.int64)
    statement = "no group of a part of the fabric holds a full member of one owner and a member of another that may not"
    return Certificate(CLAIM, f"{statement} meet", columns, digest_parts((CLAIM, *columns, *columns.values())))


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
    component = columns["component"].astype(np.int64)
    may_meet = columns["may_meet"].astype(bool)
    if len(component) != len(owner) or may_meet.shape != may_meet.T.shape or not np.array_equal(may_meet, may_meet.T):
        return False
    tables = ((columns[f"{name}_ptr"], columns[f"{name}_entry"]) for name in ("own", "wall"))
    return all(
        _holds(owner, component, may_meet, (ptr.astype(np.int64), entry.astype(np.int64))) for ptr, entry in tables
    )


def _holds(owner: I64, component: I64, may_meet: NDArray[np.bool_], table: tuple[I64, I64]) -> bool:
    """Tell whether every full member of a group may meet every member of it, group by group."""
    ptr, entry = table
    lengths = np.diff(ptr)
    if len(lengths) != len(owner) or int(ptr[0]) != 0 or (lengths < 0).any() or int(ptr[-1]) != len(entry):
        return False
    if len(owner) and not (0 <= int(owner.min()) <= int(owner.max()) < len(may_meet)):
        return False
    place = np.repeat(component, lengths) * FULL + (entry & (FULL - 1))
    where = np.unique(place, return_inverse=True)[1].reshape(-1).astype(np.int64)
    # what several endpoints of an owner hold alike is one row: a group then has as many rows as it has owners
    packed = np.unique((where * len(may_meet) + np.repeat(owner, lengths)) << 1 | (entry >= FULL))
    is_full = (packed & 1).astype(bool)
    where, who = np.divmod(packed >> 1, max(len(may_meet), 1))
    cuts = np.flatnonzero(np.diff(where)) + 1
    starts, ends = np.concatenate(([0], cuts)).tolist(), np.concatenate((cuts, [len(where)])).tolist()
    return all(
        may_meet[np.ix_(who[first:last][is_full[first:last]], who[first:last])].all()
        for first, last in zip(starts, ends, strict=True)
    )
