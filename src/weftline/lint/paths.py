"""Rules on routing: as many ways as declared, spread evenly, and none that leads down and up again."""

from __future__ import annotations

from collections.abc import Iterator

from weftline.lint.rule import Hit, LintSource, Rule


def _judge_groups(source: LintSource) -> Iterator[Hit]:
    for device in source.switches:
        if "routing" in device.covers and device.uses_kernel_groups is not None and device.uses_kernel_groups.value:
            words = "routes go into the kernel as next-hop groups, which keep one member after a link flap (FRR 8.4)"
            yield Hit(device.name, words, device.uses_kernel_groups.where, "no zebra nexthop kernel enable")


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
            if router.width is not None and router.width.value < 2 <= len(ways):
                words = f"one way is used of {len(ways):,} neighbours in VRF {router.vrf}"
                yield Hit(device.name, words, router.width.where, f"maximum-paths {len(ways)}")


def _judge_seed(source: LintSource) -> Iterator[Hit]:
    """Tiers that hash alike send what one tier put on one link to one link again."""
    seeds = [device for device in source.switches if device.hash_seed is not None]
    above: dict[str, set[str]] = {}
    for link in source.links:
        for (device, _), (other, _) in link.ways:
            above.setdefault(device.name, set()).add(other.name)
    for device in seeds:
        near = [d for d in seeds if d.name in above.get(device.name, ()) and d.name > device.name]
        same = [
            d.name for d in near if d.hash_seed and device.hash_seed and d.hash_seed.value == device.hash_seed.value
        ]
        if same and device.hash_seed is not None:
            words = f"seed {device.hash_seed.value} is that of its neighbour {same[0]} too: flows polarise"
            yield Hit(device.name, words, device.hash_seed.where, "another seed in each tier")


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
    Rule("routing.floods", "critical", _judge_flood, "SIGCOMM 2016, section 4.2: deadlock by flooding"),
)
