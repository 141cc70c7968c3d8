"""What the manager's own routing engines would do with a fabric: run, read back, and proved beside ours."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from weftline.adopt import place_states
from weftline.app.adopt import read_adoption
from weftline.app.build import build
from weftline.app.check import check
from weftline.app.choose import choose_routes
from weftline.app.files import is_folder
from weftline.app.pipeline import MAX_HOPS, Progress, compute, silent
from weftline.app.workspace import FOLDER, SUFFIXES, open_place
from weftline.drivers import DRIVERS
from weftline.errors import ArtifactError, CapabilityError, Problem
from weftline.kernels.column import NIL
from weftline.labs import LABS
from weftline.model.addresses import Addresses
from weftline.model.adoption import Adoption
from weftline.model.driver import Access, SubnetState
from weftline.model.fabric import Fabric
from weftline.model.lab import EngineRun, Lab, LabDesign, LabSubnet
from weftline.model.proof import Proof, ProofReport, ProofRules, Verdict
from weftline.model.routes import Routes
from weftline.prove import prove
from weftline.route import compute_routes
from weftline.technologies.infiniband.addresses import number

TECHNOLOGY = "infiniband"
"""Of a discovery dump, which names none."""
LIMIT_S = 120.0
ENGINES = "engines"
"""Folder of the workspace in which engines run."""
RULES = ProofRules(
    required=("reach", "deadlock"), balance_threshold=1.0, max_hops=MAX_HOPS, all_shifts_up_to=1024, sample_shifts=64
)
ONLY_DEADLOCK = ProofRules(required=("deadlock",), max_hops=MAX_HOPS, all_shifts_up_to=1, sample_shifts=1)
DEADLOCK = "deadlock"
ON_LANES = (
    "as one lane the tables hold a cycle; the service levels that this engine gives to paths decide whether a lane "
    "does, and they were not read"
)


@dataclass(frozen=True, slots=True)
class Judged:
    """The tables of one engine, judged."""

    label: str
    run: EngineRun | None
    """None for our own engine, which needs no lab to run."""
    report: ProofReport | None
    """None where no tables were programmed."""
    between_endpoints: Proof | None
    """Freedom from deadlock again, without the packets that are for switches themselves; None where that is no news."""
    problems: tuple[Problem, ...]
    """What was wrong with the tables as they were read."""
    reason: str
    """Why this engine, or why not."""
    seconds: float
    """How long it took to make and program the tables."""

    def find(self, claim: str) -> Proof | None:
        """Return the proof of one claim."""
        proofs = () if self.report is None else self.report.proofs
        return next((proof for proof in proofs if proof.claim == claim), None)


@dataclass(frozen=True, slots=True)
class EnginesJudged:
    """A fabric under each engine."""

    place: Path
    fabric: Fabric
    with_lanes: bool
    own: Judged
    engines: tuple[Judged, ...]


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which engines to try, and how."""

    labels: tuple[str, ...] = ()
    """All that the manager has, where empty."""
    limit_s: float = LIMIT_S
    with_lanes: bool = False


def judge_engines(place: Path, wanted: Wanted, progress: Progress = silent) -> EnginesJudged:
    """Try the engines on a declaration or a discovery dump.

    Raises:
        UsageError: ``usage.engine`` when one is unknown.
        ArtifactError: ``artifact.program-missing`` when no lab can run here.
    """
    progress(f"reading {place.name}", None)
    if place.suffix in SUFFIXES or is_folder(place):
        built = build(check(place))
        begin = time.monotonic()
        routed = compute(built)
        technology = routed.built.checked.technology.name
        fabric, addresses, routes = routed.built.fabric, routed.addresses, routed.routes
        reason = f"computed by {routes.engine}, as the declaration says"
    else:
        adoption = read_adoption(place)
        technology, fabric, addresses = TECHNOLOGY, adoption.fabric, adoption.addresses
        if not addresses.node_id.any():  # a plan of systems names no device; a lab needs GUIDs to tell them apart
            addresses = number(fabric)
        chosen = choose_routes(fabric, "auto")
        reason = chosen.reason
        begin = time.monotonic()
        routes = compute_routes(fabric, chosen.routes.engine, to_switches=True)
    seconds = time.monotonic() - begin
    lab = _choose_lab(technology)
    engines = tuple(judge_fabric(lab, fabric, addresses, wanted, work_folder(place), progress))
    progress("proving our own tables", None)
    own = Judged("weftline", None, *_prove(fabric, routes, has_lanes=False), (), reason, seconds)
    return EnginesJudged(place, fabric, wanted.with_lanes, own, engines)


