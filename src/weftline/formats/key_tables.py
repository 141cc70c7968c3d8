"""Partition tables as the diagnostics print them: smpquery pkeys, saquery PKTR and MCMR, ibdiagnet's list by group."""

from __future__ import annotations

import ipaddress
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from weftline.errors import Place, Problem
from weftline.formats.text import ProblemLog, read_lines
from weftline.kernels.column import NIL
from weftline.model.partitions import KEYS_PER_BLOCK
from weftline.model.survey import KeyFact, MulticastGroup, SurveyPart

MAX_BYTES = 256 * 2**20
MAX_KEYS = 65_536
"""Places that a table can have (PartitionCap is 16 bits)."""
_ROW = re.compile(r"[ \t]*(\d{1,5}):((?:[ \t]+0x[0-9a-fA-F]{4}){1,8})[ \t\r]*$")
_END = re.compile(r"(\d{1,5}) pkeys capacity for this port")
_ASKED = re.compile(r"pkeys[ \t]+(?:-G[ \t]+(0x[0-9a-fA-F]{1,16})|(\d{1,5}))(?:[ \t]+(\d{1,3}))?[ \t\r]*$")
_NAMED = re.compile(r"pkeys[-_](?:(0x[0-9a-fA-F]{8,16})|(\d{1,5}))(?:[-_](\d{1,3}))?(?:\.\w{1,8})?$")
_FIELD = re.compile(r"[ \t]*([A-Za-z][A-Za-z_ ]{0,30}?)\.{2,}([^\r]*)")
_WORDS = re.compile(r"[ \t]*((?:0x[0-9a-fA-F]{4}[ \t]*){1,8})[\r]?$")
_GROUP = re.compile(r"GROUP PKey:(0x[0-9a-fA-F]{1,4}) Hosts:(\d{1,7})[ \t\r]*$")
_MEMBER = re.compile(r"[ \t]+(Full|Part)[ \t]+(\S[^\r]{0,200})")
_HINT = "put a line '# smpquery pkeys LID PORT' before each answer, or call the file pkeys-LID-PORT.txt"


def looks_like_answer(head: bytes) -> bool:
    """Tell answers of ``smpquery pkeys``."""
    return re.search(rb"^[ \t]*0:(?:[ \t]+0x[0-9a-fA-F]{4}){1,8}[ \t\r]*$", head, re.MULTILINE) is not None


def looks_like_records(head: bytes) -> bool:
    """Tell records of ``saquery PKTR``."""
    return b"PKeyTableRecord dump:" in head


def looks_like_groups(head: bytes) -> bool:
    """Tell ibdiagnet's list of partitions."""
    return re.search(rb"^GROUP PKey:0x", head, re.MULTILINE) is not None


def looks_like_multicast(head: bytes) -> bool:
    """Tell records of ``saquery MCMR``, ``saquery -g`` and ``saquery -m``."""
    return re.search(rb"^MCMember ?Record (?:group |member )?dump:", head, re.MULTILINE) is not None


def parse_answers(data: bytes, file: str) -> SurveyPart:
    """Read answers of ``smpquery pkeys``; whose they are says the line before each, or the name of the file."""
    log = ProblemLog(file)
    lines = read_lines(data, file, MAX_BYTES)
    if isinstance(lines, Problem):
        return SurveyPart(problems=(lines,))
    found: list[KeyFact] = []
    asked = _NAMED.search(file)
    keys: list[int] = []
    start = 0
    for number, line in enumerate(lines, start=1):
        row, end, head = _ROW.match(line), _END.search(line), _ASKED.search(line)
        if row is not None:
            keys = _take_row(row, keys, number, log)
            start = (start or number) if keys else 0
        elif end is not None and keys:
            if asked is None:
                log.add("artifact.dump-line", "nothing says whose table this is", _HINT, start)
            else:
                found.append(_answer(asked, keys, int(end[1]), start, log))
            keys, start, asked = [], 0, None
        elif head is not None:
            if keys:
                log.add("artifact.dump-truncated", "the answer ends before its last line", "ask again", start)
            asked, keys, start = head, [], 0
    if keys:
        log.add("artifact.dump-truncated", "the answer ends before its last line", "ask again", start)
    return SurveyPart(keys=tuple(found), problems=log.close())


