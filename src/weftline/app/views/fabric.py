"""The JSON of a fabric and of its routes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weftline.app.build import Built

if TYPE_CHECKING:
    from weftline.app.pipeline import Routed


def view_fabric(built: Built) -> dict[str, object]:
    """Show what was compiled; cables count as the parts say, links are logical, extra endpoints stand apart."""
    counts = built.counts
    design = built.checked.design
    return {
        "schema": "weftline/fabric/1",
        "name": built.fabric.name,
        "digest": built.fabric.digest,
        "hosts": counts.hosts,
        "gpus": counts.gpus,
        "endpoints": counts.endpoints,
        "extra_endpoints": counts.extra_endpoints,
        "switches": dict(counts.switches),
        "groups": counts.groups,
        "cables": dict(counts.cables),
        "links": counts.links,
        "technology": built.checked.technology.name,
        "shape": built.fabric.shape,
        "planes": built.fabric.planes,
        "declaration_digest": design.digest,
        "parts": {
            "host": design.host_name,
            "leaf": design.leaf.name,
            "spine": design.spine.name if counts.switches["spine"] else None,
            "core": design.core.name if counts.switches["core"] else None,
        },
    }


def view_routes(routed: Routed) -> dict[str, object]:
    """Show which engine made the routes and how large they are."""
    routes = routed.routes
    return {
        "schema": "weftline/routes/1",
        "of": routed.built.fabric.digest,
        "digest": routes.digest,
        "engine": routes.engine,
        "guarantee": routes.guarantee,
        "switches": int(routes.group.shape[0]),
        "destinations": int(routes.group.shape[1]),
        "entries": routes.entries,
        "groups": len(routes.member_ptr) - 1,
        "lanes": list(routes.destinations_by_lane),
    }
