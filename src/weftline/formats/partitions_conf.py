"""partitions.conf as OpenSM 3.3 really reads it: words may be cut short, and the first error gives up the whole file.

The grammar is in opensm(8), PARTITION CONFIGURATION; what goes beyond it was found by running OpenSM 3.3.23, and a
test holds this reader against it.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from weftline.errors import Place, Problem, Severity
from weftline.model.partitions import KEY, FileMembership, Member, MemberKind, PartitionFile, Rule
from weftline.model.survey import SurveyPart

MAX_BYTES = 64 * 2**20
MAX_REMARKS = 1_000
CHUNK = 4_094
"""Bytes that OpenSM reads at one time; the rest of a longer line is a line of its own to it."""
BLANK = " \t\n"
"""A carriage return is no blank to OpenSM."""
NAME_BYTES = 32
_INTEGER = re.compile(r"[ \t\n\v\f\r]*([+-]?)(?:0[xX]([0-9a-fA-F]+)|(0[0-7]*)|([1-9][0-9]*))")
_WORDS: tuple[tuple[str, MemberKind], ...] = (
    ("ALL", "all"),
    ("ALL_CAS", "adapters"),
    ("ALL_SWITCHES", "switches"),
    ("ALL_ROUTERS", "routers"),
    ("SELF", "manager"),
)
_MEMBERSHIPS: tuple[FileMembership, ...] = ("full", "both", "limited")
_GROUP_FLAGS = ("mtu", "rate", "scope", "Q_Key", "TClass", "sl", "FlowLabel")
RETRY = (
    "OpenSM drops every rule of the file, makes every port a full member of one partition, and says SUBNET UP; "
    "correct this line before the file is used"
)


# Nothing is given back where it cannot help: a line of 64 KiB of blanks would take minutes.
_RULE = re.compile(
    rb"^[ \t]*+[\w.-]{0,64}+[ \t]*+(?:=[ \t]*(?:0[xX][0-9A-Fa-f]{1,4}|\d{1,5})[ \t]*(?:,[^:;#\n]*)?:"
    rb"|(?:,[^:;#\n]*)?:[ \t]*(?:ALL|SELF)\b)",
    re.MULTILINE,
)


def looks_like(head: bytes) -> bool:
    """Tell a partition file by a rule that names members as OpenSM does."""
    return _RULE.search(head) is not None


def read_integer(text: str) -> tuple[int, str]:
    """Read an integer as strtoull does with base 0: 64 bits, what follows it comes back; nothing read gives 0."""
    found = _INTEGER.match(text)
    if found is None:
        return 0, text
    sign, hexadecimal, octal, decimal = found.groups()
    value = int(hexadecimal, 16) if hexadecimal else int(octal, 8) if octal else int(decimal)
    value = min(value, 2**64 - 1)
    return (-value) % 2**64 if sign == "-" else value, text[found.end() :]


def starts(word: str, whole: str) -> bool:
    """Tell whether OpenSM takes a word for another: it compares as many letters as were written."""
    return whole.startswith(word)


@dataclass(slots=True)
class _Open:
    """The rule that is being read; it goes on over lines until a semicolon."""

    where: Place
    name: str = ""
    key: int = 0
    membership: FileMembership = "limited"
    is_first: bool = False
    has_group: bool = False
    members: list[Member] = field(default_factory=list[Member])

    def close(self) -> Rule:
        return Rule(self.name, self.key, self.where, tuple(self.members), self.is_first, self.has_group)


@dataclass(frozen=True, slots=True)
class _Token:
    """A piece of text between delimiters: a name and, behind the first ``=``, a value."""

    name: str
    value: str | None
    column: int


class _Fault(Exception):  # noqa: N818  (never leaves this module)
    """The manager gives the file up here."""

    def __init__(self, message: str, column: int) -> None:
        super().__init__(message)
        self.message = message
        self.column = column


def parse(data: bytes, file: str) -> PartitionFile:
    """Read a partition file; what OpenSM would not take is its fault, what it takes otherwise are its remarks."""
    if len(data) > MAX_BYTES:
        message = f"the file has {len(data):,} bytes; at most {MAX_BYTES:,} are read"
        return PartitionFile(file, (), doubt=Problem("artifact.dump-too-large", message, "", Place(file)))
    return _Reader(file).read(data.decode("latin-1"))


def parse_part(data: bytes, file: str) -> SurveyPart:
    """Read a partition file as what one file of a survey says; what is wrong with it is judged by what comes of it."""
    return SurveyPart(partitions=parse(data, file))


def _cut(text: str) -> Iterator[tuple[int, int, str]]:
    """Cut a file as OpenSM reads it: by lines, and long ones by the size of its buffer."""
    number = 1
    at = 0
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end + 1
        for start in range(at, end, CHUNK):
            yield number, start - at + 1, text[start : min(start + CHUNK, end)]
        at = end
        number += 1


def _token(text: str, column: int) -> _Token:
    """Read ``name [= value]``; blanks around both do not count."""
    name, equals, value = text.partition("=")
    lead = len(name) - len(name.lstrip(BLANK))
    return _Token(name.strip(BLANK), value.strip(BLANK) if equals else None, column + lead)


class _Reader:
    """The state of the manager's parser from line to line."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.rules: list[Rule] = []
        self.remarks: list[Problem] = []
        self.open: _Open | None = None
        self.doubt: Problem | None = None
        self.line = 0
        self.left = 0
        """Column of the line at which the text begins that is being read."""

    def read(self, text: str) -> PartitionFile:
        fault: Problem | None = None
        has_text = False
        try:
            for number, column, chunk in _cut(text):
                self.line, self.left = number, column
                has_text = self._read_line(chunk) or has_text
        except _Fault as error:
            fault = Problem("partition.syntax-error", error.message, RETRY, self._at(error.column))
        if self.open is not None:
            self.rules.append(self.open.close())
        if fault is None and not has_text:
            fault = Problem("partition.syntax-error", "the file holds no rule", RETRY, Place(self.file))
        return PartitionFile(self.file, tuple(self.rules), fault, tuple(self.remarks), self.doubt)

    def _at(self, column: int) -> Place:
        return Place(self.file, self.line, self.left + column)

    def _note(self, code: str, message: str, hint: str, column: int, severity: Severity = "warning") -> None:
        if len(self.remarks) < MAX_REMARKS:
            self.remarks.append(Problem(code, message, hint, self._at(column), severity))

    def _read_line(self, chunk: str) -> bool:
        """Read one line as the manager has it in its buffer; tells whether there was anything but blanks."""
        if self.left > 1 and chunk.strip(BLANK):
            hint = f"write rules on lines of at most {CHUNK:,} bytes; several rules of one P_Key are merged"
            self._note("partition.lost-text", "OpenSM cuts the line here and reads the rest as a new line", hint, 0)
        chunk = chunk.partition("\0")[0].partition("#")[0]
        at, has_text = 0, False
        while True:
            while at < len(chunk) and chunk[at] in BLANK:
                at += 1
            if at >= len(chunk):
                return has_text
            has_text = True
            semicolon = chunk.find(";", at)
            end = len(chunk) if semicolon < 0 else semicolon
            consumed = self._read_part(chunk[at:end], at)
            if semicolon < 0:
                return True
            if self.open is not None:
                self.rules.append(self.open.close())
                self.open = None
            if consumed is None:  # a group without flags: what follows the semicolon passes for its flags
                self._swallow(chunk, semicolon + 1)
                return True
            at += consumed

    def _swallow(self, chunk: str, at: int) -> None:
        rest = chunk[at:]
        hint = "begin a new line behind the semicolon, and write at least one flag behind the mgid, as sl=0"
        if rest.strip(BLANK):
            self._note("partition.lost-text", "OpenSM passes over the rest of this line", hint, at, "error")
        self.doubt = self.doubt or Problem(
            "partition.lost-text",
            "behind an mgid without flags, OpenSM reads on in what stood in its buffer before",
            hint,
            self._at(at),
        )

    def _read_part(self, text: str, at: int) -> int | None:
        """Read the text up to a semicolon or the end of a line; returns how far the manager goes on from its start.

        None says that it goes on behind everything that the line holds.
        """
        body, offset = text, at
        if self.open is None:
            header, colon, body = text.partition(":")
            if not colon:
                ends = "; carriage returns end the lines" if "\r" in header else ""
                raise _Fault(f"there is no ':' behind the partition's name and flags{ends}", at)
            self.open = self._read_header(header, at)
            offset = at + len(header) + 1
        for index, piece in enumerate(pieces := body.split(",")):
            token = _token(piece, offset)
            offset += len(piece) + 1
            if token.name == "mgid":
                return self._read_group(token, pieces[index + 1 :], offset - at)
            self._read_member(self.open, token)
        return offset - at

    def _read_header(self, header: str, at: int) -> _Open:
        first, *flags = header.split(",")
        token = _token(first, at)
        rule = _Open(self._at(at))
        column = at + len(first) + 1
        for piece in flags:
            self._read_flag(rule, _token(piece, column))
            column += len(piece) + 1
        text, rule.name = token.value, token.name
        if text is None and token.name[:1].isdecimal() and token.name[:1].isascii():
            text, rule.name = token.name, ""
        if text is not None:
            value, rest = read_integer(text)
            if rest or not text:
                raise _Fault(f"{text[:40]!r} is no P_Key", token.column)
            rule.key = value & KEY
            if value > 0xFFFF or not rule.key:
                what = "a key that OpenSM chooses" if not rule.key else f"{rule.key:#06x}"
                hint = "write a P_Key between 0x0001 and 0x7ffe"
                self._note("partition.loose-key", f"P_Key {text[:40]} means {what}", hint, token.column, "error")
        else:
            message = (
                f"partition {rule.name!r} has no P_Key: OpenSM looks for its name, else chooses a key that is free"
            )
            hint = "write the P_Key; one that is chosen can be that of a later rule, and both are then one partition"
            self._note("partition.loose-key", message, hint, token.column, "error")
        rule.name = rule.name[:NAME_BYTES]
        return rule

    def _read_flag(self, rule: _Open, token: _Token) -> None:
        name = token.name
        group = next((word for word in _GROUP_FLAGS if starts(name, word)), None)
        if group is not None:
            if name != group:
                self._loose(f"flag {name[:40]!r} is taken for {group}", token, "warning")
        elif starts(name, "ipoib"):
            rule.has_group = True
        elif starts(name, "defmember"):
            self._read_default(rule, token)
        elif name == "indx0":
            rule.is_first = True
        else:
            self._loose(f"flag {name[:40]!r} is unknown to OpenSM, which passes over it", token, "error")
            return
        if name not in {"ipoib", "defmember", "indx0"} and group is None:
            self._loose(f"flag {name[:40]!r} is taken for {'ipoib' if starts(name, 'ipoib') else 'defmember'}", token)

    def _read_default(self, rule: _Open, token: _Token) -> None:
        found = None if token.value is None else _read_membership(token.value)
        if found is None:
            text = "" if token.value is None else token.value[:40]
            self._loose(f"defmember={text!r} is no membership, and {rule.membership} stays", token, "error")
            return
        rule.membership = found
        if token.value != found:
            self._loose(f"defmember={(token.value or '')[:40]!r} is taken for {found}", token, "error")

    def _read_member(self, rule: _Open, token: _Token) -> None:
        name = token.name
        if not name or starts(name, "NONE"):
            if name not in {"", "NONE"}:
                self._loose(f"{name!r} is taken for NONE", token)
            return
        word = _read_word(name)
        guid, rest = (0, "") if word else read_integer(name)
        if word is None and (rest or not guid):
            what = "carriage returns end the lines" if "\r" in name else f"{name[:40]!r} is no port GUID"
            raise _Fault(what, token.column)
        kind: MemberKind = word[1] if word else "port"
        if word and name != word[0]:
            self._loose(f"{name!r} is taken for {word[0]}", token, "error")
        membership = rule.membership
        if token.value is not None:
            membership = _read_membership(token.value) or "limited"
            if token.value != membership:
                self._loose(f"membership {token.value[:40]!r} is taken for {membership}", token, "error")
        rule.members.append(Member(kind, membership, self._at(token.column), guid))

    def _read_group(self, token: _Token, flags: list[str], passed: int) -> int | None:
        """Read a multicast group, which takes the rest of its line."""
        if token.value is None:
            self.doubt = self.doubt or Problem(
                "partition.lost-text", "OpenSM crashes on mgid without an address", "write mgid=ADDRESS",
                self._at(token.column),
            )  # fmt: skip
            return passed
        if not _is_multicast(token.value):
            message = f"mgid {token.value[:60]!r} is no multicast address; OpenSM makes no group of it"
            self._loose(message, token, "error")
            return passed  # its flags are then read as the next thing on the line
        if not flags:
            return None
        return passed + sum(len(piece) + 1 for piece in flags)

    def _loose(self, message: str, token: _Token, severity: Severity = "warning") -> None:
        hint = "write the words in full, as opensm(8) has them: OpenSM guesses, and says so in no log that is kept"
        self._note("partition.loose-word", message, hint, token.column, severity)


def _read_word(name: str) -> tuple[str, MemberKind] | None:
    """Find the word for many ports that a name is taken for."""
    for whole, kind in _WORDS:
        if starts(name, whole):
            return whole, kind
    return None


def _read_membership(text: str) -> FileMembership | None:
    """Read a membership; nothing at all counts as full."""
    return next((whole for whole in _MEMBERSHIPS if starts(text, whole)), None)


def _is_multicast(text: str) -> bool:
    try:
        return "%" not in text and ipaddress.IPv6Address(text).is_multicast
    except ValueError:
        return False
