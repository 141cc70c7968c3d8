"""What the REST interface of UFM exports (ports, links, systems, pkeys): bytes to what it says of a subnet."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import cast

from weftline.errors import Place, Problem
from weftline.formats.lid import MAX_LID
from weftline.formats.speed import LANE_GBPS, WIDTHS
from weftline.formats.subnet import Draft, read_guid
from weftline.formats.text import ProblemLog
from weftline.kernels.column import NIL
from weftline.model.discovery import NodeType
from weftline.model.survey import KeyFact, NodeFact, PortFact, SurveyPart

MAX_BYTES = 96 * 2**20
"""Ports of 400 switches and 2,328 adapters take 60 MB; read, JSON takes some eight times its size."""
MAX_ITEMS = 500_000
_STATES = {"down": 1, "initialize": 2, "init": 2, "armed": 3, "active": 4}
_NAME = re.compile(r"(?:0x)?([0-9a-fA-F]{12,16})_(\d{1,3})")
_SWITCH_PORT = re.compile(r"(.*):(\d{1,3}(?:/\d{1,3}){0,3})$")
_PKEY = re.compile(r"0x[0-9a-fA-F]{1,4}")

_Item = dict[str, object]


def _has(head: bytes, *words: bytes) -> bool:
    """Say whether a JSON document holds all of these words in its first bytes."""
    return head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in {b"[", b"{"} and all(b'"' + word + b'"' in head for word in words)


def looks_like_ports(head: bytes) -> bool:
    """Say whether the first bytes are those of ``/resources/ports``."""
    return _has(head, b"systemID", b"logical_state") or _has(head, b"peer_guid", b"systemID")


def looks_like_links(head: bytes) -> bool:
    """Say whether the first bytes are those of ``/resources/links``."""
    return _has(head, b"source_guid", b"destination_guid")


def looks_like_systems(head: bytes) -> bool:
    """Say whether the first bytes are those of ``/resources/systems``."""
    return _has(head, b"system_guid", b"sw_version") or _has(head, b"system_guid", b"is_managed")


def looks_like_pkeys(head: bytes) -> bool:
    """Say whether the first bytes are those of ``/resources/pkeys?guids_data=true``."""
    return _has(head, b"membership") and _has(head, b"guid") and (b"index0" in head or b"ip_over_ib" in head)


def _load(data: bytes, log: ProblemLog) -> object:
    """Read a JSON document; None with a problem where it is none."""
    if len(data) > MAX_BYTES:
        log.add("artifact.dump-too-large", f"the file has {len(data):,} bytes; at most {MAX_BYTES:,} are read")
        return None
    try:
        return json.loads(data.decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        hint = "the export is cut off or was edited; take it again"
        log.add("artifact.dump-line", f"this is no JSON: {error.msg}", hint, error.lineno, error.colno)
    except (ValueError, RecursionError):
        log.add("artifact.dump-binary", "this is no JSON text in UTF-8", "take the export again", 1)
    return None


def _items(document: object, log: ProblemLog) -> Iterator[_Item]:
    """Yield the objects of a list, or of an object that holds one."""
    rows: list[object] = cast("list[object]", document) if isinstance(document, list) else []
    if isinstance(document, dict):
        lists = [cast("list[object]", value) for value in cast("_Item", document).values() if isinstance(value, list)]
        rows = lists[0] if len(lists) == 1 else []
    if len(rows) > MAX_ITEMS:
        log.add("artifact.dump-too-large", f"more than {MAX_ITEMS:,} entries", "give one subnet")
        return
    for row in rows:
        if isinstance(row, dict):
            yield cast("_Item", row)


def _text(item: _Item, *names: str) -> str:
    """Return the first of these fields that says something."""
    for name in names:
        value = item.get(name)
        if isinstance(value, (str, int)) and not isinstance(value, bool):
            text = str(value).strip() if not isinstance(value, int) or abs(value) < 2**64 else ""
            if text and text.lower() not in {"n/a", "na", "none", "unknown"}:
                return text[:200]
    return ""


def _count(item: _Item, *names: str) -> int | None:
    """Return a whole number of at most nine digits."""
    text = _text(item, *names)
    return int(text) if text.isdecimal() and len(text) <= 9 else None


def parse_ports(data: bytes, file: str) -> SurveyPart:
    """Read ports; systems that are called switches there are switches, all else is an adapter."""
    log = ProblemLog(file)
    draft = Draft(log)
    ports: list[PortFact] = []
    links: list[tuple[tuple[int, int], tuple[int, int], int, str]] = []
    owners: dict[int, int] = {}
    for item in _items(_load(data, log), log):
        named = _NAME.fullmatch(_text(item, "name"))
        guid, port_guid = read_guid(_text(item, "systemID", "guid")), read_guid(_text(item, "guid"))
        number = int(named[2]) if named else _count(item, "number")
        if not guid or number is None:
            log.add("artifact.dump-line", f"port {_text(item, 'name') or '?'} has no GUID or no number", "")
            continue
        is_switch = "Switch:" in _text(item, "path") or port_guid == guid == read_guid(named[1] if named else "")
        kind: NodeType = "switch" if is_switch and "Computer" not in _text(item, "path") else "ca"
        node = port_guid if kind == "switch" and port_guid else guid
        lid = _count(item, "lid")
        held = NIL if lid is None or not 0 < lid <= MAX_LID else lid
        draft.node(node, kind, 0, 0, _title(item, "node_description", "system_name", is_switch=kind == "switch"))
        draft.address(node, number, port_guid, held)
        owners[port_guid] = node
        width, speed = _width(_text(item, "active_width")), _speed(_text(item, "active_speed"))
        draft.rate(node, number, width, speed)
        state = _STATES.get(_text(item, "logical_state").lower())
        ports.append(
            PortFact(node, number, Place(file), port_guid, held, state=state, width=width or None, speed=speed)
        )
        peer = _NAME.fullmatch(_text(item, "peer"))
        if peer:
            links.append(((node, number), (int(peer[1], 16), int(peer[2])), width, speed))
    for own, (far, far_number), width, speed in links:
        draft.link(own, (owners.get(far, far), far_number), 0, width, speed)
    return SurveyPart(draft.close("ufm-ports", data), ports=tuple(ports), problems=_finish(log, len(ports), "ports"))


def _finish(log: ProblemLog, count: int, what: str) -> tuple[Problem, ...]:
    """Close the log; a file without anything is a problem."""
    if not count and not log.has_error:
        log.add(
            "artifact.dump-empty", f"there are no {what} in this file", f"give the JSON of GET /resources/{what}", 1
        )
    return log.close()


def _title(item: _Item, *names: str, is_switch: bool) -> str:
    """Return the description of a node: that of a switch's port ends in the port's label."""
    text = _text(item, *names)
    match = _SWITCH_PORT.match(text) if is_switch else None
    return match[1] if match else text


def _width(text: str) -> int:
    """Read ``4x`` or ``IB_4x``; 0 where it is no width."""
    digits = text.lower().removeprefix("ib_").removesuffix("x")
    return int(digits) if digits.isdecimal() and len(digits) <= 2 and int(digits) in (*WIDTHS, 2) else 0


def _speed(text: str) -> str:
    """Read the name of a speed, alone or within a longer word."""
    words = re.split(r"[^A-Z0-9]", text.upper())
    return next((word for word in words if word in LANE_GBPS), "")


def parse_links(data: bytes, file: str) -> SurveyPart:
    """Read links; an end whose description ends in a port's label, or that has several links, is a switch."""
    log = ProblemLog(file)
    draft = Draft(log)
    rows: list[tuple[int, int, int, int, int]] = []
    words: dict[int, str] = {}
    numbers: dict[int, set[int]] = {}
    for item in _items(_load(data, log), log):
        ends: list[int] = []
        for side in ("source", "destination"):
            guid, number = read_guid(_text(item, f"{side}_guid")), _count(item, f"{side}_port")
            if guid and number is not None:
                words.setdefault(guid, _text(item, f"{side}_port_node_description"))
                numbers.setdefault(guid, set()).add(number)
                ends += [guid, number]
        if len(ends) == 4:
            rows.append((ends[0], ends[1], ends[2], ends[3], _width(_text(item, "width"))))
        else:
            log.add("artifact.dump-line", f"link {_text(item, 'name') or '?'} lacks one of its ends", "")
    for guid, seen in numbers.items():
        match = _SWITCH_PORT.match(words[guid])
        is_switch = len(seen) > 1 or match is not None
        draft.node(guid, "switch" if is_switch else "ca", 0, 0, match[1] if match else words[guid])
        for number in seen:
            draft.address(guid, number, guid, NIL)
    for a, a_number, b, b_number, width in rows:
        draft.link((a, a_number), (b, b_number), 0, width)
    return SurveyPart(draft.close("ufm-links", data), problems=_finish(log, len(rows), "links"))


