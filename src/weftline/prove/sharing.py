"""Which owners may meet: each with itself, and with a hub that is shared with it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from weftline.kernels.column import U8
from weftline.model.isolation import MANAGEMENT, NOBODY, Sharing


class Allowed:
    """Which owners may meet: each with itself, and with a hub that it shares."""

    def __init__(self, sharings: Iterable[Sharing]) -> None:
        """Take what is declared to be shared."""
        self.users = {sharing.hub: sharing.users for sharing in sharings}
        self._open = frozenset(hub for hub, users in self.users.items() if users is None)
        self._hubs: dict[str, set[str]] = {}
        for hub, users in self.users.items():
            for user in users or ():
                self._hubs.setdefault(user, set()).add(hub)

    def __call__(self, a: str, b: str) -> bool:
        """Tell whether two owners may meet."""
        return a == b or self._uses(a, b) or self._uses(b, a)

    def list_partners(self, owner: str) -> frozenset[str] | None:
        """List whom an owner may meet, itself too; None where that is everybody."""
        if owner in self._open:
            return None
        return frozenset({owner}) | (self.users.get(owner) or frozenset()) | self._hubs.get(owner, set()) | self._open

    def mark_pairs(self, owners: Sequence[str]) -> U8:
        """Mark which of some owners may meet, as a square."""
        place = {owner: number for number, owner in enumerate(owners)}
        marks = np.zeros((len(owners), len(owners)), dtype=np.uint8)
        for number, owner in enumerate(owners):
            partners = self.list_partners(owner)
            if partners is None:
                marks[number, :] = marks[:, number] = 1
            else:
                marks[number, [place[one] for one in partners if one in place]] = 1
        return marks

    def _uses(self, user: str, hub: str) -> bool:
        if hub not in self.users:
            return False
        users = self.users[hub]
        return users is None or user in users


def call_owner(owner: str) -> str:
    """Call an owner as people do."""
    return {NOBODY: "no tenant", MANAGEMENT: "management"}.get(owner, owner)
