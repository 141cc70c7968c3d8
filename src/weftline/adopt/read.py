"""A discovery dump of any form becomes neutral records."""

from __future__ import annotations

from dataclasses import replace

from weftline.adopt.forms import HEAD_BYTES, recognise
from weftline.adopt.survey import EXACTNESS
from weftline.adopt.systems import Systems, expand_topology
from weftline.errors import Place, Problem
from weftline.formats import ibdm_topo, ibnetdiscover, portlist
from weftline.model.discovery import Discovery


def read_discovery(data: bytes, file: str, systems: Systems | None = None) -> Discovery | tuple[Problem, ...]:
    """Read the output of ibnetdiscover, plain or with ``-p``, an IBDM topology, or another file with nodes and links.

    The others are those of a survey: the tables of ibdiagnet2, ``opensm-subnet.lst``, iblinkinfo and so on.
    ``systems`` says what is inside the systems of an IBDM topology. Single lines that cannot be read are problems of
    the discovery; problems alone come back when nothing can be read.
    """
    if portlist.looks_like(data):
        return portlist.parse(data, file)
    if ibdm_topo.looks_like(data):
        topology = ibdm_topo.parse(data, file)
        return expand_topology(topology, systems or Systems()) if isinstance(topology, ibdm_topo.Topology) else topology
    form = recognise(file, data[:HEAD_BYTES])
    if form is None or form.parse is None or form.name not in EXACTNESS or form.name == "ibnetdiscover":
        return ibnetdiscover.parse(data, file)
    part = form.parse(data, file)
    if part.discovery is not None:
        return replace(part.discovery, problems=part.problems)
    if any(problem.is_error for problem in part.problems):
        return part.problems
    message = f"this file ({form.title}) holds no links"
    hint = f"a whole one is written by {form.written_by}"
    return (*part.problems, Problem("artifact.dump-empty", message, hint, Place(file, 1, 1)))
