"""Ways to tamper with a bundle and to make its manifest right again, each with what the auditor says to it."""
# ruff: noqa: E501  (one way per line)

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.auditor.bundles import Files, edit

SUBNET = "opensm/subnet-1/"
LFTS, NAMES, LIDS = SUBNET + "lfts.conf", SUBNET + "node-name-map", SUBNET + "guid2lid"
OPTIONS, KEYS, POLICY = SUBNET + "opensm.conf", SUBNET + "partitions.conf", SUBNET + "qos-policy.conf"
TABLES, TENANTS = "fabric/tables.txt", "fabric/tenants.txt"


@dataclass(frozen=True)
class Tampering:
    """One way."""

    name: str
    base: str
    """The bundle that it is done to."""
    change: Callable[[Files], Files]
    reason: str
    """What the auditor must say."""


def _swap(path: str, old: str, new: str, count: int = 1) -> Callable[[Files], Files]:
    return lambda files: edit(files, path, old, new, count)


def _lines(path: str, change: Callable[[list[str]], list[str]]) -> Callable[[Files], Files]:
    return lambda files: {**files, path: ("\n".join([*change(files[path].decode().split("\n")[:-1]), ""])).encode()}


def _drop(path: str, start: str) -> Callable[[Files], Files]:
    return _lines(path, lambda lines: [line for line in lines if not line.startswith(start)])


def _twice(path: str, start: str) -> Callable[[Files], Files]:
    return _lines(path, lambda lines: [one for line in lines for one in [line] * (1 + line.startswith(start))])


def _exchange(a: str, b: str) -> Callable[[Files], Files]:
    return lambda files: {**files, a: files[b], b: files[a]}


def _state(claim: str, change: Callable[[str], str]) -> Callable[[Files], Files]:
    def restate(files: Files) -> Files:
        value = json.loads(files["claims.json"])
        for one in value["claims"]:
            if one["claim"] == claim:
                one["statement"] = change(one["statement"])
        return {**files, "claims.json": json.dumps(value).encode()}

    return restate


def _unclaim(claim: str) -> Callable[[Files], Files]:
    def drop(files: Files) -> Files:
        value = json.loads(files["claims.json"])
        value["claims"] = [one for one in value["claims"] if one["claim"] != claim]
        return {**files, "claims.json": json.dumps(value).encode()}

    return drop


def _without(path: str) -> Callable[[Files], Files]:
    return lambda files: {name: content for name, content in files.items() if name != path}


def _blocks(files: Files) -> list[str]:
    return re.split(r"(?m)^(?=Unicast lids )", files[LFTS].decode())


def _join(files: Files, blocks: list[str]) -> Files:
    return {**files, LFTS: "".join(blocks).encode()}


def _in_block(files: Files, switch: str, lid: str, port: str) -> Files:
    """Change one entry of one switch."""
    blocks = _blocks(files)
    return _join(
        files, [re.sub(rf"{lid} \d\d\d", f"{lid} {port}", one) if f"({switch})" in one else one for one in blocks]
    )


def _swap_blocks(files: Files, a: str, b: str) -> Files:
    """Exchange the entries of two switches, not their headers."""
    blocks = _blocks(files)
    i, j = (next(at for at, one in enumerate(blocks) if f"({name})" in one) for name in (a, b))
    (head_a, _, body_a), (head_b, _, body_b) = blocks[i].partition("\n"), blocks[j].partition("\n")
    blocks[i], blocks[j] = f"{head_a}\n{body_b}", f"{head_b}\n{body_a}"
    return _join(files, blocks)


def _drop_block(files: Files, switch: str) -> Files:
    return _join(files, [one for one in _blocks(files) if f"({switch})" not in one])


def _double_block(files: Files, switch: str) -> Files:
    return _join(files, [part for one in _blocks(files) for part in [one] * (1 + (f"({switch})" in one))])


def _exchange_lids(files: Files) -> Files:
    """Give two endpoints of different switches each other's address."""
    text = files[LIDS].decode()
    first, second = re.findall(r"0x[0-9a-f]{16}", text)[:2]
    text = text.replace(first, "X").replace(second, first).replace("X", second)
    return {**files, LIDS: text.encode()}


def _move_lane(files: Files) -> Files:
    """Take all destinations of a lane but the last out of it."""
    text = re.sub(r"port-guid: (?:.*, )?(0x[0-9a-f]{16})", r"port-guid: \1", files[POLICY].decode())
    return {**files, POLICY: text.encode()}