def parse_systems(data: bytes, file: str) -> SurveyPart:
    """Read systems: names, firmware and what each is."""
    log = ProblemLog(file)
    nodes: list[NodeFact] = []
    for item in _items(_load(data, log), log):
        guid = read_guid(_text(item, "guid", "system_guid"))
        kind: NodeType = "switch" if _text(item, "type").lower() == "switch" else "ca"
        if guid:
            system = read_guid(_text(item, "system_guid"))
            name, firmware = _text(item, "system_name", "name"), _text(item, "fw_version")
            nodes.append(NodeFact(guid, Place(file), kind, name, system=system, firmware=firmware))
    return SurveyPart(nodes=tuple(nodes), problems=_finish(log, len(nodes), "systems"))


def parse_pkeys(data: bytes, file: str) -> SurveyPart:
    """Read partitions with their members: what UFM wants, by port GUID; it is not read back from the ports."""
    log = ProblemLog(file)
    document = _load(data, log)
    pairs: list[tuple[str, object]] = []
    if isinstance(document, dict):
        pairs = [(key, value) for key, value in cast("_Item", document).items() if _PKEY.fullmatch(key)]
    else:
        pairs = [(_text(item, "pkey", "name", "key"), item) for item in _items(document, log)]
    first: dict[int, list[int]] = {}
    others: dict[int, list[int]] = {}
    for word, value in pairs:
        if not _PKEY.fullmatch(word) or not isinstance(value, dict):
            log.add("artifact.dump-line", f"{word[:40]!r} is no partition key as 0x0001", "")
            continue
        members = cast("_Item", value).get("guids")
        for member in cast("list[object]", members)[:MAX_ITEMS] if isinstance(members, list) else []:
            item = cast("_Item", member) if isinstance(member, dict) else {}
            guid, membership = read_guid(_text(item, "guid")), _text(item, "membership").lower()
            if not guid or membership not in {"full", "limited"}:
                log.add("artifact.dump-line", f"a member of {word} has no GUID or no membership", "")
                continue
            key = (int(word, 16) & 0x7FFF) | (0x8000 if membership == "full" else 0)
            (first if item.get("index0") is True else others).setdefault(guid, []).append(key)
    keys = tuple(
        KeyFact(
            0, NIL, Place(file), guid, keys=(*first.get(guid, ()), *sorted(others.get(guid, ()))),
            is_ordered=False, is_whole=False,
        )
        for guid in sorted({*first, *others})
    )  # fmt: skip
    return SurveyPart(keys=keys, problems=_finish(log, len(pairs), "pkeys"))
