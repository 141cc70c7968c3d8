"""The input buffer behind a link: reserve, shared pool and headroom of one lane, and when it asks for a pause."""

from __future__ import annotations

from dataclasses import dataclass

from weftline.model.packet import FlowControl, LaneProfile


@dataclass(slots=True)
class Pool:
    """The buffer that the lanes of one switch share."""

    size: int
    used: int = 0


@dataclass(slots=True)
class Group:
    """What stands in the input buffer of one port and lane."""

    port: int
    lane: int
    profile: LaneProfile
    pool: Pool
    reserve: int = 0
    shared: int = 0
    headroom: int = 0
    is_off: bool = False
    """Whether it has asked for a pause and not yet taken that back."""

    @property
    def threshold(self) -> int:
        """How much of the pool it may have now."""
        power = self.profile.dynamic_th
        if power is None:
            return self.profile.static_bytes
        free = self.pool.size - self.pool.used
        return free << power if power >= 0 else free >> -power

    def admit(self, size: int) -> bool:
        """Take a packet in whole, or refuse it."""
        if self.profile.control is FlowControl.CREDIT:
            return True
        if self.reserve + size <= self.profile.reserve_bytes:
            self.reserve += size
            return True
        if self.shared + size <= self.threshold and self.pool.used + size <= self.pool.size:
            self.shared += size
            self.pool.used += size
            return True
        if self.profile.control is FlowControl.PAUSE and self.headroom + size <= self.profile.headroom_bytes:
            self.headroom += size
            return True
        return False

    def release(self, size: int) -> None:
        """Give bytes back: those of the headroom first, then those of the pool, then its own."""
        if self.profile.control is FlowControl.CREDIT:
            return
        part = min(size, self.headroom)
        self.headroom -= part
        size -= part
        part = min(size, self.shared)
        self.shared -= part
        self.pool.used -= part
        size -= part
        self.reserve -= size
        assert self.reserve >= 0

    @property
    def wants_off(self) -> bool:
        """Whether it must ask for a pause."""
        return self.headroom > 0 and not self.is_off

    @property
    def wants_on(self) -> bool:
        """Whether it can ask to go on."""
        has_room = self.shared == 0 or self.shared + self.profile.resume_offset_bytes <= self.threshold
        return self.is_off and self.headroom == 0 and has_room
