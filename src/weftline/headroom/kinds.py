"""Kinds of ports: two that files configure alike are one, so that work grows with kinds and not with ports."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, fields, is_dataclass
from operator import attrgetter
from typing import Any

from weftline.model.observed import ObservedDevice
from weftline.model.observed_port import ObservedPort
from weftline.model.said import Said

_OWN = frozenset({
    "name", "where", "sorted_at", "number", "peer", "addresses", "vrf", "bundle", "lanes", "fec"
})  # fmt: skip
"""Fields of a port that are its own and decide nothing of how packets fare."""
_ATOMS = frozenset({int, str, float, bool, type})


@dataclass(slots=True)
class PortKinds:
    """Numbers ports by what decides how packets fare at them; places in files are left out."""

    signs: dict[int, int] = field(default_factory=dict[int, int])
    kinds: dict[Hashable, int] = field(default_factory=dict[Hashable, int])
    maps: dict[int, Hashable] = field(default_factory=dict[int, Hashable])
    getters: dict[type, attrgetter[tuple[Any, ...]]] = field(default_factory=dict[type, "attrgetter[tuple[Any, ...]]"])
    held: list[object] = field(default_factory=list[object])
    """What was numbered by its identity, kept so that no other takes that."""

    def sign(self, device: ObservedDevice, port: ObservedPort) -> int:
        """Number the kind of a port; two ports of one kind are treated alike."""
        found = self.signs.get(id(port))
        if found is None:
            part = None if device.platform is None else device.platform.value
            kind = (device.role, part, "watchdog" in device.covers, self.strip(port))
            found = self.signs[id(port)] = self.kinds.setdefault(kind, len(self.kinds))
            self.held.append(port)
        return found

    def strip(self, value: Any) -> Hashable:
        """Take the places out of a value; a map that ports share is looked at once."""
        kind: type[Any] = value.__class__
        if kind is Said:
            value = value.value
            kind = value.__class__
        if value is None or kind in _ATOMS:
            return value
        if kind is tuple:
            return tuple([self.strip(item) for item in value])
        if kind is dict:
            known = self.maps.get(id(value))
            if known is None:
                known = self.maps[id(value)] = tuple(sorted(value.items()))
                self.held.append(value)
            return known
        get = self.getters.get(kind)
        if get is None:
            if not is_dataclass(kind):
                return value
            own = _OWN if kind is ObservedPort else {"where"}
            names = [one.name for one in fields(kind) if one.name not in own]
            get = self.getters[kind] = attrgetter("__class__", *names)
        return tuple([one if one is None else self.strip(one) for one in get(value)])
