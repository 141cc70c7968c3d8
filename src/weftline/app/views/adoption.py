"""The JSON of an adopted fabric and of a comparison."""

from __future__ import annotations

import numpy as np

from weftline.app.adopt import Adopted, Compared
from weftline.app.views.failure import view_problem
from weftline.app.views.proof import view_report
from weftline.kernels.column import NIL
from weftline.model.fabric import Fabric, NodeKind


def view_adopted(adopted: Adopted) -> dict[str, object]:
    """Show counts, shape, problems and proofs of a discovered fabric."""
    fabric = adopted.adoption.fabric
    report = view_report(adopted.report)
    return {
        "schema": "weftline/adoption/1",
        "dump": str(adopted.dump),
        "digest": fabric.digest,
        "hosts": int(np.count_nonzero(fabric.node_kind == NodeKind.HOST)),
        "endpoints": _count_ports(fabric, NodeKind.HOST),
        "extra_endpoints": _count_ports(fabric, NodeKind.EXTRA),
        "switches": len(fabric.switch_node),
        "links": int(np.count_nonzero(fabric.port_peer != NIL)) // 2,
        "shape": fabric.shape,
        "shape_reason": adopted.adoption.shape_reason,
        "engine": adopted.routes.engine,
        "tables": "programmed" if adopted.are_programmed else "computed",
        "tables_reason": adopted.engine_reason,
        "accepted": adopted.is_accepted,
        "problems": [view_problem(problem) for problem in adopted.problems],
        "proofs": report["proofs"],
    }


def _count_ports(fabric: Fabric, kind: NodeKind) -> int:
    return int(np.count_nonzero(fabric.node_kind[fabric.port_node] == kind))


def view_compared(compared: Compared) -> dict[str, object]:
    """Show every difference by name."""
    return {
        "schema": "weftline/diff/1",
        "declared": str(compared.declared),
        "discovered": str(compared.discovered),
        "same": not compared.differences,
        "differences": [
            {
                "kind": difference.kind,
                "subject": difference.subject,
                "message": difference.message,
                "declared": list(difference.declared),
                "found": list(difference.found),
            }
            for difference in compared.differences
        ],
    }
