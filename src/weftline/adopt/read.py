"""A discovery dump of either form becomes neutral records."""

from __future__ import annotations

from weftline.errors import Problem
from weftline.formats import ibnetdiscover, portlist
from weftline.model.discovery import Discovery


def read_discovery(data: bytes, file: str) -> Discovery | tuple[Problem, ...]:
    """Read the output of ibnetdiscover, plain or with ``-p``; the form is told by the lines.

    Single lines that cannot be read are problems of the discovery; problems alone come back when nothing can be read.
    """
    if portlist.looks_like(data):
        return portlist.parse(data, file)
    return ibnetdiscover.parse(data, file)
