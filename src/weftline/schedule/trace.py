"""Flows from a trace: names become ports."""

from __future__ import annotations

import difflib

import numpy as np

from weftline.errors import ArtifactError, Problem
from weftline.kernels.column import NIL
from weftline.model.fabric import Fabric
from weftline.model.trace import FlowTrace
from weftline.model.traffic import Flows, Via

MAX_SEARCHED = 20
"""Unknown names for which a like one is looked for."""


def trace_flows(trace: FlowTrace, fabric: Fabric) -> Flows:
    """Give every end of a trace its port; flows are in no queue, and go through the fabric.

    A name without a port means the first one of its node, as ``host-0001`` means ``host-0001/nic1``.

    Raises:
        ArtifactError: with every problem of the file, or ``artifact.trace-end`` for names that the fabric has not.
    """
    problems = list(trace.problems)
    port = np.zeros(len(trace.end_name), dtype=np.int32)
    known = _endpoint_names(fabric)
    searched = 0
    for index, (name, place) in enumerate(zip(trace.end_name, trace.end_place, strict=True)):
        found = known.get(name)
        if found is not None:
            port[index] = found
            continue
        searched += 1
        near = difflib.get_close_matches(name, known, 1) if searched <= MAX_SEARCHED and len(known) < 20_000 else []
        hint = f"did you mean {near[0]}?" if near else "name an endpoint of this fabric, as host-0001/nic3"
        problems.append(Problem("artifact.trace-end", f"{name[:60]!r} is no endpoint of this fabric", hint, place))
    if problems:
        first = problems[0]
        more = f", and {len(problems) - 1} more problems" if len(problems) > 1 else ""
        raise ArtifactError(first.code, first.message + more, first.hint, first.where, problems=tuple(problems))
    rows = len(trace.source)
    return Flows(
        source=port[trace.source],
        target=port[trace.target],
        via=np.full(rows, Via.FABRIC, dtype=np.int8),
        size_bytes=trace.size_bytes,
        need_ptr=trace.need_ptr,
        need_flow=trace.need,
        queue=np.full(rows, NIL, dtype=np.int32),
        tag=np.zeros(rows, dtype=np.int32),
        start_us=trace.start_us,
    )


def _endpoint_names(fabric: Fabric) -> dict[str, int]:
    ports = fabric.endpoint_port.tolist()
    names: dict[str, int] = {}
    for port in ports:
        names.setdefault(fabric.node_name[int(fabric.port_node[port])], port)
    names.update({fabric.port_name(port): port for port in ports})
    return names
