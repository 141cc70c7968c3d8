"""The export for NVIDIA's subnet manager: adaptive routing and self-healing, of which no table tells."""

from __future__ import annotations

from typing import Final

from weftline.model.export import ExportIntent
from weftline.model.intent import DeviceIntent
from weftline.vendors.opensm import options
from weftline.vendors.opensm.exports.upstream import (
    NOT_HERE,
    README,
    list_shared_files,
    write_guids,
)
from weftline.vendors.opensm.lanes import INSTALL

ENGINE: Final = "ar_updn"
SEEN: Final = {
    "ar_sl_mask": "0xFFFF",
    "ar_transport_mask": "0x000A",
    "enable_ar_by_device_cap": "TRUE",
    "m_key_per_port": "TRUE",
    "sm_db_dump": "TRUE",
    "use_optimized_slvl": "TRUE",
}
"""Names and values that public files of sites hold."""
UNVERIFIED: Final = {
    "ar_mode": "1",
    "shield_mode": "1",
    "sa_enhanced_trust_model": "TRUE",
    "pgrp_policy_file": f"{INSTALL}/pgrp.conf",
    "topo_policy_file": f"{INSTALL}/topo.conf",
    "rch_policy_file": f"{INSTALL}/rch.conf",
}
"""Names that are known, with values or meanings that no public source states: look them up in your release."""
OWN_KEYS: Final = ("vs_key", "cc_key", "am_key")


def list_files(intent: DeviceIntent) -> dict[str, str]:
    """List the files by name."""
    export = intent.export
    if export is None or intent.keys is None:
        return {}
    files = {
        "opensm.conf.in" if intent.manager is not None and intent.manager.secrets else "opensm.conf": _write(intent),
        "root-guids.conf": write_guids("Node GUIDs of the top switches", intent.keys.roots),
        "guid-routing-order.conf": write_guids("Port GUIDs, in the order in which routes are spread", export.order),
        "node-name-map": "".join(f'{key.key} "{key.name}"\n' for key in intent.keys.endpoints),
        "pgrp.conf": _write_groups(export),
        "topo.conf": "topology\nid: 1\nsw-grp: g_switches\nhca-grp: g_ends\nend-topology\n",
        "rch.conf": (
            # Neither config, which would name a whole file of options, nor fallback-to: the main options hold.
            f"unicast-step\nid: 1\nengine: {ENGINE.removeprefix('ar_')}\ntopology: 0\npath-bit: 0\nend-unicast-step\n"
        ),
        README: _explain(intent),
    }
    return {**files, **list_shared_files(intent)}


def _write(intent: DeviceIntent) -> str:
    """Write the options: those that both managers know, those seen at sites, and those that nobody verified."""
    known = {name: value for name, value in options.list_options(intent).items() if name not in NOT_HERE}
    known["routing_engine"] = ENGINE
    known["guid_routing_order_file"] = f"{INSTALL}/guid-routing-order.conf"
    seen = dict(SEEN)
    if "m_key" not in known:
        del seen["m_key_per_port"]
    blocks = (
        (f"Options of {intent.device} of fabric {intent.fabric} for NVIDIA's subnet manager; see {README}", known, ""),
        ("names and values that public files of sites hold", seen, ""),
        ("unverified: names are known, values are not; look each up in your release, then take its # away",
         UNVERIFIED, "#"),
    )  # fmt: skip
    return "\n".join(
        f"# {title}\n" + "".join(f"{off}{name} {value}\n" for name, value in sorted(block.items()))
        for title, block, off in blocks
    )


def _write_groups(export: ExportIntent) -> str:
    """Write groups by GUID: of switches by tier, of all ends, of compute hosts and of the others."""
    tiers = sorted({tier for tier, _ in export.switches})
    groups = [("g_switches", [guid for _, guid in export.switches])]
    groups += [(f"g_{tier}", [guid for own, guid in export.switches if own == tier]) for tier in tiers]
    groups += [("g_ends", [*export.order]), ("g_compute", [*export.computes]), ("g_io", [*export.stores])]
    text = "# the qualifier port-guid is unverified; port-regexp over names is the documented way\n"
    for name, members in groups:
        if members:
            text += f"port-group\nname: {name}\n" + "".join(f"port-guid: {one}\n" for one in members)
            text += "end-port-group\n"
    return text


def _explain(intent: DeviceIntent) -> str:
    return f"""{intent.device} of fabric {intent.fabric} for NVIDIA's subnet manager
Install the files in {INSTALL}, or hand them to UFM. The engine is {ENGINE}. For sites that
run routing_engine chain, pgrp.conf, topo.conf and rch.conf are a chain of one step to start from:
{ENGINE.removeprefix("ar_")} over the whole fabric, since public manuals name no adaptive engine for a step.
No release of that manager was at hand: options are sorted by what is known of their names.

What this export gives back: adaptive routing; once their options are switched on, self-healing
links (SHIELD) and enhanced trust too.

What it cannot guarantee:
- Nothing here was loaded into that manager by us, and it may pass over options that it does not know.
- Paths of adaptive routing stand in no forwarding table. A proof on tables is none on them;
  weftline audit-fabric reads the dumps of groups (.far, .ar) of the running subnet.
- Whether the engine that runs is the one that was asked for: see RoutingEngine in its database dump
  (sm_db_dump), since it may fall back.
- Rings of waiting credits, balance and the cost of a lost link are the engine's own.
- Management keys are not in these files, and its own ones ({", ".join(OWN_KEYS)}) are set at
  the site; never hand on guid2mkey, which holds them all.
- Partitions are those of the proved set; that their enforcement is on has to be read back there.
"""
