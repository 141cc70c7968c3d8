"""The JSON of a lab: its programs, its faults, and what was read back."""

from __future__ import annotations

from dataclasses import asdict

from weftline.app.lab import Looked
from weftline.app.views.failure import view_problem
from weftline.app.views.proof import view_report
from weftline.model.driver import Access, Readback
from weftline.model.lab import LabFault, LabProcess, Takeover


def view_looked(looked: Looked) -> dict[str, object]:
    """Show a lab and every difference between what was rendered and what runs."""
    status = looked.status
    return {
        "schema": "weftline/lab/1",
        "lab": looked.lab.name,
        "of": looked.proved.routed.routes.digest,
        "running": status is not None,
        "equal": looked.is_equal,
        "differs_by": list(looked.differs_by),
        "on_its_way": looked.repaired is not None and looked.repaired.is_on_its_way,
        "folder": None if status is None else str(status.folder),
        "processes": [] if status is None else [view_process(process) for process in status.processes],
        "faults": [] if status is None else [view_fault(fault) for fault in status.faults],
        "maybe_healed": [view_fault(fault) for fault in looked.maybe_healed],
        "subnets": [view_readback(readback) for readback in looked.readbacks],
        "problems": [view_problem(problem) for problem in (*looked.drift, *(status.problems if status else ()))],
        "seconds": {name: round(value, 3) for name, value in looked.seconds.items()},
        "proofs": None if status is not None else view_report(looked.proved.report),
    }


def view_process(process: LabProcess) -> dict[str, object]:
    """Show one program."""
    return {"name": process.name, "subnet": process.subnet, "pid": process.pid, "running": process.is_running}


def view_takeover(takeover: Takeover) -> dict[str, object]:
    """Show who took over from whom."""
    return {
        "subnet": takeover.subnet,
        "gone": takeover.gone,
        "master": takeover.master,
        "seconds": round(takeover.seconds, 3),
    }


def view_access(access: Access) -> dict[str, object]:
    """Show how programs reach a subnet."""
    return {
        "schema": "weftline/lab-env/1",
        "subnet": access.subnet,
        "folder": str(access.folder),
        "environment": dict(access.environment),
        "preload": access.preload,
    }


def view_fault(fault: LabFault) -> dict[str, object]:
    """Show one fault."""
    return {"kind": fault.kind, "subject": fault.subject, "outage": fault.outage and asdict(fault.outage)}


def view_readback(readback: Readback) -> dict[str, object]:
    """Show what was compared in one subnet, and what differs."""
    return {
        "subnet": readback.subnet,
        "equal": readback.is_equal,
        "compared": dict(readback.compared),
        "differing": dict(readback.differing),
        "differences": [
            {"kind": one.kind, "subject": one.subject, "rendered": one.rendered, "running": one.running}
            for one in readback.differences
        ],
        "notes": list(readback.notes),
    }
