"""What the verbs of a lab print."""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from weftline.cli.layout import print_rows
from weftline.cli.output import clean, make_console, print_json, print_warnings
from weftline.errors import EXIT_CHANGE_FAILED, EXIT_DONE, EXIT_NO

if TYPE_CHECKING:
    from weftline.app.lab import Looked
    from weftline.app.repaired import Repaired
    from weftline.model.driver import Access, Readback
    from weftline.model.lab import LabFault, LabProcess, Outage, Takeover

MAX_SHOWN = 10
"""Differences of one kind that are printed before the rest is only counted."""
KINDS = {
    "node": "devices",
    "link": "links",
    "address": "addresses",
    "entry": "table entries",
    "keys": "partition key tables",
    "lanes": "lane tables",
    "arbitration": "arbitration tables",
    "manager": "managers",
    "silence": "questions without an answer",
    "session": "BGP sessions",
    "watch": "BFD sessions",
    "route": "routes",
    "kernel": "kernel routes",
    "pair": "pairs within a tenant",
    "mark": "markings",
    "spread": "spreads of flows",
    "apart": "pairs across tenants",
    "edge": "intrusions that must fail",
}


def _find_status(looked: Looked) -> int:
    if looked.status is None:
        return EXIT_NO
    if not looked.is_equal:
        return EXIT_CHANGE_FAILED
    return EXIT_NO if looked.differs_by or not looked.proved.report.is_accepted else EXIT_DONE


def _name_fault(looked: Looked, fault: LabFault) -> str:
    healed = " (may be healed, since every cable is as declared: weftline lab heal takes the note off)"
    return f"{fault.kind} {fault.subject}{healed if fault in looked.maybe_healed else ''}"


def show_looked(looked: Looked, *, as_json: bool, quiet: bool, no_color: bool) -> int:
    """Print what runs, what was compared and every difference."""
    from weftline.app.views.lab import view_looked

    status = _find_status(looked)
    if as_json:
        print_json(view_looked(looked))
        return status
    console = make_console(no_color=no_color)
    if looked.status is None:
        from weftline.cli.layout import print_proofs

        print_proofs(console, looked.proved.report)
        console.print("nothing was started: a required claim is not proved")
        return status
    print_warnings((*looked.drift, *looked.status.problems))
    rows: dict[str, object] = {"lab": f"{looked.lab.name} in {looked.status.folder}"}
    if not quiet:
        rows["programs"] = list_programs(looked.status.processes)
        rows["seconds"] = ", ".join(f"{name} {value:.2f}" for name, value in looked.seconds.items())
    if looked.status.faults:
        rows["faults"] = ", ".join(_name_fault(looked, fault) for fault in looked.status.faults)
    print_rows(console, rows)
    for line in _list_findings(looked):
        console.print(clean(line))
    if not looked.is_equal:
        console.print("next: the lab stands as it is; weftline lab up starts it anew, weftline lab down stops it")
    return status


def list_programs(programs: tuple[LabProcess, ...]) -> str:
    """Name programs with their numbers; many are counted by name."""
    if len(programs) <= MAX_SHOWN:
        return ", ".join(f"{one.name} {one.pid}" for one in programs)
    return ", ".join(f"{many} {name}" for name, many in sorted(Counter(one.name for one in programs).items()))


def _list_findings(looked: Looked) -> Iterator[str]:
    for readback in looked.readbacks:
        yield from list_readback(readback, is_repaired=bool(looked.differs_by))
    if looked.repaired is not None:
        yield from list_repair(looked.repaired)
    if not looked.proved.report.is_accepted:
        yield "the declaration has a required claim that is not proved: weftline prove shows it"


def list_repair(repaired: Repaired) -> Iterator[str]:
    """Say by what the tables that run differ from the declaration, and whether a change was cut off."""
    if repaired.is_on_its_way:
        yield "a change of tables was on its way when what kept the lab ended: weftline lab keep PLACE ends it"
    names = repaired.without
    if names:
        more = f" and {len(names) - MAX_SHOWN:,} more" if len(names) > MAX_SHOWN else ""
        yield f"the tables differ from the declaration by: {', '.join(names[:MAX_SHOWN])}{more}"


