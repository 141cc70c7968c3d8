"""A lab kept: a change of links noticed, tables for what is left proved and sent, and read back that they run."""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from weftline.app.check import check
from weftline.app.keep_event import Counts, Emit, KeepEvent, KeepKind, KeepRules
from weftline.app.kept import Kept, name_ports, read_kept, write_kept
from weftline.app.lab import choose_lab, lab_folder
from weftline.app.pipeline import Progress, Routed, proof_rules, run_to_proofs, silent
from weftline.app.subnet import Sent, Subnet, open_subnets
from weftline.enact import Stage, order_tables
from weftline.errors import ArtifactError, EnactError, SourceError
from weftline.heal import (
    Decision,
    LinkState,
    blank_rows,
    is_urgent,
    judge_repair,
    list_ports,
    name_links,
    read_running,
)
from weftline.kernels.column import NIL
from weftline.model.driver import Access
from weftline.model.fabric import Fabric
from weftline.model.intent import ForwardingTable
from weftline.model.proof import Proof, ProofRules, Verdict
from weftline.model.routes import Routes
from weftline.route.repair import Standing, prepare_repair, repair_routes

POLL_S = 0.004
GATHER_S = 0.004
"""How long nothing more is told before what was told is acted on: a lost switch is told of by all its neighbours."""
GATHER_MOST_S = 0.02
QUIET_S = 2.0
LOOK_S = 5.0
LOOK_S_PER_SWITCH = 0.1
"""A look at every port of every switch is cheap, and not free: now and then it finds what nobody told of."""
DEFER_S = 10.0
ENTRY_S = 1.0
"""Between two looks at the port of a manager, which hears of nothing while that is down."""
MAX_HOPS = 64
FAILED: dict[Sent, str] = {
    "gone": "the manager is gone",
    "differs": "the manager swept, and what the devices hold is not what the file says",
}

REVIVED = "the manager had stopped answering and was started again"
ORDER: tuple[Sent, ...] = ("equal", "told", "differs", "gone")


