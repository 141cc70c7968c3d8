"""Tenants out of SONiC's tables: VRFs, the VXLAN end, and filters at the edge."""

from __future__ import annotations

import re

from weftline.formats.config_db import Row
from weftline.vendors.sonic.file import SwitchFile
from weftline.vendors.sonic.read_filters import read_filters
from weftline.vendors.sonic.write_tenancy import EXCHANGE, TUNNEL

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
    read_filters(file)


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
