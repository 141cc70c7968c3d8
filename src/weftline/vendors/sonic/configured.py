"""SONiC files that anybody wrote, as observed devices: any number of switches, whole or in parts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from weftline.errors import Place, Problem
from weftline.formats.config_db_names import OTHERS, READ, SKIPPED
from weftline.formats.config_db_read import ConfigDb, name_database, read_config_db
from weftline.formats.counters_db import CounterDump, read_counters
from weftline.formats.json_patch_read import HEAD as HEAD_OF_PATCH
from weftline.formats.json_patch_read import Patch, read_patch
from weftline.formats.sonic_show import ShownText, looks_like, read_show
from weftline.formats.text import ProblemLog
from weftline.model.observed import ObservedDevice, ObservedPool, ObservedSetting
from weftline.model.said import Said
from weftline.vendors.sonic.buffers import buffer_ports, read_pools
from weftline.vendors.sonic.counted import list_counted
from weftline.vendors.sonic.held import Held, Switch
from weftline.vendors.sonic.links import read_ports
from weftline.vendors.sonic.naming import Unit, group_units, name_by_path, name_of_output
from weftline.vendors.sonic.patches import list_steps
from weftline.vendors.sonic.shown import Shown
from weftline.vendors.sonic.sorting import sort_ports, watch_ports
from weftline.vendors.sonic.tenancy import read_filters, read_mirrors, read_routers, read_tunnel, read_vrfs
from weftline.vendors.sonic.write_hash import FIELDS, SEEDS
from weftline.vendors.sonic.writing import NAME

FORM = "config_db"
OUTPUT = "sonic-show"
COUNTERS = "COUNTERS_DB"
PATCH = "sonic-patch"
HEAD = 65_536
"""Bytes of a file by which its form is known."""
TABLES = (
    ("groups", "BUFFER_PG"),
    ("queues", "QUEUE"),
    ("queue-buffers", "BUFFER_QUEUE"),
    ("watchdog", "PFC_WD"),
    ("pauses", "PORT_QOS_MAP"),
    ("lengths", "CABLE_LENGTH"),
    ("filters", "ACL_RULE"),
)
"""What SONiC calls each table."""
FAMILIES: dict[str, frozenset[str]] = {
    "ports": frozenset({"PORT"}),
    "mtu": frozenset({"PORT"}),
    "classes": frozenset({"DSCP_TO_TC_MAP"}),
    "pauses": frozenset({"PORT_QOS_MAP"}),
    "buffers": frozenset({"BUFFER_PG", "BUFFER_PROFILE", "BUFFER_POOL"}),
    "marks": frozenset({"WRED_PROFILE", "QUEUE"}),
    "schedule": frozenset({"SCHEDULER", "QUEUE"}),
    "watchdog": frozenset({"PFC_WD"}),
    "tenancy": frozenset({"VRF", "VXLAN_TUNNEL", "VXLAN_TUNNEL_MAP", "VLAN_MEMBER"}),
    "routing": frozenset({"BGP_NEIGHBOR", "BGP_GLOBALS"}),
    "filters": frozenset({"ACL_TABLE"}),
    "mirrors": frozenset({"MIRROR_SESSION", "SFLOW"}),
    "hash": frozenset({"SWITCH_HASH"}),
}
"""Tables that say something of each matter."""
WHOLE = frozenset({
    "INTERFACE", "LOOPBACK_INTERFACE", "VLAN", "BGP_NEIGHBOR", "FEATURE", "MGMT_INTERFACE", "MGMT_PORT", "CRM",
    "FLEX_COUNTER_TABLE", "SYSLOG_SERVER", "NTP_SERVER",
})  # fmt: skip
"""Tables of which a running switch has some; a file of ports without any of them is an excerpt."""
HASHED = {name: word for word, name in FIELDS.items()}
"""The words of an intent for the fields that are hashed; others keep SONiC's name."""
MAX_SEED = 0xFFFFFFFF
_KEY = re.compile(rb'"([A-Z][A-Z0-9_]{2,60})(?:[|:][^"]{0,200})?"\s*:')
_TABLES = frozenset(READ) | SKIPPED | frozenset(table for tables in OTHERS.values() for table in tables)
_MODELS: dict[str, Literal["dynamic", "traditional"]] = {"dynamic": "dynamic", "traditional": "traditional"}


def recognise(name: str, head: bytes) -> str | None:
    """Name the form of a file: CONFIG_DB by its name or by a table in it, outputs by their heads."""
    if re.search(r"config_db[0-9]*\.json$", name):
        return FORM
    if head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] not in {b"{", b"["}:
        return OUTPUT if looks_like(head) else None
    if HEAD_OF_PATCH.match(head.removeprefix(b"\xef\xbb\xbf")) and head.rstrip()[-2:] != b"[]":
        return PATCH
    names = {match[1].decode() for match in _KEY.finditer(head)}
    if name_database(names) == COUNTERS and not names & set(READ):
        return COUNTERS
    return FORM if names & _TABLES else None


