"""Who owns which endpoint: tenants their hosts, management the ports of the managers, nobody the rest."""

from __future__ import annotations

from weftline.kernels.column import NIL
from weftline.model.design import ResolvedSpec
from weftline.model.fabric import Fabric
from weftline.model.isolation import MANAGEMENT, NOBODY, Owners, Sharing
from weftline.technologies.infiniband.managers import seat_managers

PREMISE = (
    "It rests on a management key that protects the tables (without one, root on any host can rewrite them), and on a "
    "subnet manager at a port that is no tenant's."
)


def list_owners(design: ResolvedSpec, fabric: Fabric) -> Owners:
    """List the owner of every endpoint port; a service is an owner that the tenants who share it may reach."""
    hubs = {name: service.name for service in reversed(design.spec.shared) for name in service.endpoints}
    seats = {port for plane in range(max(fabric.planes, 1)) for port in seat_managers(design, fabric, plane)}
    of_port: dict[int, str] = {}
    for port in fabric.endpoint_port.tolist():
        node = int(fabric.port_node[port])
        tenant = int(fabric.node_tenant[node])
        if tenant != NIL:
            of_port[port] = fabric.tenant_name[tenant]
        elif port in seats:
            of_port[port] = MANAGEMENT
        else:
            service = hubs.get(fabric.node_name[node], "")
            of_port[port] = f"service {service}" if service else NOBODY
    sharings = [
        Sharing(f"service {service.name}", None if service.tenants == "all" else frozenset(service.tenants))
        for service in design.spec.shared
    ]
    return Owners(of_port, (Sharing(MANAGEMENT), *sharings), PREMISE)
