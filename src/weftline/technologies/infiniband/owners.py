"""Who owns which endpoint: tenants their hosts, management the ports of the managers, nobody the rest."""

from __future__ import annotations

from weftline.kernels.column import NIL
from weftline.model.design import ResolvedSpec
from weftline.model.fabric import Fabric
from weftline.model.isolation import MANAGEMENT, NOBODY, Owners, Sharing

PREMISE = (
    "It rests on a management key that protects the tables (without one, root on any host can rewrite them), and on a "
    "subnet manager at a port that is no tenant's."
)


def list_owners(_design: ResolvedSpec, fabric: Fabric) -> Owners:
    """List the owner of every endpoint port."""
    of_port: dict[int, str] = {}
    for port in fabric.endpoint_port.tolist():
        tenant = int(fabric.node_tenant[fabric.port_node[port]])
        of_port[port] = NOBODY if tenant == NIL else fabric.tenant_name[tenant]
    return Owners(of_port, (Sharing(MANAGEMENT),), PREMISE)
