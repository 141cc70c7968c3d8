"""The export for upstream OpenSM's own engines: they heal by themselves, and nothing of what they make is proved."""

from __future__ import annotations

from typing import Final

from weftline.model.export import ExportIntent
from weftline.model.intent import DeviceIntent
from weftline.vendors.opensm import options, policy
from weftline.vendors.opensm.lanes import INSTALL
from weftline.vendors.opensm.writing import explain_secrets, write_partitions

README: Final = "README.txt"
NOT_HERE: Final = ("lfts_file", "honor_guid2lid_file", "reassign_lids")
"""Options of the proved tables that an engine of its own has no use for."""


def choose_engines(export: ExportIntent, multipath_bits: int) -> tuple[str, ...]:
    """Choose engines in the order in which OpenSM tries them; the last word keeps it from taking any other.

    Without it OpenSM would fall back to minhop, whose tables can hold a ring of waiting credits on a tree that has
    traffic between its roots. Its fat-tree engine refuses addresses of several paths (LMC).
    """
    if export.is_tree and export.tiers > 1 and not multipath_bits:
        return ("ftree", "updn", "no_fallback")
    return ("updn", "no_fallback") if export.tiers > 1 else ("minhop", "no_fallback")


def list_options(intent: DeviceIntent, export: ExportIntent) -> dict[str, str]:
    """List the options: those of the proved set but for routing, and the files that engines read."""
    found = {name: value for name, value in options.list_options(intent).items() if name not in NOT_HERE}
    engines = choose_engines(export, intent.keys.multipath_bits if intent.keys is not None else 0)
    found["routing_engine"] = ",".join(engines)
    found["guid_routing_order_file"] = f"{INSTALL}/guid-routing-order.conf"
    if "ftree" in engines:
        found["cn_guid_file"] = f"{INSTALL}/cn-guids.conf"
        if export.stores:
            found["io_guid_file"] = f"{INSTALL}/io-guids.conf"
    if export.tiers < 2:
        del found["root_guid_file"]
    return found


def list_files(intent: DeviceIntent) -> dict[str, str]:
    """List the files by name."""
    export, secrets = intent.export, intent.manager.secrets if intent.manager is not None else ()
    if export is None or intent.keys is None:
        return {}
    found = list_options(intent, export)
    head = f"# Options of {intent.device} of fabric {intent.fabric} for OpenSM's own engines; see {README}\n"
    head += explain_secrets(secrets) if secrets else ""
    files = {
        options.name_file(intent): head + "".join(f"{name} {value}\n" for name, value in sorted(found.items())),
        "guid-routing-order.conf": write_guids("Port GUIDs, in the order in which routes are spread", export.order),
        "cn-guids.conf": write_guids("Port GUIDs of compute hosts", export.computes),
        "root-guids.conf": write_guids("Node GUIDs of the top switches", intent.keys.roots),
        "node-name-map": "".join(f'{key.key} "{key.name}"\n' for key in intent.keys.endpoints),
        README: _explain(intent, choose_engines(export, intent.keys.multipath_bits)),
    }
    files |= list_shared_files(intent)
    if export.stores:
        files["io-guids.conf"] = write_guids("Port GUIDs of endpoints that are no compute hosts", export.stores)
    return files


def list_shared_files(intent: DeviceIntent) -> dict[str, str]:
    """List the files that say the same under every engine: partitions, and levels where there are any."""
    files: dict[str, str] = {}
    if intent.isolation is not None:
        files["partitions.conf"] = write_partitions(intent, intent.isolation)
    if intent.service is not None and intent.service.levels:
        files[policy.FILE] = policy.write_policy(intent.service)
    return files


def write_guids(title: str, guids: tuple[str, ...]) -> str:
    """Write one GUID to a line."""
    return f"# {title}\n" + "".join(f"{guid}\n" for guid in guids)


def _explain(intent: DeviceIntent, engines: tuple[str, ...]) -> str:
    tried = ", then ".join(engines[:-1])
    return f"""{intent.device} of fabric {intent.fabric} for upstream OpenSM's own engines
Install all files in {INSTALL}. OpenSM tries {tried}, and no other engine: if none of them
can route the fabric the subnet does not come up, and the log says why. That is wanted:
its usual way out, minhop, says SUBNET UP over tables that may hold a ring of waiting credits.

What this export gives back: OpenSM heals by itself when links and switches come and go.

What it cannot guarantee:
- The tables that an engine makes are not those that Weftline proved. They can hold loops or rings
  of waiting credits, for instance for traffic between spines or from aggregation nodes.
  weftline audit-fabric on a dump of the running subnet judges what was really programmed.
- Every change of a link is a sweep of the whole subnet, and routes of all pairs may move.
- Balance is the engine's own; the order in guid-routing-order.conf helps, and no bound is proved.
- LIDs are handed out by OpenSM: they are not those of the proved tables.
- Partitions and service levels are those of the proved set.
"""
