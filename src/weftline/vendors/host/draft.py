"""A host being put together from many outputs: what each says of a port, and where two of them disagree."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, cast

from weftline.errors import Place, Problem
from weftline.model.observed import Evidence, Fact, ObservedDevice, ObservedSetting
from weftline.model.observed_port import ObservedGid, ObservedGroup, ObservedNic, ObservedPort, ObservedQueue
from weftline.model.said import Said

MAX_EVIDENCE = 200_000
UNKNOWN = "unknown"
"""Begins the name of a port that no file names."""
NIC = "nic."
ONLY_NIC = ("trust", "pauses", "class_of_dscp", "group_of_class", "queue_of_class")
"""What is said of NICs that carry RDMA, and not of the interface by which a host is managed."""
MAX_PROBLEMS = 1000


@dataclass
class PortDraft:
    """What was read of one port so far; ``values`` by field of ObservedPort, or ``nic.`` and field of ObservedNic."""

    name: str
    where: Place
    values: dict[str, Said[Any]] = field(default_factory=dict[str, Said[Any]])
    addresses: list[Said[str]] = field(default_factory=list[Said[str]])
    gids: dict[int, ObservedGid] = field(default_factory=dict[int, ObservedGid])
    queues: dict[int, ObservedQueue] = field(default_factory=dict[int, ObservedQueue])
    headroom: Said[int] | None = None
    """Least size of each lossless receive buffer, by Weftline's own list."""
    sizes: dict[int, Said[int]] = field(default_factory=dict[int, Said[int]])
    """Size of a receive buffer where it is said buffer by buffer."""

    def build(self) -> ObservedPort:
        """Make the port; the size of each receive buffer is that of a group."""
        own: dict[str, Any] = {name: said for name, said in self.values.items() if not name.startswith(NIC)}
        nic: dict[str, Any] = {
            name.removeprefix(NIC): said for name, said in self.values.items() if name.startswith(NIC)
        }
        sizes: Said[tuple[int, ...]] | None = nic.get("buffers")
        found = dict(self.sizes)
        if sizes is not None:
            found.update({key: Said(size, sizes.where) for key, size in enumerate(sizes.value)})
        own["groups"] = tuple(ObservedGroup(key, said.where, size_bytes=said) for key, said in sorted(found.items()))
        own["addresses"] = tuple({said.value: said for said in reversed(self.addresses)}.values())[::-1]
        own["queues"] = tuple(self.queues[key] for key in sorted(self.queues))
        if nic or self.gids or any(name in self.values for name in ONLY_NIC):
            own["nic"] = ObservedNic(gids=tuple(self.gids[index] for index in sorted(self.gids)), **nic)
        return ObservedPort(self.name, self.where, **own)


