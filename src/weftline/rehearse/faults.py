"""What can fail: every link, every switch, pairs of them by sample, groups of shared risk, lines of a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from weftline.errors import Place, Problem
from weftline.kernels.column import I32, NIL
from weftline.model.fabric import TIER_NAMES, Fabric
from weftline.model.fault import Faults
from weftline.rehearse.names import Index, name_links

if TYPE_CHECKING:
    from weftline.model.risk import RiskSpec  # words of a declaration, which one question does without

MAX_LINES = 1_000_000
MAX_PAIRS = 10_000_000
MOST_PROBLEMS = 50
"""Of a file of faults; with each the nearest names are looked for, which takes time."""
JOINT = " + "
"""Between the names of what fails together."""


def gather(parts: Iterable[tuple[str, str, I32]]) -> Faults:
    """Gather faults of (name, kind, ports)."""
    every = list(parts)
    sizes = [len(ports) for _, _, ports in every]
    return Faults(
        tuple(name for name, _, _ in every),
        tuple(kind for _, kind, _ in every),
        np.concatenate(([0], np.cumsum(sizes, dtype=np.int64))).astype(np.int32),
        np.concatenate([ports for _, _, ports in every]).astype(np.int32) if every else np.zeros(0, dtype=np.int32),
    )


def join(one: Faults, other: Faults) -> Faults:
    """Put two sets after each other."""
    ptr = np.concatenate((one.ptr, one.ptr[-1] + other.ptr[1:])).astype(np.int32)
    return Faults(one.name + other.name, one.kind + other.kind, ptr, np.concatenate((one.port, other.port)))


def list_links(fabric: Fabric) -> Faults:
    """List every link, between switches and to hosts, each once."""
    peer = fabric.port_peer
    port = np.flatnonzero((peer != NIL) & (np.arange(len(peer)) < peer)).astype(np.int32)
    ends = np.stack((port, peer[port]), axis=1).reshape(-1).astype(np.int32)
    return Faults(
        tuple(name_links(fabric, port)), _name_kinds(fabric, port), np.arange(0, len(ends) + 1, 2, dtype=np.int32), ends
    )


def _name_kinds(fabric: Fabric, port: I32) -> tuple[str, ...]:
    """Say between which tiers each link is."""
    tier = fabric.node_tier[fabric.port_node]
    ends = np.stack((tier[port], tier[fabric.port_peer[port]]), axis=1)
    return tuple(
        f"{TIER_NAMES[low]}-{TIER_NAMES[high]} link"
        for low, high in zip(ends.min(axis=1).tolist(), ends.max(axis=1).tolist(), strict=True)
    )


def list_switches(fabric: Fabric) -> Faults:
    """List every switch with a lit port; all its links go dark."""
    return gather(
        (fabric.node_name[node], TIER_NAMES[int(fabric.node_tier[node])], ports)
        for node in map(int, fabric.switch_node)
        if len(ports := find_lit(fabric, node))
    )


def find_lit(fabric: Fabric, node: int) -> I32:
    """Find the lit ports of a node and their peers, ascending."""
    own = np.arange(fabric.port_ptr[node], fabric.port_ptr[node + 1], dtype=np.int32)
    own = own[fabric.port_peer[own] != NIL]
    return np.unique(np.concatenate((own, fabric.port_peer[own]))).astype(np.int32)


def sample_pairs(fabric: Fabric, count: int, seed: int) -> Faults:
    """Draw ``count`` different pairs of links between switches, or of switches, by seed; all where there are fewer."""
    links, switches = list_links(fabric), list_switches(fabric)
    row = fabric.switch_row[fabric.port_node]
    inner = [at for at in range(links.count) if (row[links.ports_of(at)] != NIL).all()]
    single = [(links, at) for at in inner] + [(switches, at) for at in range(switches.count)]
    total = len(single) * (len(single) - 1) // 2
    count = min(count, total, MAX_PAIRS)
    draw = np.random.Generator(np.random.PCG64(seed))
    picked: dict[tuple[int, int], None] = {}
    if total <= 2 * count:
        every = [(a, b) for b in range(len(single)) for a in range(b)]
        keep = sorted(draw.choice(total, count, replace=False).tolist()) if total else []
        picked = {every[at]: None for at in keep}
    while len(picked) < count:
        for a, b in draw.integers(0, len(single), (count, 2)).tolist():
            if a != b and len(picked) < count:
                picked[min(a, b), max(a, b)] = None
    return gather(_join(single[a], single[b]) for a, b in picked)


def _join(one: tuple[Faults, int], other: tuple[Faults, int]) -> tuple[str, str, I32]:
    names = JOINT.join(faults.name[at] for faults, at in (one, other))
    return names, "pair", np.union1d(*(faults.ports_of(at) for faults, at in (one, other))).astype(np.int32)


def list_groups(fabric: Fabric, risks: Sequence[RiskSpec]) -> Faults:
    """List the declared groups of shared risk."""
    index = Index(fabric)
    return gather((risk.name, "group", find_members(index, risk)) for risk in risks)


def find_members(index: Index, risk: RiskSpec) -> I32:
    """Find the ports of a group; what no longer has a name is left out, since the declaration was checked."""
    found = [index.find(name) for name in (*risk.links, *risk.switches)]
    ports = [one for one in found if one is not None]
    return np.unique(np.concatenate(ports)).astype(np.int32) if ports else np.zeros(0, dtype=np.int32)


def read_lines(fabric: Fabric, text: str, file: str) -> Faults | tuple[Problem, ...]:
    """Read faults, one of each line: names of links, switches, hosts or ports; several fail together.

    A ``#`` begins a comment. Problems carry line and column.
    """
    index = Index(fabric)
    known: dict[str, I32 | None] = {}
    parts: list[tuple[str, str, I32]] = []
    problems: list[Problem] = []
    lines = text.splitlines()
    if len(lines) > MAX_LINES:
        message = f"{len(lines):,} lines, at most {MAX_LINES:,} are read"
        return (Problem("artifact.faults-file", message, "split the file", Place(file, MAX_LINES + 1, 1)),)
    for number, line in enumerate(lines, start=1):
        words = _list_words(line)
        ports: list[I32] = []
        for column, word in words:
            if word not in known:
                known[word] = index.find(word)
            found = known[word]
            if found is None:
                message = f"nothing is called {word[:80]!r}"
                problems.append(
                    Problem("artifact.faults-file", message, index.suggest(word), Place(file, number, column))
                )
            else:
                ports.append(found)
        if len(problems) >= MOST_PROBLEMS:
            message = f"{len(problems)} names are wrong; the lines after this one were not read"
            problems.append(Problem("artifact.faults-file", message, "mend these first", Place(file, number, 1)))
            break
        if ports and len(ports) == len(words):
            name = JOINT.join(word for _, word in words)
            parts.append((name, "line", np.unique(np.concatenate(ports)).astype(np.int32)))
    if not parts and not problems:
        hint = "write a link, a switch or a port in each line, as leaf-003/33~spine-01/3"
        problems.append(Problem("artifact.faults-file", "no line names a fault", hint, Place(file, 1, 1)))
    return tuple(problems) if problems else gather(parts)


def _list_words(line: str) -> list[tuple[int, str]]:
    """List the words of a line with their columns, without what follows a ``#``; a ``+`` or comma only separates."""
    words: list[tuple[int, str]] = []
    line = line.partition("#")[0].replace(",", " ")
    column = 0
    for word in line.split():
        column = line.index(word, column)
        if word != "+":
            words.append((column + 1, word))
        column += len(word)
    return words


def check_risks(fabric: Fabric, risks: Sequence[RiskSpec], places: Mapping[str, Place]) -> tuple[Problem, ...]:
    """List what groups name that the fabric does not have."""
    index = Index(fabric)
    return tuple(
        Problem(
            "spec.risk-unknown",
            f"risk {risk.name}: nothing is called {name[:80]!r}",
            index.suggest(name),
            places.get(f"risks[{at}].{part}[{place}]") or places.get(f"risks[{at}]"),
        )
        for at, risk in enumerate(risks)
        for part, names in (("links", risk.links), ("switches", risk.switches))
        for place, name in enumerate(names)
        if index.find(name) is None
    )
