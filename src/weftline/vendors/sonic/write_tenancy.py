"""SONiC's tables of tenants: VRFs, the VXLAN end, and filters at the edge."""

from __future__ import annotations

from weftline.formats.config_db import WrittenRow
from weftline.model.intent import DeviceIntent, PortIntent
from weftline.vendors.sonic.write_filters import make_filters

TUNNEL = "vtep"
EXCHANGE = "nvo"


def make_tenancy(intent: DeviceIntent, ports: list[tuple[str, PortIntent]]) -> dict[str, dict[str, WrittenRow]]:
    """Make the tables of one switch; none where nothing is kept apart."""
    tenancy = intent.tenancy
    if tenancy is None:
        return {}
    tables: dict[str, dict[str, WrittenRow]] = {
        "VRF": {vrf.key: {} if vrf.vni is None else {"vni": str(vrf.vni)} for vrf in tenancy.vrfs}
    }
    joined = [vrf for vrf in tenancy.vrfs if vrf.vlan is not None]
    tables["VLAN"] = {f"Vlan{vrf.vlan}": {"vlanid": str(vrf.vlan)} for vrf in joined}
    tables["VLAN_INTERFACE"] = {f"Vlan{vrf.vlan}": {"vrf_name": vrf.key} for vrf in joined}
    if tenancy.tunnel_source is not None:
        tables["VXLAN_TUNNEL"] = {TUNNEL: {"src_ip": tenancy.tunnel_source}}
        tables["VXLAN_EVPN_NVO"] = {EXCHANGE: {"source_vtep": TUNNEL}}
        tables["VXLAN_TUNNEL_MAP"] = {
            f"{TUNNEL}|map_{vrf.vni}_Vlan{vrf.vlan}": {"vlan": f"Vlan{vrf.vlan}", "vni": str(vrf.vni)} for vrf in joined
        }
    names = {port.key: name for name, port in ports}
    return tables | make_filters(tenancy.filters, names)