def configure(files: Sequence[tuple[str, bytes]]) -> tuple[ObservedDevice, ...]:
    """Read files of any number of switches, and the outputs of their show commands."""
    patches: list[Patch] = []
    texts: list[ShownText] = []
    dumps: list[CounterDump] = []
    read: list[ConfigDb] = []
    for name, data in files:
        form = recognise(name, data[:HEAD])
        if form == OUTPUT:
            texts.append(read_show(data, name))
        elif form == COUNTERS:
            dumps.append(read_counters(data, name))
        elif form == PATCH:
            patches.append(read_patch(data, name))
        else:
            read.append(read_config_db(data, name))
    groups = group_units(list_units(read))
    told = _assign(texts, dumps, groups)
    devices = [_read_switch(name, units, told.pop(name, [])) for name, units in groups.items()]
    devices += [_read_running(name, parts) for name, parts in told.items()]
    devices += [_read_change(patch, name_of_output(patch.file, groups)) for patch in patches]
    devices += [
        ObservedDevice(name_by_path(db.file), "unknown", NAME, (db.file,), problems=db.problems)
        for db in read
        if not db.scopes
    ]
    return tuple(devices)


def _read_change(patch: Patch, name: str) -> ObservedDevice:
    """Read the order of a change; what it leads to is read from the files that it makes."""
    return ObservedDevice(
        name or name_by_path(patch.file), "switch" if patch.steps else "unknown", NAME, (patch.file,),
        steps=list_steps(patch), covers=frozenset({"steps"} if patch.steps else ()), problems=patch.problems,
    )  # fmt: skip


Told = tuple[ShownText | CounterDump, frozenset[str]]
"""Outputs, and the prompts in them that are of one switch; an empty one stands for those without a prompt."""


def _assign(
    texts: Sequence[ShownText], dumps: Sequence[CounterDump], groups: Mapping[str, list[Unit]]
) -> dict[str, list[Told]]:
    """Say which switch each output is of: by its prompt, its file, its folder, or the only switch beside it."""
    found: dict[str, list[Told]] = {}
    for dump in dumps:
        found.setdefault(name_of_output(dump.file, groups), []).append((dump, frozenset({""})))
    for text in texts:
        hosts = {part.host for part in (*text.tables, *text.blocks, *text.polls)} or {""}
        by_name: dict[str, set[str]] = {host: {host} for host in hosts if host}
        if "" in hosts:
            by_name.setdefault(name_of_output(text.file, groups), set()).add("")
        for name, prompts in by_name.items():
            found.setdefault(name, []).append((text, frozenset(prompts)))
    return found


def _read_running(name: str, told: list[Told]) -> ObservedDevice:
    """Read the outputs of a switch whose configuration nobody gave; a name that is empty is nobody's."""
    files = tuple(dict.fromkeys(text.file for text, _ in told))
    switch = Switch(ProblemLog(files[0]))
    shown = _read_shown(switch, told)
    for text, _ in told:
        if not name:
            message = "nothing says which switch these outputs are of"
            hint = "put them into a folder that is called as the switch, or keep the prompt before them"
            switch.blame("artifact.no-device", message, Place(text.file), hint, "warning")
    problems = [problem for text, _ in told for problem in text.problems]
    return ObservedDevice(
        name or files[0],
        "switch" if name else "unknown",
        NAME,
        files,
        evidence=tuple(shown.evidence),
        unread=tuple(sorted(shown.unread.items())),
        problems=(*problems, *switch.log.close()),
    )


def list_units(read: Sequence[ConfigDb]) -> list[Unit]:
    """List the switches and chips of the files; what holds for all chips of a switch stands with each."""
    return [Unit(db, scope) for db in read for scope in db.scopes if scope.tables or len(db.scopes) == 1]


def hold(name: str, units: list[Unit]) -> Switch:
    """Put the tables of one switch together; the last of two rows of a key counts."""
    log = ProblemLog(units[0].db.file)
    switch = Switch(log)
    names: set[str] = set()
    for unit in units:
        names |= set(unit.scope.tables) | set(unit.scope.skipped)
        for table, rows in unit.scope.tables.items():
            held = switch.tables.setdefault(table, {})
            for key, row in rows.items():
                new = Held(table, key, dict(row), unit.db, unit.scope)
                if key in held and held[key].fields != new.fields:
                    message = f"{table} {key} of {name} stands in {held[key].place()} too, and says something else"
                    switch.blame("artifact.said-twice", message, new.place(), "", "warning")
                held[key] = new
    switch.is_excerpt = all(unit.db.form == "configlets" for unit in units)
    switch.is_full = not switch.is_excerpt and {"DEVICE_METADATA", "PORT"} <= names and bool(names & WHOLE)
    return switch