def judge_adopted(adoption: Adoption, wanted: Wanted, progress: Progress = silent) -> tuple[Judged, ...]:
    """Try the engines on a fabric that was adopted from dumps, in a scratch folder.

    Raises:
        UsageError: ``usage.engine`` when one is unknown.
        ArtifactError: ``artifact.program-missing`` when no lab can run here.
    """
    lab = _choose_lab(TECHNOLOGY)
    addresses = adoption.addresses if adoption.addresses.node_id.any() else number(adoption.fabric)
    with tempfile.TemporaryDirectory(prefix="weftline-") as folder:
        return tuple(judge_fabric(lab, adoption.fabric, addresses, wanted, Path(folder), progress))


def work_folder(place: Path) -> Path:
    """Say where engines run for a place: in its workspace, or in one where we stand when we may not write there."""
    if place.suffix in SUFFIXES or is_folder(place):
        return open_place(place).folder / ENGINES
    base = place.parent if os.access(place.parent, os.W_OK) else Path.cwd()
    return base / FOLDER / place.stem / ENGINES


def judge_fabric(
    lab: Lab, fabric: Fabric, addresses: Addresses, wanted: Wanted, folder: Path, progress: Progress = silent
) -> Iterator[Judged]:
    """Try engines one after the other, in a folder that is gone afterwards; yields each verdict as it is there."""
    assert lab.list_trials and lab.try_engine and lab.driver  # noqa: S101, PT018  (chosen for having them)
    driver = DRIVERS[lab.driver]
    subnets = tuple(LabSubnet(f"subnet-{plane + 1}", plane, {}) for plane in range(max(fabric.planes, 1)))
    design = LabDesign("", fabric, addresses, subnets)
    trials = lab.list_trials(design, wanted.labels, wanted.limit_s, wanted.with_lanes)

    def read(access: Access) -> SubnetState:
        return driver.read_state(access, False)  # noqa: FBT003

    for trial in trials:
        run = lab.try_engine(design, trial, folder, read, progress)
        progress(f"{trial.label}: proving its tables", None)
        found = place_states(run.states, fabric, addresses) if run.states else ()
        if isinstance(found, tuple):
            yield Judged(trial.label, run, None, None, found, run.reason, run.seconds)
        else:
            has_lanes = trial.is_laned and run.outcome == "ran"
            proofs = _prove(fabric, found.routes, has_lanes=has_lanes)
            yield Judged(trial.label, run, *proofs, found.problems, run.reason, run.seconds)


def _prove(fabric: Fabric, routes: Routes, *, has_lanes: bool) -> tuple[ProofReport, Proof | None]:
    report = prove(fabric, routes, RULES)
    if has_lanes:
        report = ProofReport(report.of, tuple(_doubt(proof) for proof in report.proofs))
    deadlock = next(proof for proof in report.proofs if proof.claim == DEADLOCK)
    if deadlock.verdict is Verdict.PROVED:
        return report, None
    again = prove(fabric, _without_switches(routes), ONLY_DEADLOCK).proofs
    found = next(proof for proof in again if proof.claim == DEADLOCK)
    return report, _doubt(found) if has_lanes else found


def _without_switches(routes: Routes) -> Routes:
    """Leave out the columns of switches: what is sent to them is little, such as questions for their counters."""
    kept = routes.destination_port != NIL
    return replace(
        routes,
        destination_node=routes.destination_node[kept],
        destination_port=routes.destination_port[kept],
        group=routes.group[:, kept],
    )


def _doubt(proof: Proof) -> Proof:
    """Take a cycle on one lane for nothing proved, where paths are spread over lanes that were not read."""
    if proof.claim != DEADLOCK or proof.verdict is not Verdict.REFUTED:
        return proof
    return replace(proof, verdict=Verdict.UNKNOWN, statement=f"{ON_LANES[0].upper()}{ON_LANES[1:]}.")


def _choose_lab(technology: str) -> Lab:
    fitting = [lab for lab in LABS.values() if technology in lab.technologies and lab.try_engine and lab.list_trials]
    labs = [(lab, lab.driver) for lab in fitting if lab.driver]
    if not labs:
        raise CapabilityError(
            "capability.no-lab",
            f"no lab runs a manager with engines of its own over a fabric of technology {technology}",
            "weftline prove judges the declared engine",
        )
    lab, driver = labs[0]
    problems: Sequence[Problem] = (*lab.problems(), *DRIVERS[driver].problems())
    if problems:
        first = problems[0]
        raise ArtifactError(first.code, first.message, first.hint, problems=tuple(problems))
    return lab
