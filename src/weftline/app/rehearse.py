"""Failures rehearsed: every state of a set, or the one question whether something may be disabled now."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from weftline.app.build import Built
from weftline.app.files import read_bytes
from weftline.app.pipeline import Progress, Routed, proof_rules, run_to_routes, silent
from weftline.app.rehearsed import place_state, read_state, write_state
from weftline.errors import ArtifactError, CapabilityError, SpecError, UsageError
from weftline.kernels.column import F64, I32, NIL
from weftline.model.fabric import NodeKind
from weftline.model.fault import Faults
from weftline.model.proof import ProofRules, Verdict
from weftline.model.rehearsal import Answer, Command, Limits, Rehearsal, Way
from weftline.model.vendor import Plug
from weftline.rehearse import (
    Bench,
    Index,
    Plan,
    close_tally,
    conclude,
    digest_rehearsal,
    find_ways,
    gather,
    gather_crews,
    join,
    list_bases,
    list_groups,
    list_links,
    list_switches,
    name_ports,
    open_tally,
    read_lines,
    reopen_tally,
    sample_pairs,
    say_load,
    spread_losses,
    sweep,
    tell,
)
from weftline.rehearse.ground import Ways
from weftline.route.repair import prepare_repair
from weftline.schedule import job_collectives
from weftline.vendors import VENDORS

MAX_HOPS = 64
SAVE_S = 1.0
MOST_THREADS = 8
MAX_FAULT_BYTES = 64 * 2**20
WORDS = ("links", "switches", "groups", "all")
REPAIRED = "repaired tables"
CONVERGED = "tables as the routing protocol makes them"


@dataclass(frozen=True, slots=True)
class FaultChoice:
    """What the command line asks for."""

    faults: str = "all"
    seed: int = 0
    shown: int = 20
    """States told in words; 0: all."""
    is_anew: bool = False
    """Whether what an earlier run found is left aside."""


@dataclass(frozen=True, slots=True)
class Question:
    """One thing that somebody wants to disable."""

    kind: str
    """``link``, ``switch`` or ``port``."""
    name: str


@dataclass(frozen=True, eq=False)
class Ready:
    """A fabric prepared for rehearsals."""

    routed: Routed
    plan: Plan
    ways: Ways | None


def prepare(place: Path, progress: Progress = silent) -> Ready:
    """Go from a declaration to a fabric that is ready for states of failure."""
    return prepare_routed(run_to_routes(place, progress), progress)


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
    plan = Plan(fabric, routes, gather_crews(fabric, routes, traffics), ProofRules(max_hops=hops), standing, roots)
    return Ready(routed, plan, find_ways(plan))


def rehearse(place: Path, choice: FaultChoice, progress: Progress = silent) -> Rehearsal:
    """Rehearse a set of failures; what an interrupted run found is taken over."""
    check_choice(choice)
    ready = prepare(place, progress)
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
    for done in sweep(ready.plan, ready.ways, faults, tally, threads):
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
    found = Bench(ready.plan, ready.ways).judge(np.zeros(0, dtype=np.int32))
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
    """Say whether a link, a switch or a port may be disabled now, and how."""
    ready = prepare(place, progress)
    return ask_ready(ready, question)


def ask_ready(ready: Ready, question: Question) -> Answer:
    """Answer a question on a fabric that is ready.

    Raises:
        SpecError: ``spec.unknown-name`` with the nearest names.
    """
    name, ports = find_asked(ready, question)
    faults = gather(((name, question.kind, ports),))
    tally = open_tally(1, len(ready.plan.crews.names))
    bench = Bench(ready.plan, ready.ways)
    base = bench.judge(ports[:0])
    tally.put(0, bench.judge(ports))
    bases = list_bases(ready.plan, base.worst, base.port)
    limits = find_limits(ready, is_question=True)
    state = tell(ready.plan, faults, close_tally(tally), bases, limits, 0)
    return Answer(
        question=f"{question.kind} {name}",
        state=state,
        jobs=bases,
        limits=limits,
        dark=not len(ports),
        cut=tuple(name_ports(ready.plan.fabric, ports[ready.plan.crews.row[ports] != NIL])),
        repaired=CONVERGED if ready.plan.standing is None else REPAIRED,
        commands=list_commands(ready, question, ports),
        of=ready.plan.routes.digest,
        load=say_load(ready.plan),
    )


def find_asked(ready: Ready, question: Question) -> tuple[str, I32]:
    """Find the ports that are asked about."""
    index = Index(ready.plan.fabric)
    text = question.name.strip()
    ports = index.find(text)
    is_right = {"link": "/" in text, "port": "/" in text and "~" not in text, "switch": "/" not in text}[question.kind]
    if ports is not None and is_right and question.kind == "switch":
        node = index.node.get(text)
        is_right = node is not None and ready.plan.fabric.node_kind[node] == NodeKind.SWITCH
    if ports is None or not is_right:
        hint = (
            index.suggest(text) if ports is None else f"{text[:80]} is no {question.kind}; see weftline rehearse --help"
        )
        raise SpecError("spec.unknown-name", f"there is no {question.kind} {text[:80]!r}", hint)
    return text, ports


def list_commands(ready: Ready, question: Question, ports: I32) -> tuple[Command, ...]:
    """List the commands that disable the ports and enable them again: at one end of a link, at the switch of a host."""
    fabric, built = ready.plan.fabric, ready.routed.built
    design = built.checked.design
    names = built.checked.technology.design.list_vendors(design)
    vendor = next((VENDORS[name] for name in names if VENDORS[name].switch is not None), None)
    if vendor is None or vendor.switch is None:
        return ()
    wanted = question.name.strip().partition("/")[0]
    seen: set[int] = set()
    commands: list[Command] = []
    by_name = sorted(ports.tolist(), key=lambda port: (fabric.node_name[int(fabric.port_node[port])] != wanted, port))
    for port in by_name:
        node = int(fabric.port_node[port])
        if port in seen or fabric.switch_row[node] == NIL:
            continue
        seen |= {port, int(fabric.port_peer[port])}
        tier = (design.leaf, design.leaf, design.spine, design.core)[int(fabric.node_tier[node])]
        plug = Plug(
            fabric.node_name[node],
            int(fabric.port_number[port]),
            tier.per_cage,
            int(ready.routed.addresses.node_address[node]),
        )
        made = vendor.switch(plug)
        commands.append(Command(fabric.port_name(port), made.where, made.off, made.on))
    return tuple(commands)


def is_accepted(rehearsal: Rehearsal) -> bool:
    """Whether every state is allowed."""
    return rehearsal.verdict is Verdict.PROVED and not rehearsal.broken
