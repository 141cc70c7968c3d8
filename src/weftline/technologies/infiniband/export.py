"""What an export of one plane holds: its ends by kind, an order to route them in, and whether it is a tree."""

from __future__ import annotations

import numpy as np

from weftline.formats.eui import format_guid
from weftline.kernels.column import I32, NIL
from weftline.model.addresses import Addresses
from weftline.model.design import ResolvedSpec
from weftline.model.export import ExportIntent
from weftline.model.fabric import TIER_NAMES, Fabric, NodeKind
from weftline.technologies.infiniband.levels import make_service


def list_export(design: ResolvedSpec, fabric: Fabric, addresses: Addresses, plane: int) -> ExportIntent:
    """Sort the ends of a plane."""
    ports: I32 = fabric.endpoint_port
    ports = ports[(fabric.port_plane[ports] == plane) & (fabric.port_peer[ports] != NIL)]
    is_host = fabric.node_kind[fabric.port_node[ports]] == NodeKind.HOST
    by_rail = ports[np.argsort(fabric.port_rail[ports], kind="stable")]
    switches = fabric.switch_node[fabric.node_plane[fabric.switch_node] == plane]
    return ExportIntent(
        is_tree=_is_tree(fabric, ports, plane),
        tiers=int(fabric.node_tier[switches].max(initial=0)),
        computes=tuple(sorted(_write(addresses, ports[is_host]))),
        stores=tuple(sorted(_write(addresses, ports[~is_host]))),
        order=tuple(_write(addresses, by_rail)),
        service=make_service(design, fabric, addresses, plane),
        switches=tuple(
            (TIER_NAMES[int(fabric.node_tier[node])], format_guid(int(addresses.node_id[node]))) for node in switches
        ),
    )


def _write(addresses: Addresses, ports: I32) -> list[str]:
    return [format_guid(int(value)) for value in addresses.port_id[ports]]


def _is_tree(fabric: Fabric, ports: I32, plane: int) -> bool:
    """Tell whether endpoints hang on one tier, and every link between switches climbs one."""
    tier = fabric.node_tier
    homes = tier[fabric.port_node[fabric.port_peer[ports]]]
    is_switch = fabric.node_kind[fabric.port_node] == NodeKind.SWITCH
    own = np.flatnonzero(is_switch & (fabric.node_plane[fabric.port_node] == plane) & (fabric.port_peer != NIL))
    far = fabric.port_node[fabric.port_peer[own]]
    between = fabric.node_kind[far] == NodeKind.SWITCH
    steps = np.abs(tier[fabric.port_node[own]][between].astype(np.int64) - tier[far][between])
    return len(np.unique(homes)) == 1 and bool((steps == 1).all())