@dataclass
class HostDraft:
    """What was read of one host so far."""

    name: str
    problems: list[Problem]
    files: list[str] = field(default_factory=list[str])
    ports: dict[str, PortDraft] = field(default_factory=dict[str, PortDraft])
    links: dict[str, str] = field(default_factory=dict[str, str])
    """RDMA device -> its interface."""
    settings: dict[str, ObservedSetting] = field(default_factory=dict[str, ObservedSetting])
    evidence: list[Evidence] = field(default_factory=list[Evidence])
    covers: set[str] = field(default_factory=set[str])
    unread: dict[str, int] = field(default_factory=dict[str, int])
    classes: list[Fact] = field(default_factory=list[Fact])
    """What a list of classes says for all NICs."""

    def port(self, name: str, where: Place) -> PortDraft:
        """Return the draft of a port; one without a name is a port of its own, since nobody knows which."""
        if not name:
            name = f"{UNKNOWN}-{1 + sum(port.startswith(UNKNOWN) for port in self.ports)}"
            message = "it is not said which interface or device this is of"
            hint = "keep the command line before the output, or name the file as mlnx_qos-eth2.txt"
            if len(self.problems) < MAX_PROBLEMS:
                self.problems.append(Problem("artifact.host-owner", message, hint, where, "warning"))
        return self.ports.setdefault(name, PortDraft(name, where))

    def device_port(self, device: str, where: Place) -> PortDraft:
        """Return the draft of the port of an RDMA device; by its interface where that is known already."""
        name = self.links.get(device, device)
        port = self.port(name, where)
        if device:
            port.values.setdefault(NIC + "device", Said(device, where))
        return port

    def link(self, device: str, interface: str, where: Place) -> None:
        """Note the interface of an RDMA device, and join what was read under both names."""
        known = self.links.get(device)
        if known is not None and known != interface:
            self.disagree(f"{device} has interface {known} and {interface}", where)
        self.links[device] = interface
        port = self.port(interface, where)
        port.values.setdefault(NIC + "device", Said(device, where))
        other = self.ports.pop(device, None) if device != interface else None
        if other is not None:
            # What was read under the name of the device may be a list, which counts less than what was printed.
            printed, port.values = port.values, dict(other.values)
            for name, said in printed.items():
                self.put(port, name, said)
            port.addresses[:0] = other.addresses
            port.gids = {**other.gids, **port.gids}
            port.queues = {**other.queues, **port.queues}
            port.sizes = {**other.sizes, **port.sizes}
            self.evidence[:] = [_rename(item, device, interface) for item in self.evidence]

    def put(self, port: PortDraft, name: str, said: Said[Any]) -> None:
        """Keep a value; where an earlier output said another, both are named and the later counts."""
        before = port.values.get(name)
        if before is not None and name != NIC + "device" and _differ(before.value, said.value):
            what = name.removeprefix(NIC).replace("_", " ")
            self.disagree(
                f"{port.name}: {what} is {_show(said.value)}, and {_show(before.value)} in {before.where}", said.where
            )
        port.values[name] = said

    def set(self, name: str, value: str, where: Place) -> None:
        """Keep a setting of the host; of two, the later counts."""
        before = self.settings.get(name)
        if before is not None and before.value.value != value:
            self.disagree(f"{name} is {value[:40]!r}, and {before.value.value[:40]!r} in {before.value.where}", where)
        self.settings[name] = ObservedSetting(name, Said(value, where))

    def count(self, item: Evidence) -> None:
        """Keep evidence, up to a bound."""
        if len(self.evidence) < MAX_EVIDENCE:
            self.evidence.append(item)

    def disagree(self, message: str, where: Place) -> None:
        """Name a contradiction between two outputs."""
        hint = "take the outputs of one host at one time"
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(Problem("artifact.host-disagrees", message, hint, where, "warning"))

    def _place_drops(self, item: Evidence) -> Evidence:
        """Say the group of what was dropped: a NIC counts by priority."""
        port = self.ports.get(item.port)
        groups: Said[dict[int, int]] | None = port.values.get("group_of_class") if port else None
        if item.kind != "group-drops" or groups is None:
            return item
        return replace(item, key=groups.value.get(item.key, item.key))

    def build(self) -> ObservedDevice:
        """Make the device."""
        return ObservedDevice(
            name=self.name,
            role="host",
            vendor="host",
            files=tuple(self.files),
            ports=tuple(port.build() for port in self.ports.values()),
            settings=tuple(self.settings.values()),
            evidence=tuple(self._place_drops(item) for item in self.evidence),
            unread=tuple(sorted(self.unread.items())),
            covers=frozenset(self.covers),
            problems=tuple(self.problems),
        )


def _rename(item: Evidence, device: str, interface: str) -> Evidence:
    return Evidence(item.kind, interface, item.key, item.value, item.where) if item.port == device else item


def _differ(one: object, other: object) -> bool:
    """Tell whether two values differ; maps, where both say something."""
    if isinstance(one, dict) and isinstance(other, dict):
        first, second = cast("dict[int, int]", one), cast("dict[int, int]", other)
        return any(first[key] != second[key] for key in first.keys() & second.keys())
    return one != other


def _show(value: object) -> str:
    return repr(value)[:60]