def _take_row(row: re.Match[str], keys: list[int], number: int, log: ProblemLog) -> list[int]:
    """Add the keys of a line; a line that does not follow the one before makes the whole answer worthless."""
    if int(row[1]) != len(keys) or len(keys) >= MAX_KEYS:
        log.add("artifact.dump-line", f"index {row[1]} does not follow {len(keys) - 1}", _HINT, number)
        return []
    return keys + [int(word, 16) for word in row[2].split()]


def _answer(asked: re.Match[str], keys: list[int], capacity: int, start: int, log: ProblemLog) -> KeyFact:
    guid = int(asked[1], 16) if asked[1] else 0
    lid = int(asked[2]) if asked[2] else NIL
    number = int(asked[3]) if asked[3] else NIL
    is_whole = len(keys) >= capacity
    if any(key & 0x7FFF for key in keys[capacity:]):
        message = f"the answer has keys behind the last of {capacity} places"
        log.add("artifact.dump-line", message, "ask again: it was edited, or put together", start)
        is_whole = False
    return KeyFact(0, number, Place(log.file, start, 1), guid, lid, trim(keys), is_whole=is_whole)


def trim(keys: list[int]) -> tuple[int, ...]:
    """Leave out the empty places at the end of a table."""
    last = max((index for index, key in enumerate(keys) if key & 0x7FFF), default=-1)
    return tuple(key if key & 0x7FFF else 0 for key in keys[: last + 1])


def _records(lines: list[str], title: re.Pattern[str]) -> Iterator[tuple[int, dict[str, str], list[int]]]:
    """Cut a list of records: the line of the title, its fields, and the keys below them."""
    start, fields, words = 0, dict[str, str](), list[int]()
    for number, line in enumerate(lines, start=1):
        if title.match(line):
            if start:
                yield start, fields, words
            start, fields, words = number, {}, []
        elif start and (found := _FIELD.match(line)):
            fields[found[1].strip().lower()] = found[2].strip()
        elif start and (row := _WORDS.match(line)):
            words += [int(word, 16) for word in row[1].split()]
    if start:
        yield start, fields, words


def parse_records(data: bytes, file: str) -> SurveyPart:
    """Read ``saquery PKTR``: a record per block; a port whose blocks do not follow each other is not whole.

    An answer of several packets is cut where the far side does not put it together, so that the last port may lack
    blocks, and every port that is not listed is simply not known.
    """
    log = ProblemLog(file)
    lines = read_lines(data, file, MAX_BYTES)
    if isinstance(lines, Problem):
        return SurveyPart(problems=(lines,))
    ports: dict[tuple[int, int], dict[int, list[int]]] = {}
    begins: dict[tuple[int, int], int] = {}
    for start, fields, words in _records(lines, re.compile(r"PKeyTableRecord dump:")):
        values = [fields.get(name, "") for name in ("lid", "port", "block")]
        if not all(value.isdecimal() and len(value) < 6 for value in values) or len(words) != KEYS_PER_BLOCK:
            hint = "ask for one port at a time: saquery --smkey KEY PKTR LID"
            log.add("artifact.dump-truncated", "a record is not whole", hint, start)
            continue
        lid, port, block = map(int, values)
        begins.setdefault((lid, port), start)
        ports.setdefault((lid, port), {})[block] = words
    found: list[KeyFact] = []
    switches = {lid for lid, port in ports if port == 0}
    most: Counter[tuple[bool, bool]] = Counter()
    for (lid, port), blocks in ports.items():
        kind = lid in switches, port == 0
        most[kind] = max(most[kind], len(blocks))
    for (lid, port), blocks in ports.items():
        # A cut answer ends between two blocks, so a port with fewer than its like is not whole, nor a last block that
        # is full: the manager fills tables from the front.
        whole = sorted(blocks) == list(range(most[lid in switches, port == 0])) and not blocks[max(blocks)][-1] & 0x7FFF
        keys = [word for block in sorted(blocks) for word in blocks[block]]
        where = Place(file, begins[lid, port], 1)
        found.append(KeyFact(0, port, where, 0, lid, trim(keys), is_ordered=whole, is_whole=whole))
    if found and log.count("artifact.dump-truncated"):
        found[-1] = replace(found[-1], is_whole=False)
    return SurveyPart(keys=tuple(found), problems=log.close())


