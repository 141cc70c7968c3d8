"""A routed fabric on this machine: real FRR on every switch, in network namespaces."""

from __future__ import annotations

from weftline.labs.netns.faults import heal, inject
from weftline.labs.netns.running import down, list_missing, up, verify
from weftline.labs.netns.verifying import read_back
from weftline.model.lab import Lab

NETNS = Lab(
    name="netns",
    technologies=("roce",),
    driver=None,
    problems=list_missing,
    up=up,
    verify=verify,
    inject=inject,
    heal=heal,
    down=down,
    read_back=read_back,
)

__all__ = ["NETNS"]
