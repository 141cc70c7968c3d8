"""What a declaration asks of classes, buffers and platform that cannot be: refused with the arithmetic."""

from __future__ import annotations

from collections.abc import Iterator

from weftline.errors import Problem
from weftline.model.design import ResolvedSpec
from weftline.model.spec import AUTO
from weftline.technologies.roce.classes import COUNT, Classes, list_classes, number_classes

ADAPTIVE = ("nvue",)
"""Systems whose files can say adaptive routing."""
WEIGHTED = "weighted-ecmp"
WEIGHING = ("sonic",)
"""Systems whose files say what is told of bandwidth."""


def list_refusals(design: ResolvedSpec) -> tuple[Problem, ...]:
    """List what stands against a declaration."""
    classes = number_classes(design.spec)
    return (
        *_judge_both_ways(design),
        *_judge_count(design, classes),
        *_judge_dscps(design, classes),
        *_judge_numbers(design, classes),
        *_judge_shares(design),
        *_judge_marks(design),
        *_judge_adaptive(design),
        *_judge_weighted(design),
    )


def _place_of(design: ResolvedSpec, index: int, key: str) -> str:
    """Name the key of a class that is written down, or the class."""
    path = f"roce.classes[{index}]"
    return f"{path}.{key}" if f"{path}.{key}" in design.places else path


def _judge_both_ways(design: ResolvedSpec) -> Iterator[Problem]:
    """Refuse classes that are declared in two places, and classes of which none is for RDMA."""
    if not design.spec.roce.classes:
        return
    for key in ("priority", "dscp"):
        where = design.places.get(f"lossless.{key}")
        if where is not None:
            message = f"lossless.{key} is written beside roce.classes, which say it too"
            yield Problem("spec.class-twice", message, "keep roce.classes, and remove the other", where)
    names: set[str] = set()
    for index, one in enumerate(design.spec.roce.classes):
        if one.name in names:
            message = f"roce.classes[{index}].name is {one.name!r} as that of another class is"
            where = design.places.get(_place_of(design, index, "name"))
            yield Problem("spec.duplicate-name", message, "give each its own name", where)
        names.add(one.name)
    if not any(one.lossless for one in design.spec.roce.classes):
        message = f"none of the {len(design.spec.roce.classes)} classes is lossless, and RDMA needs one"
        hint = "write lossless: true at the class of RDMA"
        yield Problem("spec.no-lossless-class", message, hint, design.places.get("roce.classes"))


def _judge_count(design: ResolvedSpec, classes: Classes) -> Iterator[Problem]:
    declared = len(classes.declared)
    covered = {dscp for one in list_classes(design.spec) for dscp in one.dscps} | {classes.notification.dscp}
    rest = int(len(covered) < 64)
    if declared + 1 + rest > COUNT:
        sums = f"{declared} declared + 1 (notifications) + {rest} (all else) = {declared + 1 + rest}"
        message = f"a port tells {COUNT} classes apart, and there are {sums}"
        where = design.places.get("roce.classes")
        yield Problem("capability.too-many-classes", message, "declare fewer classes", where)


def _judge_dscps(design: ResolvedSpec, classes: Classes) -> Iterator[Problem]:
    """Refuse a DSCP that belongs to two classes: a packet has one."""
    if not design.spec.roce.classes:
        return  # the section lossless is judged by itself
    owner: dict[int, str] = {}
    for index, one in enumerate(classes.declared):
        for dscp in one.section.dscps:
            if dscp in owner:
                message = f"DSCP {dscp} belongs to class {owner[dscp]} and to class {one.section.name}"
                where = design.places.get(_place_of(design, index, "dscps"))
                yield Problem("capability.class-clash", message, "a packet belongs to one class", where)
            owner.setdefault(dscp, one.section.name)
    if classes.notification.dscp in owner:
        dscp = classes.notification.dscp
        message = f"DSCP {dscp} is that of class {owner[dscp]} and of congestion notifications"
        where = design.places.get("roce.cnp.dscp") or design.places.get("lossless.cnp_dscp")
        where = where or design.places.get("roce.classes")
        yield Problem("capability.class-clash", message, "give notifications a DSCP of their own", where)


