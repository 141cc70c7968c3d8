"""One path, explained."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from weftline.app.pipeline import Progress, Routed, run_to_routes, silent
from weftline.model.path import Path as FabricPath
from weftline.route import find_destination, find_endpoint, trace_path


@dataclass(frozen=True, slots=True)
class Traced:
    """A path and the routes that it follows."""

    routed: Routed
    path: FabricPath


def trace(place: Path, source: str, target: str, seed: int = 0, progress: Progress = silent) -> Traced:
    """Follow the tables from one endpoint to another."""
    routed = run_to_routes(place, progress)
    fabric, routes = routed.built.fabric, routed.routes
    source_port = find_endpoint(fabric, source)
    destination = find_destination(fabric, routes, target)
    return Traced(routed, trace_path(fabric, routes, source_port, destination, seed))
