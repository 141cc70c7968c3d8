"""The JSON of one path."""

from __future__ import annotations

from weftline.app.trace import Traced


def view_path(traced: Traced) -> dict[str, object]:
    """Show each hop; ``in_port`` is null at the sender and ``out_port`` at the receiver."""
    return {
        "schema": "weftline/path/1",
        "of": traced.routed.routes.digest,
        "source": traced.path.source,
        "target": traced.path.target,
        "lane": traced.path.lane,
        "hops": [
            {"node": hop.node, "in_port": hop.in_port, "out_port": hop.out_port, "why": hop.why}
            for hop in traced.path.hops
        ],
    }
