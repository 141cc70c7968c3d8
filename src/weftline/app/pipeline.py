"""The stages from a declaration to its proofs, each a value that the next one takes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from weftline.app.build import Built, build
from weftline.app.bulk import without_collector
from weftline.app.check import check
from weftline.app.devices import DeviceFiles
from weftline.app.isolation import judge_isolation, put_isolation, render_deciding
from weftline.compile import plan_direct, promised_load
from weftline.errors import CapabilityError, Place, SpecError
from weftline.kernels.column import I32, NIL
from weftline.model.addresses import Addresses
from weftline.model.design import ResolvedSpec
from weftline.model.fabric import Fabric, NodeKind, Tier
from weftline.model.lanes import USUAL_LANES
from weftline.model.proof import ProofReport, ProofRules
from weftline.model.routes import Routes
from weftline.model.topology import DIRECT
from weftline.prove import prove
from weftline.route import ENGINES, compute_routes
from weftline.schedule import job_pairs

Progress = Callable[[str, float | None], None]
"""Called with what is being done and, where it is known, the share that is done (0 to 1)."""

MAX_HOPS = 64
"""Switches on a path where neither a declaration nor the tiers of a tree say how many there should be."""
ROUNDING = 1e-9
NOT_ITS_SHAPE = (
    "capability.engine-needs-tree", "capability.engine-needs-groups", "capability.engine-needs-torus",
    "spec.roots-not-used",
)  # fmt: skip
"""An engine cannot route this fabric as it is declared, and another may."""
ABOUT_LANES = "spec.lanes-not-used"


@dataclass(frozen=True, slots=True)
class Routed:
    """The fabric with its addresses and routes."""

    built: Built
    addresses: Addresses
    routes: Routes


@dataclass(frozen=True, slots=True)
class Proved:
    """The routes with their proofs."""

    routed: Routed
    report: ProofReport
    files: DeviceFiles | None = None
    """The files of the devices, where a claim about them was judged already."""


def silent(_words: str, _share: float | None) -> None:
    """Report no progress."""


def compute(built: Built) -> Routed:
    """Assign addresses and compute routes with the declared engine; ``auto`` takes the first that can."""
    design = built.checked.technology.design
    routing = built.checked.design.spec.routing
    addresses = design.assign(built.checked.design, built.fabric)
    by_shape = design.shaped.get(built.fabric.shape, ())
    engines = (*by_shape, *design.engines) if routing.engine == "auto" else (routing.engine,)
    return Routed(built, addresses, _first_routes(built, engines, 1 << addresses.multipath_bits))


def _first_routes(built: Built, engines: tuple[str, ...], paths: int) -> Routes:
    """Compute routes with the first engine whose shape the fabric has; ``paths`` are the addresses of an endpoint."""
    routing = built.checked.design.spec.routing
    to_switches = built.checked.technology.design.routes_to_switches
    lanes = _allowed_lanes(built.checked.design) if ENGINES[engines[0]].takes_lanes or routing.lanes != "auto" else None
    try:
        return compute_routes(
            built.fabric, engines[0], to_switches=to_switches, roots=routing.roots, lanes=lanes, paths=paths
        )
    except (CapabilityError, SpecError) as error:
        if error.code in NOT_ITS_SHAPE and engines[1:]:
            return _first_routes(built, engines[1:], paths)
        error.where = error.where or _routing_place(built, error.code)
        raise


def allow_lanes(built: Built) -> int:
    """Say how many lanes the tables of a fabric may use."""
    return _allowed_lanes(built.checked.design)


def _allowed_lanes(design: ResolvedSpec) -> int:
    """Say how many lanes tables may use: as declared, else what devices usually have, unless one has fewer."""
    declared = design.spec.routing.lanes
    if declared != "auto":
        return declared
    tiers = (design.leaf.part.data_lanes, design.spine.part.data_lanes, design.core.part.data_lanes)
    return min(USUAL_LANES, *(cap for cap in (design.nic.data_lanes, *tiers) if cap is not None), USUAL_LANES)


def _routing_place(built: Built, code: str) -> Place | None:
    """Find where the declaration speaks of routing, else of the shape, else its first line."""
    places = built.checked.design.places
    own = places.get("routing.lanes") if code == ABOUT_LANES else None
    return own or places.get("routing.engine") or places.get("topology.kind") or places.get("")


@without_collector()
def judge(routed: Routed) -> Proved:
    """Prove the claims about the routes."""
    design = routed.built.checked.design
    fabric = routed.built.fabric
    pairs = _pairs_of_jobs(design, fabric)
    report = prove(fabric, routed.routes, proof_rules(design, fabric), pairs)
    files = render_deciding(routed.built, routed.addresses, routed.routes)
    isolation = judge_isolation(routed.built, routed.addresses, files)
    return Proved(routed, put_isolation(report, isolation), files)


def _pairs_of_jobs(design: ResolvedSpec, fabric: Fabric) -> tuple[I32, I32] | None:
    """Gather the endpoint ports that send to each other at one time in all declared jobs together."""
    if not design.spec.jobs:
        return None
    pairs = [job_pairs(design, fabric, index) for index in range(len(design.spec.jobs))]
    source = np.concatenate([source for source, _ in pairs])
    target = np.concatenate([target for _, target in pairs])
    return source, fabric.endpoint_port[target]


def proof_rules(design: ResolvedSpec, fabric: Fabric) -> ProofRules:
    """Turn the declared claims into the rules of the proofs; ``auto`` becomes what the topology promises."""
    claims = design.spec.claims
    threshold = claims.balance_threshold
    return ProofRules(
        required=claims.required,
        balance_threshold=_promised_load(design, fabric) if threshold == "auto" else threshold,
        max_hops=_longest_path(fabric) if claims.max_hops == "auto" else claims.max_hops,
    )


def _promised_load(design: ResolvedSpec, fabric: Fabric) -> float:
    """Work out the load that the shape can promise: flows are whole, and what is not full wraps shifts in two.

    Where the last unit is not full, or pods differ in size, a shift sends the hosts of one leaf to two runs of hosts,
    each of which uses every uplink once; no tables can avoid that on a tree with as many uplinks as hosts. Without a
    tree it is what the shape has for the worst shift on shortest paths.
    """
    if design.spec.topology.kind in DIRECT:
        plan = plan_direct(design)
        return 1.0 if isinstance(plan, tuple) else math.ceil(promised_load(design, plan) - ROUNDING)
    whole = math.ceil(design.spec.topology.oversubscription - ROUNDING)
    return float(whole if _is_even(design, fabric) else 2 * whole)


def _is_even(design: ResolvedSpec, fabric: Fabric) -> bool:
    """Tell whether every unit is full (or there is only one) and every pod has as many leaves as the next."""
    hosts, unit = design.spec.hosts.count, design.unit_size
    leaf = np.flatnonzero((fabric.node_kind == NodeKind.SWITCH) & (fabric.node_tier == Tier.LEAF))
    pods = np.stack([fabric.node_component[leaf], fabric.node_rail[leaf], fabric.node_group[leaf]])
    leaves = np.unique(pods, axis=1, return_counts=True)[1]
    return (hosts <= unit or hosts % unit == 0) and int(np.ptp(leaves)) == 0


def _longest_path(fabric: Fabric) -> int:
    """Count the switches of the longest path that a tree needs; a graph with links inside a tier may need all."""
    tiers = fabric.node_tier[fabric.port_node]
    joined = fabric.port_peer != NIL
    if (tiers[joined] == tiers[fabric.port_peer[joined]]).any():
        return min(MAX_HOPS, len(fabric.switch_node))
    return 2 * max(int(fabric.node_tier.max(initial=1)), 1) - 1


def run_to_routes(place: Path, progress: Progress = silent) -> Routed:
    """Go from a declaration to its routes."""
    progress("reading the declaration", None)
    checked = check(place)
    progress("compiling the fabric", None)
    built = build(checked)
    progress("computing routes", None)
    return compute(built)


def run_to_proofs(place: Path, progress: Progress = silent) -> Proved:
    """Go from a declaration to its proofs."""
    routed = run_to_routes(place, progress)
    progress("proving the claims", None)
    return judge(routed)
