"""What OpenSM's files say, read back strictly: whatever Weftline would not write is a problem."""

from __future__ import annotations

import re

from weftline.errors import Place
from weftline.formats.lid import MAX_UNICAST
from weftline.formats.lines import Reading, read_hex
from weftline.model.artifact import ArtifactSet
from weftline.model.intent import FactValue
from weftline.model.observed import Fact, ObservedConfig
from weftline.render.observe import Reader, observe_files
from weftline.vendors.opensm import managers, options, policy
from weftline.vendors.opensm.tables import read_table
from weftline.vendors.opensm.writing import NAME

_NAME_LINE = re.compile(r'^(0x[0-9a-f]{16}) "([^"]*)"$')
_RULE = re.compile(
    r"^(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)=(?P<key>0x[0-9a-f]{4})(?P<first>, indx0)?"
    r"(?:, defmember=(?P<membership>full|limited|both))? : (?P<members>[^;]*) ;$"
)
_DEFAULT = re.compile(r"^ALL=(full|limited), ALL_SWITCHES=full, SELF=full((?:, 0x[0-9a-f]{16}=full)*)$")


def observe(artifacts: ArtifactSet) -> tuple[ObservedConfig, ...]:
    """Read the files of each subnet manager."""
    return observe_files(artifacts, NAME, _READERS)


def _read_tables(content: bytes, reading: Reading) -> list[Fact]:
    return [Fact("forwarding.table", read_table(content, reading), reading.place())]


def _read_addresses(content: bytes, reading: Reading) -> list[Fact]:
    facts: list[Fact] = []
    seen: set[str] = set()
    for number, text in reading.lines(content):
        words = text.split()
        where = reading.place(number)
        low, high = (read_hex(word, 4) for word in words[1:]) if len(words) == 3 else (None, None)
        if read_hex(words[0], 16) is None or low is None or high is None or not 1 <= low <= high <= MAX_UNICAST:
            reading.report("artifact.unreadable-line", "line is no GUID with two LIDs", where)
            continue
        if words[0] in seen:
            reading.report("artifact.said-twice", f"{words[0]} has two addresses", where)
        seen.add(words[0])
        facts.append(Fact(f"keys.endpoints.{words[0]}.first", low, where))
        facts.append(Fact(f"keys.endpoints.{words[0]}.last", high, where))
    return facts


def _read_names(content: bytes, reading: Reading) -> list[Fact]:
    facts: list[Fact] = []
    for number, text in reading.lines(content):
        match = _NAME_LINE.fullmatch(text)
        if match is None:
            reading.report("artifact.unreadable-line", "line is no GUID with a name", reading.place(number))
        else:
            facts.append(Fact(f"keys.endpoints.{match[1]}.name", match[2], reading.place(number)))
    return facts


def _read_roots(content: bytes, reading: Reading) -> list[Fact]:
    roots: list[str] = []
    for number, text in reading.lines(content):
        if read_hex(text, 16) is None:
            reading.report("artifact.unreadable-line", "line is no GUID", reading.place(number))
        else:
            roots.append(text)
    return [Fact("keys.roots", tuple(roots), reading.place())] if roots else []


class _Members:
    """The members of one partition, gathered over its rules."""

    def __init__(self, name: str, where: Place) -> None:
        self.name = name
        self.where = where
        self.is_first = {"full": False, "limited": False}
        """Of full members, which counts for those that are both too, and of limited ones."""
        self.members: dict[str, list[str]] = {"full": [], "limited": [], "both": []}


def read_partitions(content: bytes, reading: Reading) -> list[Fact]:
    """Read the rules; one that is not whole is a problem, since OpenSM would drop the whole file."""
    facts: list[Fact] = []
    found: dict[int, _Members] = {}
    for number, text in reading.lines(content):
        where = reading.place(number)
        match = _RULE.fullmatch(text)
        if match is None:
            message = "line is no complete rule; OpenSM would drop the whole file and join everybody"
            reading.report("artifact.unreadable-line", message, where)
            continue
        key = int(match["key"], 16)
        default = _DEFAULT.fullmatch(match["members"])
        if match["name"] == "Default" and default is not None:
            facts.append(Fact("isolation.default_key", key, where))
            facts.append(Fact("isolation.default_membership", default[1], where))
            seats = tuple(word.removesuffix("=full") for word in default[2].split(", ")[1:])
            facts.extend([Fact("isolation.default_full", seats, where)] if seats else [])
            continue
        partition = found.setdefault(key, _Members(match["name"], where))
        if partition.name != match["name"]:
            reading.report("artifact.said-twice", f"partition {key:#06x} has two names", where)
        members, membership = match["members"].split(", "), match["membership"] or "limited"
        partition.is_first["limited" if membership == "limited" else "full"] |= match["first"] is not None
        partition.members[membership].extend(members)
        for guid in members:
            if read_hex(guid, 16) is None:
                reading.report("artifact.unreadable-line", f"{guid[:40]!r} is no port GUID", where)
    if not any(fact.path == "isolation.default_key" for fact in facts):
        reading.report("artifact.unexpected", "there is no rule for the default partition", reading.place())
    for key, partition in found.items():
        facts.extend(_say_partition(f"isolation.partitions.{key}", partition))
    return facts


def _say_partition(path: str, partition: _Members) -> list[Fact]:
    values: dict[str, FactValue] = {
        "name": partition.name,
        "is_first": partition.is_first["full"],
        "is_first_of_limited": partition.is_first["limited"],
    }
    values.update({name: tuple(guids) for name, guids in partition.members.items() if guids})
    return [Fact(f"{path}.{name}", value, partition.where) for name, value in values.items()]


_READERS: dict[str, Reader] = {
    "lfts.conf": _read_tables,
    "guid2lid": _read_addresses,
    "node-name-map": _read_names,
    "root-guids.conf": _read_roots,
    options.FILE: options.read_options,
    options.UNFILLED: options.read_options,
    managers.FILE: managers.read_managers,
    policy.FILE: policy.read_policy,
    "partitions.conf": read_partitions,
}