def _read_switch(name: str, units: list[Unit], told: list[Told]) -> ObservedDevice:
    switch = hold(name, units)
    shown = _read_shown(switch, told)
    ports = read_ports(switch)
    sort_ports(switch, ports)
    watchdog = watch_ports(switch, ports)
    pools = tuple(_size(pool, shown) for pool in read_pools(switch))
    foreign = buffer_ports(switch, ports)
    filters = read_filters(switch, ports)
    metadata = switch.row("DEVICE_METADATA", "localhost")
    lossless = next(iter(switch.rows("DEFAULT_LOSSLESS_BUFFER_PARAMETER").values()), None)
    pattern = next(iter(switch.rows("LOSSLESS_TRAFFIC_PATTERN").values()), None)
    hashing = switch.row("SWITCH_HASH", "GLOBAL")
    fields = () if hashing is None else hashing.items("ecmp_hash")
    words = tuple(HASHED.get(name, name) for name in fields)
    vrfs, routers, tunnel, mirrors = read_vrfs(switch), read_routers(switch), read_tunnel(switch), read_mirrors(switch)
    settings = _list_settings(switch)
    return ObservedDevice(
        name,
        "switch",
        NAME,
        tuple(dict.fromkeys([unit.db.file for unit in units] + [text.file for text, _ in told])),
        platform=None if metadata is None else metadata.say("hwsku"),
        buffer_model=None if metadata is None else switch.choice(metadata, "buffer_model", _MODELS),
        ports=tuple(shown.fill(port.finish()) for port in ports.values()),
        pools=pools,
        watchdog=watchdog,
        over_subscribe_ratio=None if lossless is None else switch.number(lossless, "over_subscribe_ratio", 0, 1000),
        lossless_mtu=None if pattern is None else switch.number(pattern, "mtu", 64, 10240),
        small_packet_percent=None if pattern is None else switch.number(pattern, "small_packet_percentage", 0, 100),
        hash_fields=Said(words, hashing.place("ecmp_hash")) if hashing is not None and fields else None,
        hash_seed=None if metadata is None else _read_seed(switch, metadata),
        vrfs=vrfs,
        routers=routers,
        tunnel=tunnel,
        filters=filters,
        mirrors=mirrors,
        settings=settings,
        tables=TABLES,
        evidence=tuple(shown.evidence),
        unread=_list_unread(switch, units, {**shown.unread, "queues of other cards": foreign}),
        covers=_list_covered(switch, metadata),
        problems=_collect(switch, units, told),
    )


def _read_seed(switch: Switch, metadata: Held) -> Said[int] | None:
    """Read the seed of its own, else that which a device of its type takes."""
    said = switch.number(metadata, "ecmp_hash_seed", 0, MAX_SEED)
    kind = metadata.text("type")
    return said or (Said(SEEDS[kind], metadata.place("type")) if kind in SEEDS else None)


def _read_shown(switch: Switch, told: list[Told]) -> Shown:
    aliases = {alias: name for name, row in switch.rows("PORT").items() if (alias := row.text("alias"))}
    shown = Shown(switch, aliases)
    for text, prompts in told:
        if isinstance(text, CounterDump):
            shown.evidence += list_counted(text)
        else:
            shown.read(text, prompts)
    return shown


def _size(pool: ObservedPool, shown: Shown) -> ObservedPool:
    """Give a pool the size and the shared headroom that the running switch computed, where the files say none."""
    found = shown.pools.get(pool.name, {})
    size, headroom = pool.size_bytes or found.get("size"), pool.headroom_bytes or found.get("xoff")
    return replace(pool, size_bytes=size, headroom_bytes=headroom)


def _list_settings(switch: Switch) -> tuple[ObservedSetting, ...]:
    """List what packet trimming does, which no other field says."""
    row = switch.row("SWITCH_TRIMMING", "GLOBAL")
    if row is None:
        return ()
    return tuple(
        ObservedSetting(f"SWITCH_TRIMMING.{name}", said) for name in row.fields if (said := row.say(name)) is not None
    )


def _list_covered(switch: Switch, metadata: Held | None) -> frozenset[str]:
    covered = {matter for matter, tables in FAMILIES.items() if switch.is_full or tables & set(switch.tables)}
    mode = None if metadata is None else metadata.text("docker_routing_config_mode")
    # In these modes FRR has a file of its own, and the rows of CONFIG_DB do nothing. sonic-device_metadata.yang
    if mode is not None and mode.startswith("split"):
        covered.discard("routing")
    return frozenset(covered)


def _list_unread(switch: Switch, units: list[Unit], others: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    found = {name: count for name, count in others.items() if count}
    for unit in units:
        for table, count in (*unit.scope.skipped.items(), *unit.scope.unknown.items()):
            found[table] = found.get(table, 0) + count
    for table, rows in switch.tables.items():
        if table not in switch.used:
            found[table] = found.get(table, 0) + len(rows)
    return tuple(sorted(found.items()))


def _collect(switch: Switch, units: list[Unit], told: list[Told]) -> tuple[Problem, ...]:
    """Join the problems of the files and of the switch, in the order of files and lines."""
    dbs = {unit.db.file: unit.db for unit in units}
    texts = {text.file: text for text, _ in told}
    order = {file: place for place, file in enumerate((*dbs, *texts))}
    everything = [problem for part in (*dbs.values(), *texts.values()) for problem in part.problems]
    everything += switch.log.close()
    nowhere = Place("")
    return tuple(
        sorted(
            everything,
            key=lambda problem: (
                order.get((problem.where or nowhere).file, 0),
                (problem.where or nowhere).line or 2**31,
            ),
        )
    )
