"""Who owns which endpoint: tenants their hosts, services the endpoints that give them, nobody the rest."""

from __future__ import annotations

from weftline.kernels.column import NIL
from weftline.model.design import ResolvedSpec
from weftline.model.fabric import Fabric
from weftline.model.isolation import NOBODY, Owners, Sharing

PREMISE = (
    "It rests on switches that run these files and that no host can configure, and on shared endpoints that do not "
    "forward packets themselves."
)


def list_owners(design: ResolvedSpec, fabric: Fabric) -> Owners:
    """List the owner of every endpoint port; a service is an owner that the tenants who share it may reach."""
    hubs = {name: f"service {service.name}" for service in reversed(design.spec.shared) for name in service.endpoints}
    of_port: dict[int, str] = {}
    for port in fabric.endpoint_port.tolist():
        node = int(fabric.port_node[port])
        tenant = int(fabric.node_tenant[node])
        name = hubs.get(fabric.node_name[node], NOBODY)
        of_port[port] = name if tenant == NIL else fabric.tenant_name[tenant]
    sharings = tuple(
        Sharing(f"service {service.name}", None if service.tenants == "all" else frozenset(service.tenants))
        for service in design.spec.shared
    )
    return Owners(of_port, sharings, PREMISE, are_apart=design.spec.roce.tenancy.kind != "none")
