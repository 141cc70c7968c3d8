"""What neither proofs nor rendered files guarantee on InfiniBand, said for each design that it is true of."""

from __future__ import annotations

from collections.abc import Iterator

from weftline.kernels.column import NIL
from weftline.model.design import ResolvedSpec
from weftline.model.fabric import Fabric
from weftline.technologies.infiniband.managers import list_secrets, seat_managers

NO_KEY = (
    "no M_Key is declared: root on any host can rewrite partition tables and routes, so isolation of tenants holds "
    "only against hosts that do not (infiniband.keys.m_key_file)"
)
ONE_KEY = (
    "upstream OpenSM gives every port the same M_Key, where NVIDIA's manager can give each its own: who learns it at "
    "one device can rewrite the tables of all"
)
OPEN_READING = (
    "infiniband.keys.protection is below 2: anybody can read the tables of every device, and at 0 the M_Key as well"
)
LOGGED_KEYS = (
    "OpenSM writes the options that it reads, keys among them, to its standard output and to the system log: let "
    "nobody else read these"
)
ENUMERATION = (
    "management datagrams pass between partitions: any host can ask the manager (SA) and the counters of every port "
    "(PMA), and upstream OpenSM has no enhanced trust model that would stop it"
)
NO_ENCRYPTION = "partition keys separate traffic and do not encrypt it: who holds a switch or a cable reads everything"
ONE_TENANT = (
    "a host belongs to one tenant as a whole; virtual machines or containers of several tenants on one host are not "
    "kept apart by this"
)
CLEARED = (
    "where a switch port cannot hold the keys of its endpoint OpenSM clears its enforcement, and says so in its log "
    "only: look for ERR 0507 and 0508 after each change"
)
CHOSEN_LEVELS = "hosts choose their service levels, and nothing stops one that takes another's lane"


def list_risks(design: ResolvedSpec, fabric: Fabric, plane: int) -> tuple[str, ...]:
    """List what remains, the gravest first."""
    return tuple(_list(design, fabric, plane))


def _list(design: ResolvedSpec, fabric: Fabric, plane: int) -> Iterator[str]:
    section = design.spec.infiniband
    secrets = list_secrets(section.keys)
    has_key = "m_key" in secrets
    if design.spec.tenants:
        yield from _list_seats(design, fabric, plane)
        if not has_key:
            yield NO_KEY
    if has_key:
        yield ONE_KEY
        if section.keys.protection < 2:
            yield OPEN_READING
    if secrets:
        yield LOGGED_KEYS
    if design.spec.tenants:
        yield from (ENUMERATION, NO_ENCRYPTION, ONE_TENANT, CLEARED)
    if section.qos.classes:
        yield CHOSEN_LEVELS


def _list_seats(design: ResolvedSpec, fabric: Fabric, plane: int) -> Iterator[str]:
    """Name managers that run on the host of a tenant: there OpenSM is a full member of the default partition."""
    for port in seat_managers(design, fabric, plane):
        tenant = int(fabric.node_tenant[fabric.port_node[port]])
        if tenant != NIL:
            yield (
                f"the subnet manager runs at {fabric.port_name(port)}, a host of tenant {fabric.tenant_name[tenant]}, "
                "which thereby reaches every endpoint: run it at an endpoint of no tenant (infiniband.managers)"
            )