class Keeper:
    """One run: what is declared, what runs, and what is known of the links."""

    def __init__(self, place: Path, progress: Progress) -> None:
        checked = check(place)
        self.folder = lab_folder(place)
        lab = choose_lab(checked, None)
        status = lab.verify(self.folder)
        proved = run_to_proofs(place, progress)
        self.routed: Routed = proved.routed
        if status.of != self.routed.routes.digest:
            raise EnactError(
                "enact.lab-drift",
                "the declaration has changed since the lab was started",
                "weftline lab up PLACE starts it anew",
            )
        fabric = self.routed.built.fabric
        roots = self.routed.built.checked.design.spec.routing.roots
        self.standing: Standing = prepare_repair(fabric, self.routed.routes, roots)
        rules = proof_rules(self.routed.built.checked.design, fabric)
        self.rules = ProofRules(max_hops=max(rules.max_hops, min(MAX_HOPS, len(fabric.switch_node))))
        progress("reading what runs", None)
        self.lab = lab
        self.subnets: tuple[Subnet, ...] = open_subnets(lab, status, self.routed, self.folder)
        for subnet in self.subnets:
            subnet.check_entry(self._list_masters)
        self.running: list[Routes] = [self._read_running()]
        self.state = LinkState(frozenset(), {}, frozenset())
        self.kept = read_kept(self.folder, self.routed.routes.digest)
        self.deferred: float | None = None
        self.counts = Counts()
        self._warm()

    def _warm(self) -> None:
        """Repair for one link that is not lost, and send nothing: what is compiled at its first use is then ready."""
        links = self.standing.groups.member_port
        row = self.standing.fabric.switch_row[self.standing.fabric.port_node]
        between = links[row[self.standing.fabric.port_peer[links]] != NIL][:1]
        repair = repair_routes(self.standing, between, between[:0])
        judge_repair(repair, self.standing.routes, self._find_seen(), self.rules)
        is_urgent(repair, self.standing.routes, self.rules)
        order_tables(repair.fabric, (self.standing.routes,), repair.routes)
        for subnet in self.subnets:
            declared = self._make_table(subnet, self.standing.routes)
            if subnet.file.write(declared, subnet.content, None) == subnet.content:
                subnet.written = declared
            subnet.file.write(self._make_table(subnet, repair.routes), subnet.content, subnet.written)

    def _read_running(self) -> Routes:
        tables = {guid: held for subnet in self.subnets for guid, held in subnet.tables.items()}
        return read_running(self.standing, self.routed.addresses, tables)

    def _list_masters(self) -> tuple[Access, ...]:
        """List where each subnet is entered; nobody can say it while another command works on the lab."""
        with contextlib.suppress(ArtifactError, SourceError):
            return self.lab.verify(self.folder).accesses
        return ()

    def _check_entries(self, emit: Emit) -> bool:
        """Tell of managers that were cut off from their subnet, and look anew at a subnet whose manager is back."""
        turned = [subnet for subnet in self.subnets if subnet.check_entry(self._list_masters)]
        if not turned:
            return False
        is_back = not all(subnet.is_cut_off for subnet in turned)
        cut_off = self.list_cut_off()
        emit(KeepEvent("returned" if is_back else "cut-off", down=name_links(self.standing.fabric, self.state.lost),
                       why=", ".join(subnet.manager.subnet for subnet in turned), cut_off=cut_off))  # fmt: skip
        if is_back:
            self.running = [self._read_running()]
            self.deferred = time.monotonic()  # what runs is to be held against what should, also where no link changed
            self.act(emit, "change", self.deferred)
        return True

    def list_cut_off(self) -> tuple[str, ...]:
        """Name the subnets whose manager is cut off from them."""
        return tuple(subnet.manager.subnet for subnet in self.subnets if subnet.is_cut_off)

    def close(self) -> None:
        """Let go of everything."""
        for subnet in self.subnets:
            subnet.close()

    def run(self, rules: KeepRules, emit: Emit) -> None:
        """Keep the lab until the time is over, nothing happens any more, or somebody ends it."""
        _come_first()
        begin = last = looked = entered = time.monotonic()
        self.act(emit, "start", begin)
        look_s = LOOK_S + LOOK_S_PER_SWITCH * len(self.standing.fabric.switch_node)
        while True:
            now = time.monotonic()
            if rules.is_over() or (rules.limit_s is not None and now - begin >= rules.limit_s):
                return
            self._check_running()
            since = self._gather()
            if now - entered >= ENTRY_S:
                entered = now
                last = time.monotonic() if self._check_entries(emit) else last
            elif since is not None or self._is_due(now):
                self.act(emit, "change", since or now)
                last = time.monotonic()
            elif self._look_twice():
                self.act(emit, "change", now)
                last = time.monotonic()
            elif now - looked >= look_s:
                looked = now
                if self._look_all():
                    self.act(emit, "change", now)
                    last = time.monotonic()
            elif rules.until_quiet and self.deferred is None and now - last >= QUIET_S:
                return
            else:
                time.sleep(POLL_S)

    def _look_twice(self) -> bool:
        return sum(subnet.look_twice() for subnet in self.subnets) > 0

    def _look_all(self) -> bool:
        return sum(subnet.look_everywhere() for subnet in self.subnets) > 0

    def _is_due(self, now: float) -> bool:
        """Tell whether a change that waited for the links that came back can go out."""
        if self.deferred is None:
            return False
        return now - self.deferred >= DEFER_S or all(subnet.sweep == "idle" for subnet in self.subnets)

    def _check_running(self) -> None:
        gone = [subnet.manager.subnet for subnet in self.subnets if not subnet.is_running()]
        if gone:
            hint = "weftline lab up PLACE starts it anew"
            raise SourceError("source.lab-process", f"the manager of {', '.join(gone)} does not run any more", hint)

    def _gather(self) -> float | None:
        """Listen until nothing more is told; the moment of the first that was, None where nothing was."""
        since: float | None = None
        begin = quiet = time.monotonic()
        while True:
            for subnet in self.subnets:
                subnet.listen()
                if subnet.since is not None:
                    since = subnet.since if since is None else min(since, subnet.since)
                    quiet = time.monotonic() if subnet.is_fresh else quiet
                    subnet.is_fresh = False
            now = time.monotonic()
            if since is None or now - quiet >= GATHER_S or now - begin >= GATHER_MOST_S:
                return since
            time.sleep(POLL_S / 4)

    def act(self, emit: Emit, kind: KeepKind, since: float) -> None:
        """Look at what was told of, decide, and send what has to change."""
        if kind != "start" and self._check_entries(emit):
            return  # what was told of is looked at with all the rest, now or when the manager is back
        if kind == "start" and len(self.list_cut_off()) == len(self.subnets):
            emit(KeepEvent("start", cut_off=self.list_cut_off()))
            return
        is_due, self.deferred = self.deferred is not None, None
        for subnet in self.subnets:
            subnet.look()
        state = _join([subnet.judge() for subnet in self.subnets])
        seen = self._find_seen()
        self.running = [blank_rows(routes, ~seen) for routes in self.running]
        noticed = time.monotonic()
        is_same = (state.lost, state.wrong) == (self.state.lost, self.state.wrong)
        if kind != "start" and is_same and not is_due and len(self.running) == 1:
            return
        repair = repair_routes(self.standing, *list_ports(state))
        repaired = time.monotonic()
        decision = judge_repair(repair, self.running[-1], seen, self.rules)
        can_wait = kind == "change" and decision.changed > 0 and not is_due and len(state.waiting) > 0
        if can_wait and not is_urgent(repair, self.running[-1], self.rules):
            self.deferred = noticed  # a link that came back carries data only when the manager is through with it
            return
        stages = order_tables(repair.fabric, self.running, repair.routes)
        seconds = {
            "notice": max(noticed - since, 0.0),
            "recompute": repaired - noticed,
            "prove": time.monotonic() - repaired,
        }
        event = self._describe(kind, state, decision, stages, seconds)
        self.state = state
        if any(proof.verdict is not Verdict.PROVED for proof in event.proofs):
            self.counts.refused += 1
            emit(replace(event, kind="refused", why=_say_why(event.proofs)))
            return
        emit(self._send(event, decision, stages))

    def _find_seen(self) -> NDArray[np.bool_]:
        """Mark the switches that can be asked; what the others hold is not known."""
        reached = [guid for subnet in self.subnets for guid in subnet.reached]
        ids = self.routed.addresses.node_id[self.standing.fabric.switch_node]
        return np.isin(ids, np.array(reached, dtype=ids.dtype))

    def _describe(
        self, kind: KeepKind, state: LinkState, decision: Decision, stages: tuple[Stage, ...], seconds: dict[str, float]
    ) -> KeepEvent:
        fabric = self.standing.fabric
        return KeepEvent(
            kind,
            gone=name_links(fabric, state.lost - self.state.lost),
            back=name_links(fabric, self.state.lost - state.lost),
            down=name_links(fabric, state.lost),
            wrong=tuple(_say_wrong(fabric, port, met) for port, met in sorted(state.wrong.items())),
            changed=decision.changed,
            columns=decision.columns,
            is_anew=decision.repair.is_anew,
            stages=tuple(stage.words for stage in stages),
            proofs=(decision.proof, *(stage.proof for stage in stages)),
            seconds=seconds,
            cut_off=self.list_cut_off(),
        )

    def _send(self, event: KeepEvent, decision: Decision, stages: tuple[Stage, ...]) -> KeepEvent:
        """Send stage by stage; what was sent and not read back may run, and counts as running."""
        seconds = dict(event.seconds)
        seconds["write"] = seconds["manager"] = 0.0
        sent: Sent = "equal"
        for stage in stages if decision.changed or len(self.running) > 1 else ():
            begin = time.monotonic()
            self._note("sending")
            tables = [self._make_table(subnet, stage.routes) for subnet in self.subnets]
            for subnet, table in zip(self.subnets, tables, strict=True):
                subnet.write(table)
            written = time.monotonic()
            before, self.running = self.running, [*self.running, stage.routes]
            sent = _worst([subnet.confirm(self.standing, before, stage.routes) for subnet in self.subnets])
            seconds["write"] += written - begin
            seconds["manager"] += time.monotonic() - written
            if sent != "equal":
                break
            self.running = [stage.routes]
        if sent == "equal":
            self._note("running")
        self.counts.changes += 1
        if sent in {"differs", "gone"}:
            self.counts.failed += 1
            return replace(event, kind="failed", seconds=seconds, why=FAILED[sent])
        why = REVIVED if sum(subnet.take_revived() for subnet in self.subnets) else ""
        return replace(event, seconds=seconds, is_told_more=sent == "told", why=why)

    def _make_table(self, subnet: Subnet, routes: Routes) -> ForwardingTable:
        make = self.routed.built.checked.technology.design.table
        assert make is not None  # noqa: S101  (a technology whose lab is kept has tables)
        return make(self.standing.fabric, self.routed.addresses, routes, subnet.plane)

    def _note(self, stage: Literal["sending", "running"]) -> None:
        """Write down what the tables that run, or are about to, were made without."""
        lost, wrong = (name_ports(self.standing.fabric, ports) for ports in list_ports(self.state))
        before = self.kept
        self.kept = Kept(
            of=self.routed.routes.digest,
            stage=stage,
            lost=lost,
            wrong=wrong,
            before_lost=() if before is None else before.before_lost if before.stage == "sending" else before.lost,
            before_wrong=() if before is None else before.before_wrong if before.stage == "sending" else before.wrong,
        )
        write_kept(self.folder, self.kept)


