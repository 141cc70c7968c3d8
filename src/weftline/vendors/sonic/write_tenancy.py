"""SONiC's tables of tenants: VRFs, the VXLAN end, and filters at the edge."""

from __future__ import annotations

from weftline.formats.config_db import WrittenRow
from weftline.model.intent import DeviceIntent, PortIntent
from weftline.model.tenancy import FilterIntent

TUNNEL = "vtep"
EXCHANGE = "nvo"
FIRST_PRIORITY = 9000
DROP = {"PRIORITY": "1", "ETHER_TYPE": "2048", "PACKET_ACTION": "DROP"}
"""Every other IPv4 packet; ARP passes. 2048 is 0x0800."""


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
    tables["ACL_TABLE"] = {one.key: _make_table(one, names) for one in tenancy.filters}
    tables["ACL_RULE"] = {key: row for one in tenancy.filters for key, row in _list_rules(one)}
    return tables


def _make_table(one: FilterIntent, names: dict[int, str]) -> WrittenRow:
    bound = [names[port] for port in one.ports]
    return {"type": "L3", "policy_desc": one.key, "stage": "ingress", "ports": bound}


def _list_rules(one: FilterIntent) -> list[tuple[str, WrittenRow]]:
    rules: list[tuple[str, WrittenRow]] = [
        (
            f"{one.key}|OWN_{place + 1}",
            {"PRIORITY": str(FIRST_PRIORITY - place), "SRC_IP": source, "PACKET_ACTION": "FORWARD"},
        )
        for place, source in enumerate(one.sources)
    ]
    return [*rules, (f"{one.key}|REST", dict(DROP))]