IB, ROCE, RING = "two-tenants", "two-tenants-roce", "ring-of-five"
FIXED = (
    # cabling and declaration
    Tampering("a cable is left out", IB, _drop("links.txt", "leaf-001/9\t"), "is not about the channels"),
    Tampering("a host's cable is left out", IB, _drop("links.txt", "host-0001/nic1\t"), "reach: subnet-1/distances"),
    Tampering("a cable stands twice", IB, _twice("links.txt", "leaf-001/9\t"), "leaf-001/9 is said twice"),
    Tampering("two hosts are exchanged", IB, lambda files: edit(edit(edit(files, "links.txt", "host-0001/nic1\t", "x\t"), "links.txt", "host-0002/nic1\t", "host-0001/nic1\t"), "links.txt", "x\t", "host-0002/nic1\t"), "does not hand over"),
    Tampering("an endpoint is dropped", IB, _drop("endpoints.txt", "host-0003/nic2\t"), "is no declared endpoint"),
    Tampering("an endpoint stands twice", IB, _twice("endpoints.txt", "host-0003/nic2\t"), "host-0003/nic2 is said twice"),
    Tampering("a member is added by its owner", IB, _swap("endpoints.txt", "host-0005/nic1\t0\tblue", "host-0005/nic1\t0\tred"), "meet in partition"),
    Tampering("an endpoint gets another network", IB, _swap("endpoints.txt", "host-0005/nic1\t0", "host-0005/nic1\t1"), "is not right"),
    Tampering("a tenant is shared with all", IB, lambda files: {**files, "sharing.txt": files["sharing.txt"] + b"red\t*\n"}, "claims.json should say"),
    Tampering("the declaration loses its first line", IB, _drop("endpoints.txt", "weftline-endpoints"), "is cut off or no weftline-endpoints"),
    Tampering("the cabling is cut off", IB, lambda files: {**files, "links.txt": files["links.txt"][:-20]}, "is cut off"),
    # tables of InfiniBand
    Tampering("an entry goes to a host", IB, _swap(LFTS, "\n0x0002 009", "\n0x0002 002"), "reach"),
    Tampering("an entry goes nowhere", IB, _swap(LFTS, "\n0x0002 009", "\n0x0002 200"), "reach"),
    Tampering("an entry is left out", IB, _swap(LFTS, "\n0x0002 009", ""), "reach"),
    Tampering("an entry has no port", IB, _swap(LFTS, "\n0x0002 009", "\n0x0002 255"), "bad port or LID"),
    Tampering("an entry stands twice", IB, _swap(LFTS, "\n0x0002 009", "\n0x0002 009\n0x0002 009"), "one twice"),
    Tampering("an entry is of a LID that nobody has", IB, _swap(LFTS, "\n0x004a 009", "\n0x00ff 009"), "bad port or LID"),
    Tampering("a line is longer", IB, _swap(LFTS, "\n0x0002 009", "\n0x0002  009"), "is cut off"),
    Tampering("entries are out of order", IB, _swap(LFTS, "0x0002 009\n0x0003 009", "0x0003 009\n0x0002 009"), "one twice"),
    Tampering("the last delivery goes elsewhere", IB, _swap(LFTS, "\n0x0001 001", "\n0x0001 002"), "does not hand over"),
    Tampering("a spine sends back up", IB, lambda files: _in_block(files, "spine-01", "0x0001", "017"), "reach"),
    Tampering("a switch is renamed in its table", IB, _swap(LFTS, "(leaf-002)", "(leaf-092)"), "do not agree"),
    Tampering("a switch is renamed in the map", IB, _swap(NAMES, '"leaf-002"', '"leaf-092"'), "do not agree"),
    Tampering("a switch has the table of another", IB, lambda files: _swap_blocks(files, "leaf-001", "leaf-002"), "reach"),
    Tampering("a table is left out", IB, lambda files: _drop_block(files, "leaf-003"), "no declared endpoint"),
    Tampering("a table stands twice", IB, lambda files: _double_block(files, "leaf-003"), "stands twice"),
    Tampering("the tables are cut off", IB, lambda files: {**files, LFTS: files[LFTS][:-5]}, "is cut off"),
    Tampering("there is text before the tables", IB, lambda files: {**files, LFTS: b"x\n" + files[LFTS]}, "text before the tables"),
    Tampering("two addresses are exchanged", IB, _exchange_lids, "does not hand over"),
    Tampering("an address is left out", IB, _drop(LIDS, "0x02bee83157e50001"), "reach"),
    Tampering("an address stands twice", IB, _swap(LIDS, "0x0002 0x0002", "0x0001 0x0001"), "is said twice"),
    Tampering("an identity has no name", IB, _drop(NAMES, "0x02bee83157e50001"), "has no name"),
    Tampering("two endpoints have one name", IB, _swap(NAMES, '"host-0001/nic2"', '"host-0001/nic1"'), "is said twice"),
    Tampering("another engine routes", IB, _swap(OPTIONS, "routing_engine file,no_fallback", "routing_engine minhop"), "routing_engine is not"),
    Tampering("other tables are loaded", IB, _swap(OPTIONS, "/etc/opensm/lfts.conf", "/etc/opensm/old.conf"), "lfts_file is not"),
    Tampering("addresses are given anew", IB, _swap(OPTIONS, "honor_guid2lid_file TRUE", "honor_guid2lid_file FALSE"), "honor_guid2lid_file is not"),
    Tampering("an option stands twice", IB, _twice(OPTIONS, "routing_engine"), "routing_engine is said twice"),
    # partitions
    Tampering("ports enforce one way", IB, _swap(OPTIONS, "part_enforce both", "part_enforce out"), "part_enforce is not both"),
    Tampering("ports enforce nothing", IB, lambda files: {**files, OPTIONS: files[OPTIONS] + b"no_partition_enforcement TRUE\n"}, "enforces nothing"),
    Tampering("both memberships are allowed", IB, _swap(OPTIONS, "allow_both_pkeys FALSE", "allow_both_pkeys TRUE"), "allow_both_pkeys is not"),
    Tampering("a member is added", IB, _swap(KEYS, "blue=0x0002, indx0, defmember=full : ", "blue=0x0002, indx0, defmember=full : 0x02bee83157e50001, "), "rejected"),
    Tampering("a partition has the key of another", IB, _swap(KEYS, "=0x0002", "=0x0001", 9), "meet in partition 0x0001"),
    Tampering("everybody is full in the default", IB, _swap(KEYS, "ALL=limited", "ALL=full"), "is not understood"),
    Tampering("a host is full in the default", IB, _swap(KEYS, "SELF=full", "SELF=full, 0x02bee83157e50001=full"), "meet in partition"),
    Tampering("the default is left out", IB, _drop(KEYS, "Default"), "rule 1"),
    Tampering("a member is nobody", IB, _swap(KEYS, "0x02bee83157e50001", "0x02bee83157e5ffff"), "a member is nobody"),
    Tampering("a member stands twice", IB, _swap(KEYS, "0x02bee83157e50001", "0x02cf9d497f740001"), "is said twice"),
    Tampering("a rule is in other words", IB, _swap(KEYS, "red=0x0001, indx0", "red=0x0001, ipoib"), "is not understood"),
    Tampering("all partitions are gone", IB, lambda files: {**files, KEYS: b""}, "no rules"),
    # certificates
    Tampering("a class of destinations is left out", IB, _drop("subnet-1/distances.txt", "class 0x0001"), "subnet-1/distances.txt is about"),
    Tampering("a destination is dropped", IB, _swap("subnet-1/distances.txt", " 0x0009", ""), "about other switches or destinations"),
    Tampering("a destination stands twice", IB, _swap("subnet-1/distances.txt", " 0x0009", " 0x0009 0x0009"), "is said twice"),
    Tampering("a row is left out", IB, _drop("subnet-1/distances.txt", "row leaf-002"), "is about other switches"),
    Tampering("a row stands twice", IB, _twice("subnet-1/distances.txt", "row leaf-002"), "is said twice"),
    Tampering("a row is short", IB, _lines("subnet-1/distances.txt", lambda lines: [*lines[:-1], lines[-1][:-2]]), "is about other switches"),
    Tampering("a distance is no number", IB, _lines("subnet-1/distances.txt", lambda lines: [*lines[:-1], lines[-1][:-1] + "x"]), "is not understood"),
    Tampering("a rank is left out", IB, _drop("subnet-1/ranks.txt", "leaf-001/9 "), "is not about the channels"),
    Tampering("a rank stands twice", IB, _twice("subnet-1/ranks.txt", "leaf-001/9 "), "is said twice"),
    Tampering("a channel is invented", IB, lambda files: {**files, "subnet-1/ranks.txt": files["subnet-1/ranks.txt"] + b"leaf-001/99 0\n"}, "is not about the channels"),
    Tampering("a lane is invented", IB, _lines("subnet-1/ranks.txt", lambda lines: [lines[0], *(f"{line} 0" for line in lines[1:])]), "is not about the channels and lanes"),
    Tampering("ranks are missing", IB, _without("subnet-1/ranks.txt"), "subnet-1/ranks.txt is missing"),
    Tampering("distances are missing", IB, _without("subnet-1/distances.txt"), "subnet-1/distances.txt is missing"),
    Tampering("distances and ranks are exchanged", IB, _exchange("subnet-1/ranks.txt", "subnet-1/distances.txt"), "is cut off or no weftline-distances"),
    # statements
    Tampering("more pairs are claimed", IB, _state("reach", lambda text: text.replace("4160", "4161")), "claims.json should say"),
    Tampering("longer paths are claimed", IB, _state("reach", lambda text: text.replace("at most 3", "at most 64")), "claims.json should say"),
    Tampering("some choices are claimed", IB, _state("reach", lambda text: text.replace("every choice", "some choice")), "claims.json should say"),
    Tampering("deadlock is claimed for less", IB, _state("deadlock", lambda text: text.replace("every switch", "some switches")), "claims.json should say"),
    Tampering("fewer owners are claimed", IB, _state("isolate", lambda text: text.replace("3 owners", "2 owners")), "claims.json should say"),
    Tampering("reach is not claimed", IB, _unclaim("reach"), "claims.json should say"),
    Tampering("deadlock is not claimed", IB, _unclaim("deadlock"), "claims.json should say"),
    Tampering("isolation is not claimed", IB, _unclaim("isolate"), "claims.json should say"),
    Tampering("a claim is invented", IB, _swap("claims.json", '"claim": "reach"', '"claim": "speed"'), "claims.json: not understood"),
    Tampering("claims have another schema", IB, _swap("claims.json", "certificates/1", "certificates/2"), "claims.json: not understood"),
    Tampering("claims are no JSON", IB, lambda files: {**files, "claims.json": b"{"}, "not understood"),
    Tampering("claims are a list", IB, lambda files: {**files, "claims.json": b"[]"}, "not understood"),
    # lanes
    Tampering("a destination changes its lane", RING, _move_lane, "rejected"),
    Tampering("all are on one lane", RING, _without(POLICY), "qos-policy.conf is missing"),
    Tampering("two levels share a lane", RING, _swap(OPTIONS, "qos_sl2vl 0,1", "qos_sl2vl 0,0"), "not on its own lane"),
    Tampering("levels are off", RING, _swap(OPTIONS, "qos TRUE", "qos FALSE"), "not on its own lane"),
    Tampering("the default has a level", RING, _swap(POLICY, "sl: 0", "sl: 1"), "default is not level 0"),
    Tampering("answers are not told", RING, _swap("claims.json", '"answers": true', '"answers": false'), "should have rank"),
    Tampering("a match is by source", RING, _swap(POLICY, "destination: lane-1", "source: lane-1"), "is not understood"),
    Tampering("a rule ends in a blank", RING, _swap(POLICY, "    qos-match-rule\n", "    qos-match-rule \n"), "is not understood"),
    Tampering("a group has members by kind", RING, _swap(POLICY, "name: lane-1\n", "name: lane-1\n        node-type: ALL\n"), "is not understood"),
    Tampering("a destination is in two groups", RING, _swap(POLICY, "port-guid: ", "port-guid: 0x0000000000000001, 0x0000000000000001, "), "is said twice"),
    Tampering("switches have levels of their own", RING, lambda files: {**files, OPTIONS: files[OPTIONS] + b"qos_swe_sl2vl 0,0\n"}, "not on its own lane"),
    Tampering("one lane is claimed", RING, _swap("claims.json", '"lanes": 2', '"lanes": 1'), "is not about the channels and lanes"),
    Tampering("twenty lanes are claimed", RING, _swap("claims.json", '"lanes": 2', '"lanes": 20'), "not understood"),
    Tampering("there are two files of options", RING, lambda files: {**files, OPTIONS + ".in": files[OPTIONS]}, "not understood"),
    Tampering("a name has two identities", IB, lambda files: {**files, NAMES: files[NAMES] + b'0x0000000000000009 "host-0001/nic1"\n'}, "a name is said twice"),
    # tables of RoCE
    Tampering("an endpoint has no column", ROCE, _swap(TABLES, " host-0001/nic1", ""), "reach"),
    Tampering("an endpoint has two columns", ROCE, _swap(TABLES, " host-0001/nic1", " host-0001/nic1 host-0001/nic1"), "rejected"),
    Tampering("an endpoint is elsewhere", ROCE, lambda files: edit(edit(files, TABLES, " host-0001/nic1", ""), TABLES, " host-0001/nic2", " host-0001/nic1 host-0001/nic2"), "is no endpoint at"),
    Tampering("a group leads to a host", ROCE, _swap(TABLES, "9,10,11,12,13,14,15,16", "9,10,11,12,13,14,15,1"), "reach"),
    Tampering("a group has a port more", ROCE, _swap(TABLES, "9,10,11,12,13,14,15,16", "1,9,10,11,12,13,14,15,16"), "reach"),
    Tampering("a row is short", ROCE, _lines(TABLES, lambda lines: [*lines[:-1], lines[-1][:-2]]), "another length"),
    Tampering("a code has no ports", ROCE, _lines(TABLES, lambda lines: [*lines[:-1], lines[-1][:-2] + "f0"]), "has a code without ports"),
    Tampering("a switch stands twice", ROCE, _twice(TABLES, "switch leaf-001"), "stands twice"),
    Tampering("a switch is left out", ROCE, _drop(TABLES, "switch leaf-001"), "reach"),
    Tampering("a switch is renamed", ROCE, _swap(TABLES, "switch leaf-001", "switch leaf-091"), "reach"),
    Tampering("the tables are cut off", ROCE, lambda files: {**files, TABLES: files[TABLES][:-3]}, "is cut off"),
    Tampering("the tables are missing", ROCE, _without(TABLES), "fabric/tables.txt is missing"),
    Tampering("a port is in another's VRF", ROCE, _swap(TENANTS, "leaf-001\tport\t5\tVrfblue", "leaf-001\tport\t5\tVrfred"), "meet in VRF Vrfred of leaf-001"),
    Tampering("a VRF takes another's routes", ROCE, _swap(TENANTS, "\t64512:10001\t64512:10001", "\t64512:10001,64512:10002\t64512:10001"), "meet in 64512:10002"),
    Tampering("a VRF gives another's target", ROCE, _swap(TENANTS, "\t64512:10001\t64512:10001", "\t64512:10001\t64512:10002"), "meet in 64512:10002"),
    Tampering("two VRFs share a network number", ROCE, _swap(TENANTS, "Vrfred\t10001", "Vrfred\t10002"), "meet in VNI 10002"),
    Tampering("a port is in no VRF", ROCE, _drop(TENANTS, "leaf-001\tport\t5\t"), "is in no VRF"),
    Tampering("a VRF is left out", ROCE, _drop(TENANTS, "leaf-001\tvrf\tVrfred"), "is in no VRF"),
    Tampering("a VRF stands twice", ROCE, _twice(TENANTS, "leaf-001\tvrf\tVrfred"), "is said twice"),
    Tampering("VRFs are missing", ROCE, _without(TENANTS), "fabric/tenants.txt is missing"),
)  # fmt: skip