def _come_first() -> None:
    """Ask for a processor as soon as there is work, as other programs do that hold a network up; root is given it.

    Whatever a repair waits for, traffic waits for too, and a manager that sweeps takes all the time that there is.
    """
    with contextlib.suppress(OSError):
        os.sched_setscheduler(
            0, os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(os.sched_get_priority_min(os.SCHED_RR))
        )


def _join(states: list[LinkState]) -> LinkState:
    wrong: dict[int, str] = {}
    for state in states:
        wrong.update(state.wrong)
    lost = frozenset[int]().union(*(state.lost for state in states))
    return LinkState(lost, wrong, frozenset[int]().union(*(state.waiting for state in states)))


def _worst(sent: list[Sent]) -> Sent:
    worst: Sent = "equal"
    for word in sent:
        if ORDER.index(word) > ORDER.index(worst):
            worst = word
    return worst


def _say_wrong(fabric: Fabric, port: int, met: str) -> str:
    peer = int(fabric.port_peer[port])
    wanted = "nothing" if peer == NIL else fabric.port_name(peer)
    return f"{fabric.port_name(port)} leads to {met}, and should to {wanted}"


def _say_why(proofs: tuple[Proof, ...]) -> str:
    bad = next(proof for proof in proofs if proof.verdict is not Verdict.PROVED)
    return bad.witness.summary if bad.witness is not None else bad.statement


def keep(place: Path, rules: KeepRules, *, emit: Emit, progress: Progress = silent) -> Counts:
    """Keep a lab that is up; returns what the run came to.

    Raises:
        SourceError: ``source.lab-down``, ``source.lab-process`` when a program of the lab is or goes away.
        EnactError: ``enact.lab-drift`` when the lab was started from another declaration.
    """
    keeper = Keeper(place, progress)
    try:
        keeper.run(rules, emit)
    finally:
        keeper.close()
    keeper.counts.wrong = len(keeper.state.wrong)
    keeper.counts.cut_off = keeper.list_cut_off()
    return keeper.counts
