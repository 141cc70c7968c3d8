"""A discovery dump of any form becomes neutral records."""

from __future__ import annotations

from weftline.adopt.systems import Systems, expand_topology
from weftline.errors import Problem
from weftline.formats import ibdm_topo, ibnetdiscover, portlist
from weftline.model.discovery import Discovery


def read_discovery(data: bytes, file: str, systems: Systems | None = None) -> Discovery | tuple[Problem, ...]:
    """Read the output of ibnetdiscover, plain or with ``-p``, or an IBDM topology; the form is told by the lines.

    ``systems`` says what is inside the systems of an IBDM topology. Single lines that cannot be read are problems of
    the discovery; problems alone come back when nothing can be read.
    """
    if portlist.looks_like(data):
        return portlist.parse(data, file)
    if ibdm_topo.looks_like(data):
        topology = ibdm_topo.parse(data, file)
        return expand_topology(topology, systems or Systems()) if isinstance(topology, ibdm_topo.Topology) else topology
    return ibnetdiscover.parse(data, file)
