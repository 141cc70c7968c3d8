"""The slow, obvious twin of the Clos builder: one link at a time, by the words of the documentation."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil

from weftline.model.design import ResolvedSpec

Node = tuple[object, ...]
End = tuple[Node, int]


@dataclass
class Slow:
    """Nodes by tier, each a tuple that says where it stands, and links between (node, port number)."""

    leaves: list[Node] = field(default_factory=list[Node])
    spines: list[Node] = field(default_factory=list[Node])
    cores: list[Node] = field(default_factory=list[Node])
    links: set[tuple[End, End]] = field(default_factory=set[tuple[End, End]])


def divisor(number: int, least: int) -> int:
    return min(d for d in range(1, number + 1) if number % d == 0 and d >= least)


def split(items: list[Node], groups: int) -> list[list[Node]]:
    """Cut a list into groups as equal as possible, the larger ones first."""
    result: list[list[Node]] = []
    rest = list(items)
    for left in range(groups, 0, -1):
        size = ceil(len(rest) / left)
        result.append(rest[:size])
        rest = rest[size:]
    return result


def build(design: ResolvedSpec, tiers: int) -> Slow:
    kind, planes = design.spec.topology.kind, design.spec.topology.planes
    hosts, rails, size = design.spec.hosts.count, design.rails, design.unit_size
    units = ceil(hosts / size)
    leaf_rails = 1 if kind == "fat-tree" else rails
    slow = Slow()
    for plane in range(planes):
        for unit in range(units):
            slow.leaves.extend((plane, unit, rail) for rail in range(leaf_rails))
    plug_hosts(design, slow)
    if tiers == 1:
        return slow
    slots = size * (rails if kind == "fat-tree" else 1)
    uplinks = ceil(slots / design.spec.topology.oversubscription - 1e-9)
    for plane in range(planes):
        whole = [leaf for leaf in slow.leaves if leaf[0] == plane]
        components = [[leaf for leaf in whole if leaf[2] == rail] for rail in range(rails)]
        for number, leaves in enumerate(components if kind == "rail-only" else [whole]):
            part: Node = (plane, number)
            if tiers == 2:
                two(design, slow, part, leaves, slots, uplinks)
            else:
                lanes = components if kind == "rail-optimised" else [leaves]
                three(design, slow, part, lanes, slots, uplinks)
    return slow


def plug_hosts(design: ResolvedSpec, slow: Slow) -> None:
    kind, planes = design.spec.topology.kind, design.spec.topology.planes
    rails, size = design.rails, design.unit_size
    for host in range(design.spec.hosts.count):
        for rail in range(rails):
            for plane in range(planes):
                unit, slot = divmod(host, size)
                if kind == "fat-tree":
                    leaf, down = (plane, unit, 0), slot * rails + rail + 1
                else:
                    leaf, down = (plane, unit, rail), slot + 1
                slow.links.add(((("host", host), rail * planes + plane + 1), (leaf, down)))


def two(design: ResolvedSpec, slow: Slow, part: Node, leaves: list[Node], slots: int, uplinks: int) -> None:
    count = divisor(uplinks, ceil(len(leaves) * uplinks / design.spine.ports))
    pod(slow, (*part, 0), leaves, slots, (count, uplinks // count))


def pod(slow: Slow, name: Node, leaves: list[Node], slots: int, tops: tuple[int, int]) -> list[Node]:
    count, parallel = tops
    spines: list[Node] = [(*name, position) for position in range(count)]
    slow.spines.extend(spines)
    for index, leaf in enumerate(leaves):
        for q in range(count * parallel):
            upper = (spines[q // parallel], index * parallel + q % parallel + 1)
            slow.links.add(((leaf, slots + q + 1), upper))
    return spines


def three(design: ResolvedSpec, slow: Slow, part: Node, lanes: list[list[Node]], slots: int, uplinks: int) -> None:
    half = design.spine.ports // 2
    groups = ceil(len(lanes[0]) / half)
    pods = [group for lane in lanes for group in split(lane, groups)]
    count = divisor(uplinks, ceil(max(map(len, pods)) * uplinks / half))
    rows = [pod(slow, (*part, number), leaves, slots, (count, uplinks // count)) for number, leaves in enumerate(pods)]
    cores = divisor(half, ceil(len(pods) * half / design.core.ports))
    parallel = half // cores
    for position in range(count):
        names: list[Node] = [("core", *part, position, index) for index in range(cores)]
        slow.cores.extend(names)
        for number, row in enumerate(rows):
            for t in range(half):
                upper = (names[t // parallel], number * parallel + t % parallel + 1)
                slow.links.add(((row[position], half + t + 1), upper))