def parse_groups(data: bytes, file: str) -> SurveyPart:
    """Read ibdiagnet's list by partition, in which ports have names only and no index."""
    log = ProblemLog(file)
    lines = read_lines(data, file, MAX_BYTES)
    if isinstance(lines, Problem):
        return SurveyPart(problems=(lines,))
    keys: dict[str, dict[int, int]] = {}
    begins: dict[str, int] = {}
    key, left, start = 0, 0, 0
    for number, line in enumerate([*lines, "GROUP PKey:0x0 Hosts:0"], start=1):
        group, member = _GROUP.match(line), _MEMBER.match(line)
        if group is not None:
            if left:
                message = f"group {key:#06x} lists {left} ports fewer than it counts"
                log.add("artifact.dump-truncated", message, "take the file again", start)
            key, left, start = int(group[1], 16) & 0x7FFF, int(group[2]), number
        elif member is not None and start:
            name = member[2].strip()
            begins.setdefault(name, number)
            keys.setdefault(name, {})[key | (0x8000 if member[1] == "Full" else 0)] = number
            left -= 1
    is_whole = not log.count("artifact.dump-truncated")
    facts = tuple(
        KeyFact(0, NIL, Place(file, begins[name], 1), keys=tuple(held), is_ordered=False, is_whole=is_whole, name=name)
        for name, held in keys.items()
    )
    return SurveyPart(keys=facts, problems=log.close())


def parse_multicast(data: bytes, file: str) -> SurveyPart:
    """Read multicast groups with their partition and members, as the subnet administrator lists them."""
    log = ProblemLog(file)
    lines = read_lines(data, file, MAX_BYTES)
    if isinstance(lines, Problem):
        return SurveyPart(problems=(lines,))
    groups: dict[str, MulticastGroup] = {}
    lists_members = re.search(rb"^MCMember ?Record (?:member )?dump:", data, re.MULTILINE) is not None
    for start, fields, _ in _records(lines, re.compile(r"MCMember ?Record (?:group |member )?dump:")):
        mgid, mlid, key = fields.get("mgid", ""), _hex(fields.get("mlid", "")), _hex(fields.get("pkey", ""))
        if not mgid or mlid is None:
            log.add("artifact.dump-truncated", "a record is not whole", "ask again, for fewer groups", start)
            continue
        known = groups.get(mgid) or MulticastGroup(mgid, mlid, Place(file, start, 1), lists_members=lists_members)
        guid = _interface(fields.get("portgid", "::"))
        members = known.members if not guid or guid in known.members else (*known.members, guid)
        groups[mgid] = replace(known, key=known.key if key is None else key, members=members)
    return SurveyPart(groups=tuple(groups.values()), problems=log.close())


def _hex(text: str) -> int | None:
    try:
        return int(text, 16) if len(text) < 20 else None
    except ValueError:
        return None


def _interface(gid: str) -> int:
    """Take the port GUID from a GID."""
    try:
        return int(ipaddress.IPv6Address(gid)) & (2**64 - 1)
    except ValueError:
        return 0