def make_random(files: Files, count: int, seed: int) -> Iterator[Tampering]:
    """Make changes at random places of one bundle: distances, ranks, owners, entries."""
    draw = random.Random(seed)
    for at in range(count):
        kind = ("rank", "distance", "owner", "entry")[at % 4]
        yield Tampering(f"{kind} {at}", IB, _choose(files, kind, draw), "rejected")


def _choose(files: Files, kind: str, draw: random.Random) -> Callable[[Files], Files]:
    if kind == "entry":
        switch = draw.choice(re.findall(r"\((leaf-\d+)\)", files[LFTS].decode()))
        lid = draw.randrange(1, 0x41)
        body = next(one for one in _blocks(files) if f"({switch})" in one)
        here = re.search(rf"0x{lid:04x} (\d\d\d)", body)
        wrong = [port for port in range(1, 9) if here is None or port != int(here[1])]
        port = draw.choice(wrong)
        return lambda files: _in_block(files, switch, f"0x{lid:04x}", f"{port:03d}")
    path = {"rank": "subnet-1/ranks.txt", "distance": "subnet-1/distances.txt", "owner": "endpoints.txt"}[kind]
    start = {"rank": "leaf-", "distance": "row ", "owner": "host-"}[kind]
    lines = files[path].decode().split("\n")
    chosen = draw.choice([at for at, line in enumerate(lines) if line.startswith(start)])
    line = lines[chosen]
    if kind == "rank":
        name, rank = line.rsplit(" ", 1)
        changed = f"{name} {int(rank) + draw.randrange(1, 9)}"
    elif kind == "owner":
        changed = line.replace("\tred", "\tblue") if line.endswith("red") else line.replace("\tblue", "\tred")
    else:
        row = line.rsplit(" ", 1)[1]
        place = 2 * draw.randrange(len(row) // 2)
        value = (int(row[place : place + 2], 16) + draw.randrange(1, 255)) % 256
        changed = f"{line.rsplit(' ', 1)[0]} {row[:place]}{value:02x}{row[place + 2 :]}"
    return _lines(path, lambda lines: [changed if old == line else old for old in lines])
