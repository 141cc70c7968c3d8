"""In-network reduction for a load: what the parts can, the trees, and the ring where they cannot."""

from __future__ import annotations

from dataclasses import dataclass, replace

from weftline.app.pipeline import Routed
from weftline.errors import SpecError
from weftline.medium import cite
from weftline.model.design import ResolvedSpec, TierPart
from weftline.model.fabric import Fabric
from weftline.model.reduction import AggregationTree, ReductionLimits, ReductionPlan
from weftline.model.traffic import Algorithm, Collective, Flows, Placement
from weftline.schedule import expand, expand_reduction, plan_trees, reduction_chunks
from weftline.units import format_size

IN_NETWORK: Algorithm = "in-network"


@dataclass(frozen=True, slots=True)
class Reduction:
    """How one all-reduce of a load goes through the switches, or why it does not."""

    plan: ReductionPlan
    algorithm: Algorithm
    """What is done: in-network, or what stands in for it."""
    chunks: int
    window: int
    assumptions: tuple[str, ...]

    @property
    def is_planned(self) -> bool:
        """Whether the switches reduce."""
        return self.plan.reason is None


@dataclass(frozen=True, slots=True)
class Reduced:
    """A collective whose algorithm has been settled, and how it becomes flows."""

    collective: Collective
    reduction: Reduction | None
    """None where nobody asked for the network."""

    def expand(self, placement: Placement, fabric: Fabric) -> Flows:
        """Make its flows."""
        if self.reduction is None or not self.reduction.is_planned:
            return expand(self.collective, placement)
        return expand_reduction(self.collective, placement, self.reduction.plan, fabric)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What is taken to be so."""
        return () if self.reduction is None else self.reduction.assumptions


def settle(collective: Collective, placement: Placement, routed: Routed) -> Reduced:
    """Plan the trees of an all-reduce that is to go through switches, or put the ring in its place and say why.

    Raises:
        SpecError: ``spec.collective`` for another collective.
    """
    if collective.algorithm != IN_NETWORK:
        return Reduced(collective, None)
    if collective.kind != "all-reduce":
        raise SpecError(
            "spec.collective", f"{collective.kind} is not done by {IN_NETWORK}", "switches do all-reduce only"
        )
    fabric, design = routed.built.fabric, routed.built.checked.design
    plan = plan_trees(fabric, placement, find_limits(design))
    if plan.reason is not None:
        other: Algorithm = "ring"
        text = f"no reduction in the network, the algorithm {other} instead: {plan.reason}"
        return Reduced(replace(collective, algorithm=other), Reduction(plan, other, 0, 0, (text,)))
    chunks = reduction_chunks(collective, plan, placement.rank_port.shape[1])
    most = format_size(float(chunks.size.max()))
    texts = [f"a tree passes on {len(chunks.size)} chunks of {most}, each when it has all of it"]
    if chunks.is_assumed:
        texts.append(
            f"at most {chunks.window} chunks of a tree are under way at one time, as no figure of the switches is "
            "published; override with reduction_window_bytes of the part"
        )
    if plan.members_per_host > 1:
        texts.append("ranks of one host reduce inside it before and gather after: the phases follow each other")
    if plan.shared_links:
        texts.append(f"{plan.shared_links} links carry more than one tree, as there are not enough others")
    said = (*texts, *plan.assumptions)
    return Reduced(collective, Reduction(plan, IN_NETWORK, len(chunks.size), chunks.window, said))


def find_limits(design: ResolvedSpec) -> tuple[ReductionLimits, ...]:
    """Find what the switches of each tier can reduce, leaves first."""
    return tuple(_limits(tier) for tier in (design.leaf, design.spine, design.core))


def _limits(tier: TierPart) -> ReductionLimits:
    part = tier.part
    return ReductionLimits(
        part=tier.name,
        reduces=bool(part.reduces),
        trees_per_switch=part.reduction_trees,
        trees_per_port=part.reduction_trees_per_port,
        trees_in_fabric=part.reduction_trees_in_fabric,
        children=part.reduction_children,
        latency_ns=part.reduction_latency_ns,
        window_bytes=part.reduction_window_bytes,
        source=cite(part, tier.name, "reduces") if part.reduces else "",
    )


def name_switches(tree: AggregationTree, fabric: Fabric) -> list[list[str]]:
    """Name the switches of a tree, level by level, the root first."""
    return [[fabric.node_name[int(node)] for node in tree.switch[tree.level == level]] for level in range(tree.levels)]


def tell_trees(reduction: Reduction, fabric: Fabric) -> str:
    """Say in one sentence how many trees there are, where their roots are and how high they stand."""
    plan = reduction.plan
    if plan.reason is not None:
        return f"none, {reduction.algorithm} instead: {plan.reason}"
    roots = list(dict.fromkeys(fabric.node_name[int(tree.switch[0])] for tree in plan.trees))
    shown = ", ".join(roots[:4]) + (f" and {len(roots) - 4} more" if len(roots) > 4 else "")
    switches = sum(len(tree.switch) for tree in plan.trees)
    levels = max(tree.levels for tree in plan.trees)
    count = f"{len(plan.trees)} tree{'' if len(plan.trees) == 1 else 's'}"
    root = f"root{'' if len(roots) == 1 else 's'} {shown}"
    return f"{count} of {levels} level{'' if levels == 1 else 's'} over {switches} switches, {root}"


def tell_limits(reduction: Reduction) -> str:
    """Say what limits the trees, by part."""
    return "; ".join(_tell_limit(one) for one in reduction.plan.limits)


def _tell_limit(one: ReductionLimits) -> str:
    words = [
        f"{number} {what}"
        for number, what in (
            (one.trees_per_switch, "at a switch"),
            (one.trees_per_port, "at a port"),
            (one.trees_in_fabric, "in a network"),
        )
        if number is not None
    ]
    trees = f"trees at most {', '.join(words)}" if words else "no limit of trees known"
    gathers = "" if one.children is None else f", from {one.children} ports at most"
    return f"{one.part}: {trees}{gathers}" if one.reduces else f"{one.part}: does not reduce"


__all__ = ["IN_NETWORK", "Reduced", "Reduction", "find_limits", "name_switches", "settle", "tell_limits", "tell_trees"]
