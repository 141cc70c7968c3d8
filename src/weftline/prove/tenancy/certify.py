"""Certify: the VRFs of each switch and the ports in them, as the files say, for an auditor to judge who meets whom."""

from __future__ import annotations

from weftline.model.certificates import TenantTable
from weftline.model.separation import SeparationFiles
from weftline.prove.tenancy.ground import DEFAULT_VRF, lay_ground, name_vrf


def list_tenants(files: SeparationFiles) -> tuple[TenantTable, ...]:
    """List every VRF that a port which faces an endpoint is in, with its route targets and network number."""
    grounds = {device.name: lay_ground(device) for device in files.devices}
    ports: dict[tuple[str, str], list[int]] = {}
    for end in files.ends:
        if end.port is not None:
            device, name = end.port
            port = grounds[device].ports[name]
            ports.setdefault((device, name_vrf(port.vrf)), []).append(int(end.facing.rsplit("/", 1)[1]))
    found: list[TenantTable] = []
    for (device, vrf), numbers in sorted(ports.items()):
        ground = grounds[device]
        routers = ground.routers.get(vrf, ())
        known = ground.vrfs.get(vrf)
        vni = None if known is None else known.vni
        found.append(
            TenantTable(
                switch=device,
                vrf=DEFAULT_VRF if vrf == DEFAULT_VRF else vrf,
                vni=0 if vni is None else vni.value,
                imports=tuple(sorted({said.value for router in routers for said in router.imports})),
                exports=tuple(sorted({said.value for router in routers for said in router.exports})),
                ports=tuple(sorted(numbers)),
            )
        )
    return tuple(found)