def list_readback(readback: Readback, *, is_repaired: bool = False) -> Iterator[str]:
    """Write what was compared in one subnet, then every difference, the first few of each kind."""
    compared = ", ".join(f"{many:,} {KINDS[kind]}" for kind, many in readback.compared.items())
    total = sum(readback.differing.values())
    what = "the repaired tables" if is_repaired else "what was rendered"
    verdict = f"equal to {what}" if readback.is_equal else f"{total:,} differ from {what}"
    yield f"{readback.subnet}: {compared} read back: {verdict}"
    yield from (f"  {note}" for note in readback.notes)
    for kind, many in readback.differing.items():
        alike = [one for one in readback.differences if one.kind == kind]
        for one in alike[:MAX_SHOWN]:
            yield f"  {kind}: {one.subject}: rendered {one.rendered}, running {one.running}"
        if many > MAX_SHOWN:
            yield f"  {kind}: and {many - MAX_SHOWN:,} more; --json prints them"


def show_faults(faults: tuple[LabFault, ...], word: str, *, as_json: bool, quiet: bool, no_color: bool) -> int:
    """Say which faults were put in or taken out."""
    if as_json:
        from weftline.app.views.lab import view_fault

        print_json({"schema": "weftline/lab-faults/1", "done": word, "faults": [view_fault(one) for one in faults]})
    elif not quiet:
        console = make_console(no_color=no_color)
        for fault in faults:
            console.print(f"{word}: {fault.kind} {fault.subject}")
            if fault.outage is not None:
                console.print(f"  {describe_outage(fault.outage)}")
        if not faults:
            console.print("there was no fault")
    return EXIT_DONE


def describe_outage(outage: Outage) -> str:
    """Say what flows lost, beside what was foretold."""
    foretold = f"predicted at most {outage.predicted_s:.1f} s: {outage.arithmetic}"
    if not outage.flows:
        return "no pair of hosts has another way, so no outage is measured"
    lasting = f", {outage.lasting:,} of them for good" if outage.lasting else ""
    if not outage.hit:
        return f"none of {outage.flows:,} probe flows lost a packet; {foretold}"
    longest = "" if outage.longest_s is None else f", for at most {outage.longest_s:.2f} s"
    return f"{outage.hit:,} of {outage.flows:,} probe flows lost packets{longest}{lasting}; {foretold}"


def show_takeovers(takeovers: tuple[Takeover, ...], *, as_json: bool, quiet: bool, no_color: bool) -> int:
    """Say who took over, and how long it took."""
    if as_json:
        from weftline.app.views.lab import view_takeover

        print_json({"schema": "weftline/lab-takeover/1", "subnets": [view_takeover(one) for one in takeovers]})
    elif not quiet:
        console = make_console(no_color=no_color)
        for one in takeovers:
            console.print(f"{one.subnet}: {one.gone} killed, {one.master} is the master after {one.seconds:.1f} s")
    return EXIT_DONE


def show_access(access: Access, *, as_json: bool) -> int:
    """Print lines for a shell; the library goes before single commands, since it would meddle with every program."""
    if as_json:
        from weftline.app.views.lab import view_access

        print_json(view_access(access))
        return EXIT_DONE
    for name, value in (*access.environment.items(), ("UMAD2SIM", access.preload)):
        sys.stdout.write(f"export {name}={shlex.quote(value)}\n")
    sys.stdout.write("# then, as: LD_PRELOAD=$UMAD2SIM ibnetdiscover\n")
    return EXIT_DONE


def show_stopped(processes: tuple[LabProcess, ...], *, as_json: bool, quiet: bool, no_color: bool) -> int:
    """Say which programs were stopped."""
    if as_json:
        from weftline.app.views.lab import view_process

        stopped = [{**view_process(one), "running": False} for one in processes]
        print_json({"schema": "weftline/lab-down/1", "stopped": stopped})
    elif not quiet:
        words = list_programs(processes)
        make_console(no_color=no_color).print(f"stopped {words}" if words else "no lab was running")
    return EXIT_DONE