def _judge_numbers(design: ResolvedSpec, classes: Classes) -> Iterator[Problem]:
    """Refuse classes that share a number which tells them apart."""
    if not design.spec.roce.classes:
        return
    notification = classes.notification
    for key, word, own in (
        ("priority", "priority", notification.priority),
        ("traffic_class", "traffic class", notification.key),
        ("queue", "queue", notification.queue),
        ("group", "priority group", None),
    ):
        owner = {} if own is None else {own: "congestion notifications"}
        for index, one in enumerate(classes.declared):
            if key == "group" and not one.section.lossless:
                if one.group in {other.group for other in classes.lossless}:
                    message = (
                        f"class {one.section.name} may lose packets and shares priority group {one.group} with one "
                        "that may not"
                    )
                    where = design.places.get(_place_of(design, index, key))
                    yield Problem("capability.class-clash", message, "give it another group, or auto", where)
                continue
            number = {"priority": one.priority, "traffic_class": one.key, "queue": one.queue, "group": one.group}[key]
            if number in owner:
                message = f"{owner[number]} and class {one.section.name} both have {word} {number}"
                where = design.places.get(_place_of(design, index, key))
                hint = "give each its own: a pause of one would stop the other too"
                yield Problem("capability.class-clash", message, hint, where)
            owner.setdefault(number, f"class {one.section.name}")


def _judge_shares(design: ResolvedSpec) -> Iterator[Problem]:
    weighted = [one for one in design.spec.roce.classes if one.schedule == "weighted"]
    asked = [one.weight for one in weighted if one.weight != AUTO]
    others = len(weighted) - len(asked) + 1
    if asked and sum(asked) + others > 100:
        sums = " + ".join(str(weight) for weight in asked)
        message = (
            f"the classes ask for {sums} = {sum(asked)} of 100 percent, and {others} more (all else among them) need a "
            "share"
        )
        where = design.places.get("roce.classes")
        yield Problem("spec.class-shares", message, "ask for less, so that no class starves", where)


def _judge_marks(design: ResolvedSpec) -> Iterator[Problem]:
    marks = [("roce.ecn", design.spec.roce.ecn)]
    marks += [
        (f"roce.classes[{index}].ecn", one.ecn) for index, one in enumerate(design.spec.roce.classes) if one.ecn != AUTO
    ]
    for path, section in marks:
        if (
            isinstance(section.min_bytes, int)
            and isinstance(section.max_bytes, int)
            and section.min_bytes > section.max_bytes
        ):
            message = f"{path}.min_bytes is {section.min_bytes:,}, above max_bytes, {section.max_bytes:,}"
            yield Problem("spec.marks", message, "marking grows from min_bytes to max_bytes", design.places.get(path))


def _judge_adaptive(design: ResolvedSpec) -> Iterator[Problem]:
    system = design.spec.roce.platform.system
    if design.spec.roce.adaptive_routing and system not in ADAPTIVE:
        message = f"adaptive routing cannot be written for {system}: no public document says how"
        hint = f"platforms that can: {', '.join(ADAPTIVE)}"
        yield Problem("capability.adaptive-routing", message, hint, design.places.get("roce.adaptive_routing"))


def _judge_weighted(design: ResolvedSpec) -> Iterator[Problem]:
    """Refuse weights that no file would say."""
    if design.spec.routing.engine != WEIGHTED:
        return
    where = design.places.get("routing.engine")
    system = design.spec.roce.platform.system
    if system not in WEIGHING:
        message = f"engine {WEIGHTED} is not written for {system}: its files would tell no bandwidth of links"
        hint = f"use engine ecmp, or a platform whose files do: {', '.join(WEIGHING)}"
        yield Problem("capability.weighted-ways", message, hint, where)
    if design.spec.roce.tenancy.kind != "none" and len(design.spec.tenants) > 1:
        message = f"engine {WEIGHTED} is not written for tenants in VRFs of their own: their routes tell no bandwidth"
        yield Problem("capability.weighted-ways", message, "use engine ecmp, or roce.tenancy.kind none", where)
