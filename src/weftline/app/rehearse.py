"""Failures rehearsed: every state of a set, or the one question whether something may be disabled now."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from weftline.app.asked import Desk, Question, answer_question
from weftline.app.build import Built, build
from weftline.app.check import check
from weftline.app.files import read_bytes
from weftline.app.pipeline import Progress, Routed, allow_lanes, compute, proof_rules, silent
from weftline.app.prepared import Prepared, gather_switchings, list_inputs, write_prepared
from weftline.app.rehearsed import place_state, read_state, write_state
from weftline.app.workspace import open_place
from weftline.errors import ArtifactError, CapabilityError, UsageError
from weftline.kernels.column import F64, NIL
from weftline.model.fault import Faults
from weftline.model.proof import ProofRules
from weftline.model.rehearsal import Answer, Command, Limits, Rehearsal, Way
from weftline.model.vendor import Plug
from weftline.rehearse.faults import join, list_groups, list_links, list_switches, read_lines, sample_pairs
from weftline.rehearse.gathering import gather_crews
from weftline.rehearse.measuring import judge, open_bench
from weftline.rehearse.quick import Bench
from weftline.rehearse.scene import Scene
from weftline.rehearse.sweep import digest_rehearsal, sweep
from weftline.rehearse.tally import close_tally, open_tally, reopen_tally
from weftline.rehearse.verdicts import conclude, list_bases, spread_losses
from weftline.rehearse.whole import Plan
from weftline.route.repair import prepare_repair
from weftline.schedule import job_collectives
from weftline.vendors import VENDORS

MAX_HOPS = 64
SAVE_S = 1.0
MOST_THREADS = 8
MAX_FAULT_BYTES = 64 * 2**20
REPAIRED = "repaired tables"
CONVERGED = "tables as the routing protocol makes them"
ANEW = "tables of engine {engine} for what is left"
WORDS = ("links", "switches", "groups", "all")


@dataclass(frozen=True, slots=True)
class FaultChoice:
    """What the command line asks for."""

    faults: str = "all"
    seed: int = 0
    shown: int = 20
    """States told in words; 0: all."""
    is_anew: bool = False
    """Whether what an earlier run found is left aside."""


@dataclass(frozen=True, eq=False)
class Ready:
    """A fabric prepared for rehearsals."""

    routed: Routed
    plan: Plan
    bench: Bench | None
    """None where states are judged from scratch."""
    inputs: list[list[str]] | None = None
    """The files that it was made from, with their digests."""


def prepare(place: Path, progress: Progress = silent) -> Ready:
    """Go from a declaration to a fabric that is ready for states of failure."""
    workspace = open_place(place)
    name = workspace.declaration.name
    before = list_inputs(workspace, [name])
    progress("reading the declaration", None)
    checked = check(place)
    progress("compiling the fabric", None)
    built = build(checked)
    named = (checked.design.spec.inventory, checked.design.cabling_path, checked.design.spec.roce.headroom_table)
    inputs = list_inputs(workspace, [name, *(str(one) for one in named if one is not None)])
    progress("computing routes", None)
    ready = prepare_routed(compute(built), progress)
    return replace(ready, inputs=inputs if inputs and before == inputs[:1] else None)


def prepare_routed(routed: Routed, progress: Progress = silent) -> Ready:
    """Prepare routes that exist."""
    built, routes = routed.built, routed.routes
    design, fabric = built.checked.design, built.fabric
    progress("preparing the rehearsal", None)
    traffics = [job_collectives(design, fabric, index) for index in range(len(design.spec.jobs))]
    roots = design.spec.routing.roots
    standing = None
    if built.checked.technology.design.table is not None:
        try:
            standing = prepare_repair(fabric, routes, roots)
        except CapabilityError as error:
            if error.code != "capability.repair-groups":
                raise
    hops = max(proof_rules(design, fabric).max_hops, min(MAX_HOPS, len(fabric.switch_node)))
    plan = Plan(
        fabric,
        routes,
        gather_crews(fabric, routes, traffics),
        ProofRules(max_hops=hops),
        standing,
        roots,
        allow_lanes(built),
    )
    return Ready(routed, plan, open_bench(plan))


def rehearse(place: Path, choice: FaultChoice, progress: Progress = silent) -> Rehearsal:
    """Rehearse a set of failures; what an interrupted run found is taken over."""
    check_choice(choice)
    ready = prepare(place, progress)
    keep(ready)
    return rehearse_ready(ready, choice, progress)


def rehearse_ready(ready: Ready, choice: FaultChoice, progress: Progress = silent) -> Rehearsal:
    """Rehearse a set of failures on a fabric that is ready."""
    faults, what = list_faults(ready.routed.built, choice)
    key = digest_rehearsal(ready.plan, faults)
    jobs = len(ready.plan.crews.names)
    path = place_state(ready.routed.built.checked.workspace.folder, key)
    known = None if choice.is_anew else read_state(path, key, faults.count, jobs)
    tally = open_tally(faults.count, jobs) if known is None else reopen_tally(known)
    words = f"rehearsing {faults.count:,} states"
    progress(words, tally.done / max(1, faults.count))
    saved, is_saved = time.monotonic(), tally.done == faults.count
    threads = min(MOST_THREADS, os.cpu_count() or 1)
    for done in sweep(ready.plan, ready.bench, faults, tally, threads):
        progress(words, done / faults.count)
        is_saved = time.monotonic() - saved >= SAVE_S and done < faults.count
        if is_saved:
            write_state(path, key, close_tally(tally))
            saved = time.monotonic()
    outcomes = close_tally(tally)
    if not is_saved:
        write_state(path, key, outcomes)
    bases = list_bases(ready.plan, *_measure_base(ready))
    return conclude(ready.plan, (what, faults, outcomes), bases, find_limits(ready, is_question=False), choice.shown)


def recall(routed: Routed) -> tuple[Rehearsal, F64] | None:
    """Recall a finished rehearsal of every link, and the worst loss behind each port; None without one."""
    folder = routed.built.checked.workspace.folder / "rehearsal"
    if not folder.is_dir() or not any(folder.iterdir()):
        return None
    ready = prepare_routed(routed)
    plan, jobs = ready.plan, len(ready.plan.crews.names)
    for word in ("all", "links"):
        faults, what = list_faults(routed.built, FaultChoice(word))
        key = digest_rehearsal(plan, faults)
        known = read_state(place_state(folder.parent, key), key, faults.count, jobs)
        if known is None or bool((known.way == Way.OPEN).any()) or not jobs:
            continue
        bases = list_bases(plan, *_measure_base(ready))
        told = conclude(plan, (what, faults, known), bases, find_limits(ready, is_question=False), 20)
        return told, spread_losses(plan, faults, known, bases)
    return None


def _measure_base(ready: Ready) -> tuple[tuple[float, ...], tuple[int, ...]]:
    if ready.bench is not None:
        return ready.bench.base.worst, ready.bench.base.port
    found = judge(ready.plan, None, np.zeros(0, dtype=np.int32))
    return found.worst, found.port


def find_limits(ready: Ready, *, is_question: bool) -> Limits:
    """Say what is allowed: as declared; in a question, no rank may have to leave unless the declaration lets it."""
    section = ready.routed.built.checked.design.spec.rehearsal
    ranks = section.max_leaving_ranks
    ends = section.max_lost_endpoints
    return Limits(
        section.max_job_loss if ready.plan.crews.names else None,
        None if ends == "auto" else ends,
        (0 if is_question else None) if ranks == "auto" else ranks,
    )


def check_choice(choice: FaultChoice) -> None:
    """Refuse words that mean nothing before any work is done.

    Raises:
        UsageError: ``usage.choice``.
    """
    word, _, number = choice.faults.partition(":")
    if word == "pairs" and not (number.isascii() and number.isdigit() and 0 < len(number) <= 7 and int(number) > 0):
        hint = "write pairs:1000 for a sample of a thousand"
        raise UsageError("usage.choice", f"--faults {choice.faults[:40]!r} names no size of a sample", hint)


def list_faults(built: Built, choice: FaultChoice) -> tuple[Faults, str]:
    """List the faults that are asked for, and say in words what they are."""
    fabric, spec = built.fabric, built.checked.design.spec
    word, _, number = choice.faults.partition(":")
    if word == "pairs":
        return sample_pairs(fabric, int(number), choice.seed), f"pairs of links and switches, seed {choice.seed}"
    if choice.faults == "links":
        return list_links(fabric), "every single link"
    if choice.faults == "switches":
        return list_switches(fabric), "every single switch"
    if choice.faults == "all":
        return join(list_links(fabric), list_switches(fabric)), "every single link and every single switch"
    if choice.faults == "groups":
        if not spec.risks:
            hint = "add a section risks: with a name and the links or switches of each group"
            raise UsageError("usage.choice", "--faults groups: the declaration has no risks", hint)
        return list_groups(fabric, spec.risks), "declared groups of shared risk"
    return _read_faults(built, Path(choice.faults))


def _read_faults(built: Built, path: Path) -> tuple[Faults, str]:
    try:
        data = read_bytes(path, MAX_FAULT_BYTES, "split the file")
    except ArtifactError as error:
        if error.code != "artifact.no-place":
            raise
        hint = f"choose {', '.join(WORDS)}, pairs:SAMPLE, or name a file with a fault in each line"
        message = f"--faults {str(path)[:80]!r} is no set of faults and no file"
        raise UsageError("usage.choice", message, hint) from error
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ArtifactError("artifact.not-text", f"{path} is not UTF-8 text", "save it as UTF-8") from error
    found = read_lines(built.fabric, text, str(path))
    if isinstance(found, tuple):
        first = found[0]
        raise ArtifactError(first.code, first.message, first.hint, first.where, found)
    return found, f"the faults of {path.name}"


def ask(place: Path, question: Question, progress: Progress = silent) -> Answer:
    """Say whether a link, a switch or a port may be disabled now, and how; the next question is quicker."""
    ready = prepare(place, progress)
    keep(ready)
    return ask_ready(ready, question)


def ask_ready(ready: Ready, question: Question) -> Answer:
    """Answer a question on a fabric that is ready.

    Raises:
        SpecError: ``spec.unknown-name`` with the nearest names.
    """
    answer = answer_question(_open_desk(ready), question)
    if answer is None:
        raise AssertionError
    return answer


def _open_desk(ready: Ready) -> Desk:
    plan = ready.plan
    worst, port = _measure_base(ready)
    limits = find_limits(ready, is_question=True)
    command = find_switching(ready.routed)
    return Desk(plan, partial(judge, plan, ready.bench), worst, port, limits, say_tables(ready), command)


def say_tables(ready: Ready) -> str:
    """Say how tables come about once something fails: repaired, by the engine anew, or by the devices themselves."""
    if ready.plan.standing is not None:
        return REPAIRED
    is_sent = ready.routed.built.checked.technology.design.table is not None
    return ANEW.format(engine=ready.plan.routes.engine) if is_sent else CONVERGED


def find_switching(routed: Routed) -> Callable[[int], Command | None]:
    """Find what makes the commands for a port of a switch."""
    built = routed.built
    design, fabric = built.checked.design, built.fabric
    names = built.checked.technology.design.list_vendors(design)
    switch = next((VENDORS[name].switch for name in names if VENDORS[name].switch is not None), None)
    tiers = (design.leaf, design.leaf, design.spine, design.core)
    address = routed.addresses.node_address

    def find(port: int) -> Command | None:
        node = int(fabric.port_node[port])
        if switch is None or fabric.switch_row[node] == NIL:
            return None
        tier = tiers[int(fabric.node_tier[node])]
        made = switch(Plug(fabric.node_name[node], int(fabric.port_number[port]), tier.per_cage, int(address[node])))
        return Command(fabric.port_name(port), made.where, made.off, made.on)

    return find


def keep(ready: Ready) -> None:
    """Keep what a question needs beside the declaration, unless states are judged from scratch anyway."""
    bench, checked = ready.bench, ready.routed.built.checked
    if bench is None or ready.inputs is None:
        return
    fabric = ready.plan.fabric
    command = find_switching(ready.routed)
    lit = (fabric.port_peer != NIL).tolist()
    switchings = gather_switchings([command(port) if is_lit else None for port, is_lit in enumerate(lit)])
    scene = Scene(fabric, ready.plan.routes, ready.plan.crews, ready.plan.rules)
    limits = find_limits(ready, is_question=True)
    prepared = Prepared(scene, bench.ways, bench.flows, bench.base, limits, say_tables(ready), switchings)
    write_prepared(checked.workspace, ready.inputs, prepared)
