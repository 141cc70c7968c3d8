"""Which owners may meet: each with itself, and with a hub that is shared with it."""

from __future__ import annotations

from collections.abc import Iterable

from weftline.model.isolation import MANAGEMENT, NOBODY, Sharing


class Allowed:
    """Which owners may meet: each with itself, and with a hub that it shares."""

    def __init__(self, sharings: Iterable[Sharing]) -> None:
        """Take what is declared to be shared."""
        self.users = {sharing.hub: sharing.users for sharing in sharings}

    def __call__(self, a: str, b: str) -> bool:
        """Tell whether two owners may meet."""
        return a == b or self._uses(a, b) or self._uses(b, a)

    def _uses(self, user: str, hub: str) -> bool:
        if hub not in self.users:
            return False
        users = self.users[hub]
        return users is None or user in users


def call_owner(owner: str) -> str:
    """Call an owner as people do."""
    return {NOBODY: "no tenant", MANAGEMENT: "management"}.get(owner, owner)
