"""Tenants out of SONiC's tables: VRFs, the VXLAN end, and filters at the edge."""

from __future__ import annotations

import ipaddress
import re

from weftline.formats.config_db import Row
from weftline.vendors.sonic.file import SwitchFile
from weftline.vendors.sonic.write_tenancy import DROP, EXCHANGE, TUNNEL

MAX_VNI = 0xFFFFFF
_VLAN = re.compile(r"^Vlan([1-9][0-9]{0,3})$")


def read_tenancy(file: SwitchFile) -> None:
    """Read what keeps tenants apart."""
    for name, row in file.rows("VRF").items():
        where = f"VRF.{name}.vni"
        vni = file.read_int(row.get("vni"), 1, MAX_VNI, where)
        if vni is not None:
            file.say(f"tenancy.vrfs.{name}.vni", vni, where)
    for name, row in file.rows("VLAN_INTERFACE").items():
        _read_vlan(file, name, row)
    for name, row in file.rows("INTERFACE").items():
        if "vrf_name" in row and _knows_vrf(file, row["vrf_name"], f"INTERFACE.{name}") and name in file.number:
            file.say(f"ports.{file.number[name]}.vrf", row["vrf_name"], f"INTERFACE.{name}.vrf_name")
    _read_tunnel(file)
    for name, row in file.rows("ACL_TABLE").items():
        _read_filter(file, name, row)


def _knows_vrf(file: SwitchFile, name: str, where: str) -> bool:
    if name in file.rows("VRF"):
        return True
    file.blame("artifact.dangling", f"there is no VRF {name[:40]!r}", where)
    return False


def _read_vlan(file: SwitchFile, name: str, row: Row) -> None:
    where = f"VLAN_INTERFACE.{name}"
    match, vrf = _VLAN.fullmatch(name), row.get("vrf_name", "")
    if match is None or file.rows("VLAN").get(name, {}).get("vlanid") != match[1]:
        file.blame("artifact.dangling", f"there is no VLAN {name[:40]!r} of that number", where)
    elif _knows_vrf(file, vrf, where):
        file.say(f"tenancy.vrfs.{vrf}.vlan", int(match[1]), where)


def _read_tunnel(file: SwitchFile) -> None:
    """Read the VXLAN end; each network number must be that of the VRF that its VLAN is in."""
    source = file.rows("VXLAN_TUNNEL").get(TUNNEL, {}).get("src_ip")
    if source is not None:
        file.say("tenancy.tunnel_source", source, f"VXLAN_TUNNEL.{TUNNEL}.src_ip")
        if file.rows("VXLAN_EVPN_NVO").get(EXCHANGE, {}).get("source_vtep") != TUNNEL:
            file.blame("artifact.dangling", "no exchange of routes uses the tunnel", f"VXLAN_EVPN_NVO.{EXCHANGE}")
    vni_of = {row.get("vrf_name"): file.rows("VRF").get(row.get("vrf_name", ""), {}).get("vni")
              for row in file.rows("VLAN_INTERFACE").values()}  # fmt: skip
    mapped: set[str] = set()
    for key, row in file.rows("VXLAN_TUNNEL_MAP").items():
        vlan = row.get("vlan", "")
        vrf = file.rows("VLAN_INTERFACE").get(vlan, {}).get("vrf_name")
        mapped.add(vlan)
        if vrf is None or vni_of.get(vrf) != row.get("vni") or key.partition("|")[0] != TUNNEL:
            message = f"VLAN {vlan[:20]!r} and network number {row.get('vni')!r} are of no VRF"
            file.blame("artifact.dangling", message, f"VXLAN_TUNNEL_MAP.{key}")
    for name in file.rows("VLAN_INTERFACE"):
        if source is not None and name not in mapped:
            file.blame("artifact.dangling", f"{name[:40]} has no network number", f"VLAN_INTERFACE.{name}")


def _read_filter(file: SwitchFile, name: str, row: Row) -> None:
    where = f"ACL_TABLE.{name}"
    if row.get("stage") != "ingress" or row.get("type") != "L3":
        file.blame("artifact.unexpected", "filter is not of type L3 on the way in", where)
        return
    bound = [port for port in row.get("ports", "").split(",") if port]
    unknown = [port for port in bound if port not in file.number]
    if unknown:
        file.blame("artifact.dangling", f"there is no port {unknown[0][:40]!r}", f"{where}.ports")
        return
    file.say(f"tenancy.filters.{name}.ports", tuple(file.number[port] for port in bound), f"{where}.ports")
    rules = [(key, rule) for key, rule in file.rows("ACL_RULE").items() if key.partition("|")[0] == name]
    *own, last = rules or [("", Row())]
    if last[1] != DROP:
        file.blame("artifact.unexpected", "the last rule does not drop the rest", where)
    sources = [rule.get("SRC_IP", "") for _, rule in own]
    priorities = [rule.get("PRIORITY", "") for _, rule in own]
    is_plain = all(set(rule) == {"PRIORITY", "SRC_IP", "PACKET_ACTION"} for _, rule in own)
    is_plain &= all(rule.get("PACKET_ACTION") == "FORWARD" for _, rule in own) and "1" not in priorities
    if not is_plain or not all(_is_network(text) for text in sources):
        file.blame("artifact.unexpected", "a rule is no source that may come in", where)
    else:
        file.say(f"tenancy.filters.{name}.sources", tuple(sources), where)


def _is_network(text: str) -> bool:
    try:
        ipaddress.IPv4Network(text)
    except ValueError:
        return False
    return True
