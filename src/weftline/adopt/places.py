"""Devices and ports of a plan found in a fabric: by what dumps and people call them, never by a guess."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field

from weftline.adopt.names import plain_name, split_adapter, split_unit
from weftline.formats.portname import PortWord, read_port
from weftline.model.adoption import Adoption
from weftline.model.fabric import NodeKind

MAX_CHIPS = 8
"""Chips of one board of a director."""
TWINS = 32
_BOARD = re.compile(r"(?:([LS])0*(\d+)/)?U(\d+)")
_TWIN_CAGES = re.compile(r"MQM97\d\d|Q?97[09]0|QM97\d\d", re.IGNORECASE)
"""Models with 32 cages of two ports each, labelled 1/1 to 32/2 for ports 1 to 64 (QM9700 and QM9790 user manual)."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a device or port of the plan is in the fabric."""

    nodes: tuple[int, ...] = ()
    """Nodes of that name; a director has one per chip."""
    port: int = -1
    reason: str = ""
    """Why there is no port, in words; empty where there is one."""


@dataclass(slots=True)
class Directory:
    """The nodes and ports of a fabric by every name that they answer to."""

    adoption: Adoption
    nodes: dict[str, set[int]] = field(default_factory=lambda: defaultdict[str, set[int]](set))
    short: dict[str, set[int]] = field(default_factory=lambda: defaultdict[str, set[int]](set))
    """By the name before the first dot."""
    units: dict[tuple[str, str, int], list[int]] = field(default_factory=lambda: defaultdict(list))
    """By managed name, board and chip."""
    boards: set[str] = field(default_factory=set[str])
    """Managed names of which the chips stand on boards."""
    models: dict[int, str] = field(default_factory=dict[int, str])
    ports: dict[tuple[int, int], int] = field(default_factory=dict[tuple[int, int], int])
    adapters: dict[tuple[int, str], list[int]] = field(default_factory=lambda: defaultdict(list))
    """By host and the name of the adapter in small letters."""

    def find(self, device: str, port: str) -> Found:
        """Find a port of a plan."""
        word = read_port(port, device)
        title = port if _fold(port).startswith(_fold(device)) else f"{device} {port}"
        name = _device_name(device, port)
        nodes = self.find_nodes(name)
        if not nodes:
            return Found(reason=f"{device} was not found")
        if word is None:
            return Found(nodes, reason=f"{port!r} names no port")
        fabric = self.adoption.fabric
        if all(fabric.node_kind[node] == NodeKind.SWITCH for node in nodes):
            return self._find_switch_port(name, nodes, word, title)
        if len(nodes) > 1:
            return Found(nodes, reason=f"{len(nodes)} nodes are called {device}")
        return self._find_host_port(min(nodes), word, title)

    def find_nodes(self, name: str) -> tuple[int, ...]:
        """Find the nodes that a device is."""
        key = _fold(name)
        found = self.nodes.get(key) or self.nodes.get(_fold(plain_name(name)))
        if not found:
            # A domain may stand on one side only; two that differ are two names.
            found = self.nodes.get(key.partition(".")[0]) if "." in key else self.short.get(key)
        return tuple(sorted(found)) if found else ()

    def _find_switch_port(self, name: str, nodes: tuple[int, ...], word: PortWord, title: str) -> Found:
        """Find a port of a switch or director."""
        number, chosen = word.number, nodes
        if word.kind == "board":
            chips = (word.chip,) if word.chip else range(1, MAX_CHIPS + 1)
            units = [node for chip in chips for node in self.units.get((_fold(name), word.board, chip), ())]
            if not units:
                chip = f"chip U{word.chip} of " if word.chip else ""
                return Found(nodes, reason=f"{title}: no {chip}board {word.board} was found")
            chosen = tuple(units)
        elif word.kind == "cage":
            if len(nodes) > 1 or not _TWIN_CAGES.fullmatch(self.models.get(min(nodes), "")):
                return Found(nodes, reason=f"{title}: which port a label of cage and port means is not known for it")
            number = 2 * (word.chip - 1) + word.number if 1 <= word.chip <= TWINS and word.number <= 2 else 0
        elif word.kind != "number":
            return Found(nodes, reason=f"{title}: a switch has no adapter")
        if len(chosen) > 1:
            what = "chips have that name; say the board" if _fold(name) in self.boards else "switches have that name"
            return Found(nodes, reason=f"{title}: {len(chosen)} {what}")
        port = self.ports.get((min(chosen), number), -1)
        return Found(chosen, port, "" if port >= 0 else f"{title}: there is no such port")

    def _find_host_port(self, node: int, word: PortWord, title: str) -> Found:
        """Find a port of a host by its adapter; a port that has no cable is not in a dump."""
        places = self.adoption.port_place
        if word.kind == "nic" and word.chip:
            return Found((node,), reason=f"{title}: a dump does not tell planes")
        if word.kind == "nic":
            port = self.ports.get((node, word.number), -1)
            return Found((node,), port, "" if port >= 0 else f"{title}: no cable was found there")
        if word.kind == "adapter":
            ports = self.adapters.get((node, _slot_name(word.adapter)), [])
            wanted = word.number
        else:
            # The ports of a host count its adapters: n is mlx5_(n-1). CVT manual 1.4, "HCA mapping".
            ports = self.adapters.get((node, f"#{word.number - 1}"), []) if word.kind == "number" else []
            wanted = 0
            if not ports and word.kind == "number" and len(self._adapters_of(node)) == 1:
                ports, wanted = self._adapters_of(node)[0], word.number
        fitting = [port for port in ports if wanted in {0, places[port]}]
        if len(fitting) == 1:
            return Found((node,), fitting[0])
        reason = "no cable was found there" if not fitting else f"{len(fitting)} ports are called so"
        return Found((node,), reason=f"{title}: {reason}")

    def _adapters_of(self, node: int) -> list[list[int]]:
        """List the ports of each adapter of a host."""
        fabric = self.adoption.fabric
        groups: dict[str, list[int]] = defaultdict(list)
        for port in range(int(fabric.port_ptr[node]), int(fabric.port_ptr[node + 1])):
            groups[self.adoption.port_adapter[port]].append(port)
        return list(groups.values())


