"""Rules on routing: as many ways as declared, spread evenly, and none that leads down and up again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from weftline.lint.rule import Hit, LintSource, Rule, show_place
from weftline.model.observed import ObservedDevice
from weftline.model.observed_routing import ObservedRouter


def find_process(device: ObservedDevice) -> ObservedRouter:
    """Return the process that speaks to neighbours, else the first; the device must have one."""
    return next((router for router in device.routers if router.neighbours), device.routers[0])


def _judge_groups(source: LintSource) -> Iterator[Hit]:
    avoided = any(d.uses_kernel_groups is not None and not d.uses_kernel_groups.value for d in source.switches)
    for device in source.switches:
        said = device.uses_kernel_groups
        words = "routes go into the kernel as next-hop groups, which keep one member after a link flap (FRR 8.4)"
        right = "no zebra nexthop kernel enable"
        if said is not None and said.value:
            yield Hit(device.name, words, said.where, right)
        elif said is None and "kernel-groups" in device.covers and device.routers:
            # FRR's default; with a release that nobody names it is worth a look where others avoid it.
            release = "" if device.release is None else device.release.value
            is_warned = avoided or release.startswith("8.")
            where = find_process(device).where
            yield Hit(
                device.name, f"{words}; no line says otherwise", where, right, (), "warning" if is_warned else "note"
            )


def _judge_valley(source: LintSource) -> Iterator[Hit]:
    for device in source.switches:
        for router in device.routers:
            for neighbour in router.neighbours:
                said = neighbour.allows_own_number
                if said is not None and said.value:
                    words = (
                        f"routes from {neighbour.name} that passed this number already are taken: a way may lead down "
                        "and up again"
                    )
                    yield Hit(device.name, words, said.where, "no allowas-in between tiers")


def _judge_width(source: LintSource) -> Iterator[Hit]:
    for device in source.switches:
        for router in device.routers:
            ways = [
                n for n in router.neighbours if any(f.value in {"ipv4", "ipv6"} for f in n.families) or not n.families
            ]
            # Neighbours of one number lead to the same place, as the spines of a leaf.
            alike = Counter(n.number.value for n in ways if n.number is not None)
            most = max([*alike.values(), min(len(ways), 2)])
            if router.width is not None and router.width.value < most:
                words = f"{router.width.value} ways at most are used of {len(ways):,} neighbours in VRF {router.vrf}"
                yield Hit(device.name, words, router.width.where, f"maximum-paths {most}")


def _judge_seed(source: LintSource) -> Iterator[Hit]:
    """Tiers that hash alike send what one tier put on one link to one link again."""
    seeds = [device for device in source.switches if device.hash_seed is not None]
    above: dict[str, set[str]] = {}
    for link in source.links:
        for (device, _), (other, _) in link.ways:
            above.setdefault(device.name, set()).add(other.name)
    for device in seeds:
        near = [d for d in seeds if d.name in above.get(device.name, ()) and d.name > device.name]
        mine = device.hash_seed
        same = [(d.name, d.hash_seed) for d in near if d.hash_seed and mine and d.hash_seed.value == mine.value]
        if same and mine is not None:
            name, theirs = same[0]
            words = (
                f"seed {mine.value} is that of its neighbour {name} too ({show_place(theirs.where)}): flows polarise"
            )
            yield Hit(device.name, words, mine.where, "another seed in each tier")


def _judge_hash(source: LintSource) -> Iterator[Hit]:
    """All connections of two NICs differ in their UDP source port alone."""
    for device in source.switches:
        said = device.hash_fields
        if said is not None and said.value and not set(said.value) & _ENTROPY:
            words = f"paths are chosen by {', '.join(said.value)}: all connections of two NICs take one"
            yield Hit(device.name, words, said.where, "hash the UDP source port too")


_ENTROPY = frozenset({"source-port", "queue-pair", "inner-source-port"})
"""What differs between two connections of one pair of NICs."""


def _judge_flood(source: LintSource) -> Iterator[Hit]:
    for device in source.switches:
        said = device.discards_incomplete
        if said is not None and not said.value:
            words = "lossless packets without a resolved neighbour are flooded, which closes a circle of pauses"
            yield Hit(device.name, words, said.where, "drop lossless packets with incomplete ARP")


RULES = (
    Rule("routing.kernel-groups", "warning", _judge_groups, "FRRouting/frr issues 12239 and 14481; our lab"),
    Rule("routing.valley", "warning", _judge_valley, "Tagger (CoNEXT 2017): bounces close a circle of pauses"),
    Rule("routing.one-way", "warning", _judge_width, "half of the uplinks idle"),
    Rule("routing.same-seed", "warning", _judge_seed, "hash polarisation; SIGCOMM 2024 (HPN)"),
    Rule("routing.narrow-hash", "warning", _judge_hash, "RoCEv2 varies the UDP source port alone; our lab"),
    Rule("routing.floods", "critical", _judge_flood, "SIGCOMM 2016, section 4.2: deadlock by flooding"),
)
