"""OpenSM's files of one subnet: tables, LIDs, partitions, options, roots and names."""

from __future__ import annotations

from collections.abc import Sequence

from weftline.model.artifact import Artifact
from weftline.model.intent import DeviceIntent, IsolationIntent, KeyIntent
from weftline.vendors.opensm import managers, options, policy
from weftline.vendors.opensm.lanes import INSTALL
from weftline.vendors.opensm.tables import write_table

NAME = "opensm"
TABLES = "lfts.conf"
CACHE = "/var/cache/opensm"
GUIDS_PER_RULE = 8
"""OpenSM reads a line of at most 4 KiB and merges rules of one P_Key, so rules stay short."""


def render(intents: tuple[DeviceIntent, ...]) -> tuple[Artifact, ...]:
    """Write the files of each subnet manager."""
    return tuple(artifact for intent in intents if intent.role == "manager" for artifact in _render_subnet(intent))


def _render_subnet(intent: DeviceIntent) -> list[Artifact]:
    files: dict[str, bytes] = {options.name_file(intent): _write_options(intent).encode()}
    if intent.forwarding is not None and intent.forwarding.table is not None:
        head = _head(intent, f"{INSTALL}/{TABLES}", "Forwarding tables")
        files[TABLES] = head.encode() + write_table(intent.forwarding.table)
    if intent.keys is not None:
        files["guid2lid"] = _write_addresses(intent.keys).encode()
        files["node-name-map"] = _write_names(intent, intent.keys).encode()
        files["root-guids.conf"] = _write_roots(intent, intent.keys).encode()
    if intent.service is not None and intent.service.levels:
        head = _head(intent, f"{INSTALL}/{policy.FILE}", "Service levels by pair of endpoints")
        files[policy.FILE] = (head + policy.write_policy(intent.service)).encode()
    if intent.manager is not None:
        files[managers.FILE] = (_head_managers(intent) + managers.write_managers(intent.manager)).encode()
    if intent.isolation is not None:
        files["partitions.conf"] = write_partitions(intent, intent.isolation).encode()
    return [
        Artifact(path=f"{NAME}/{intent.device}/{name}", content=content, device=intent.device, vendor=NAME)
        for name, content in sorted(files.items())
    ]


def _head(intent: DeviceIntent, install: str, what: str) -> str:
    lines = [f"{what} of {intent.device} of fabric {intent.fabric}; install as {install}", *intent.notes]
    return "".join(f"# {line}\n" for line in lines)


def _write_options(intent: DeviceIntent) -> str:
    cache = f"# guid2lid belongs in {CACHE} before OpenSM starts, all other files in {INSTALL}\n"
    head = _head(intent, f"{INSTALL}/{options.FILE}", "Options") + cache
    if intent.manager is not None and intent.manager.secrets:
        head += explain_secrets(intent.manager.secrets)
    return head + options.write_options(intent)


def explain_secrets(secrets: tuple[str, ...]) -> str:
    """Say how the keys get into the file on a machine of a manager."""
    fills = " ".join(f'-e "s/{options.placeholder(name)}/$(cat {name})/"' for name in secrets)
    command = f"(umask 077; sed {fills} {options.UNFILLED} > {options.FILE})"
    return f"# keys are only named here; with a file of mode 0600 for each in this folder: {command}\n"


def _write_addresses(keys: KeyIntent) -> str:
    return "".join(f"{key.key} 0x{key.first:04x} 0x{key.last:04x}\n\n" for key in keys.endpoints)


def _write_names(intent: DeviceIntent, keys: KeyIntent) -> str:
    head = _head(intent, f"{INSTALL}/node-name-map", "Names by GUID (switches by node, endpoints by port)")
    return head + "".join(f'{key.key} "{key.name}"\n' for key in keys.endpoints)


def _write_roots(intent: DeviceIntent, keys: KeyIntent) -> str:
    head = _head(intent, f"{INSTALL}/root-guids.conf", "Node GUIDs of the top switches")
    return head + "".join(f"{root}\n" for root in keys.roots)


def _head_managers(intent: DeviceIntent) -> str:
    words = "Subnet managers, by port GUID and priority, the master first"
    start = f"# on the machine of each: opensm -F {INSTALL}/{options.FILE} -g GUID -p PRIORITY\n"
    return _head(intent, f"{INSTALL}/{managers.FILE}", words) + start


def write_partitions(intent: DeviceIntent, isolation: IsolationIntent) -> str:
    """Write short rules, each complete on its line: OpenSM drops the whole file at the first error."""
    seats = "".join(f", {guid}=full" for guid in isolation.default_full)
    default = (
        f"Default=0x{isolation.default_key:04x} : ALL={isolation.default_membership}, ALL_SWITCHES=full, "
        f"SELF=full{seats} ;\n"
    )
    rules = [
        f"{partition.name}=0x{partition.key:04x}{', indx0' if is_first else ''}, defmember={membership} : "
        f"{', '.join(guids)} ;\n"
        for partition in isolation.partitions
        for membership, is_first, members in (
            ("full", partition.is_first, partition.full),
            ("both", partition.is_first, partition.both),
            ("limited", partition.is_first_of_limited, partition.limited),
        )
        for guids in _split(members, GUIDS_PER_RULE)
    ]
    return _head(intent, f"{INSTALL}/partitions.conf", "Partitions, by port GUID") + default + "".join(rules)


def _split(items: Sequence[str], size: int) -> list[Sequence[str]]:
    return [items[start : start + size] for start in range(0, len(items), size)]