def make_directory(adoption: Adoption) -> Directory:
    """Index a fabric."""
    fabric = adoption.fabric
    directory = Directory(adoption)
    ids: list[int] = adoption.addresses.node_id.tolist()
    for node, (name, description) in enumerate(zip(fabric.node_name, adoption.node_description, strict=True)):
        words = {name, description, plain_name(description)}
        unit = split_unit(description)
        if unit is not None:
            words.add(unit.name)
            directory.models[node] = unit.model
            match = _BOARD.fullmatch(unit.place)
            if match:
                board = f"{match[1]}{int(match[2])}" if match[1] else ""
                directory.units[(_fold(unit.name), board, int(match[3]))].append(node)
                if board:
                    directory.boards.add(_fold(unit.name))
        if ids[node]:
            words.update({f"0x{ids[node]:016x}", f"{ids[node]:016x}"})
        for word in words:
            if word:
                directory.nodes[_fold(word)].add(node)
                directory.short[_fold(word).partition(".")[0]].add(node)
    _index_ports(directory)
    # A short name counts only where one node has it.
    directory.short = {key: found for key, found in directory.short.items() if len(found) == 1}
    return directory


def _index_ports(directory: Directory) -> None:
    """Index ports by number, and those of hosts by their adapters."""
    adoption, fabric = directory.adoption, directory.adoption.fabric
    nodes: list[int] = fabric.port_node.tolist()
    numbers: list[int] = fabric.port_number.tolist()
    for port, (node, number) in enumerate(zip(nodes, numbers, strict=True)):
        directory.ports[(node, number)] = port
        adapter = adoption.port_adapter[port]
        split = split_adapter(adapter)
        if split is not None:
            directory.nodes[_fold(split[0])].add(node)
            name = adapter.rpartition(" ")[2]
            directory.adapters[(node, _slot_name(_fold(name)))].append(port)


def _slot_name(adapter: str) -> str:
    """Give HCA-3 and mlx5_2 one name."""
    match = re.fullmatch(r"(?:hca-?(\d+)|mlx\d_(\d+))", adapter)
    if match is None:
        return adapter
    return f"#{int(match[1]) - 1 if match[1] else int(match[2])}"


def _device_name(device: str, port: str) -> str:
    """Take the port off a device that repeats it, as ``Server 1 IB Port 1``."""
    tail = _fold(port)
    return device[: -len(port)].strip() if _fold(device).endswith(f" {tail}") and len(device) > len(port) else device


def _fold(text: str) -> str:
    """Compare without case and with single spaces."""
    return " ".join(text.casefold().split())
