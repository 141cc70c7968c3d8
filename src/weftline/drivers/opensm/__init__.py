"""A subnet under OpenSM: read device by device, and held against the rendered files."""

from __future__ import annotations

from weftline.drivers.opensm.comparing import compare
from weftline.drivers.opensm.lanes import wants_lanes
from weftline.drivers.opensm.reading import list_problems, read_state
from weftline.drivers.opensm.watching import watch
from weftline.model.driver import Driver

OPENSM = Driver(
    name="opensm", read_state=read_state, compare=compare, wants_lanes=wants_lanes, problems=list_problems, watch=watch
)

__all__ = ["OPENSM"]
