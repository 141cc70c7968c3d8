"""SONiC's ``config_db.json`` as others wrote it: nested or flat, each row with its place, what is odd as a problem."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, cast

from weftline.errors import Place, Problem
from weftline.formats.config_db_names import MARKERS, NAMED, OTHERS, READ, SECRET, SKIPPED
from weftline.formats.config_db_place import RowPlace
from weftline.formats.json_lines import JsonLines
from weftline.formats.text import ProblemLog

Value: TypeAlias = str | tuple[str, ...]
Row: TypeAlias = Mapping[str, Value]
Rows: TypeAlias = Mapping[str, Row]
Form = Literal["nested", "flat", "half-flat", "configlets", "none"]

MAX_BYTES = 16 * 1024 * 1024
"""A dump of a chassis with its system ports stays under 2 MB."""
MAX_ROWS = 100_000
"""Rows that are read; a chassis of 8 cards with 36 ports has about 5,000 queues per card."""
SHOWN = 40
"""Characters of a value that a message repeats."""
SUGGESTED = 20
"""Unknown tables for which a near name is looked up."""
_KNOWN = frozenset(READ) | SKIPPED
_TABLE = re.compile(r"[A-Z][A-Z0-9_]*")


_TEXT = frozenset({str})
_MEANT = SECRET | {"NULL"}
"""Fields that are not taken as they stand."""


class _Bare(str):
    """A number that stands without quotes."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Scope:
    """The tables of one switch, or of one chip of a switch with several."""

    name: str
    """Key of the wrapper that the tables stand in, as ``asic0``; empty where there is none."""
    tables: Mapping[str, Rows]
    """Tables that are read; an old reference, list or leading space stands as it was written."""
    skipped: Mapping[str, int]
    """Rows of each table that SONiC has and nobody reads here."""
    unknown: Mapping[str, int]
    """Rows of each table that SONiC does not have."""

    def rows(self, table: str) -> Rows:
        """Rows of a table; none where it is absent."""
        return self.tables.get(table, {})


@dataclass(frozen=True, slots=True)
class ConfigDb:
    """One file: the switches or chips in it, and what was odd."""

    file: str
    form: Form
    scopes: tuple[Scope, ...]
    problems: tuple[Problem, ...]
    lines: JsonLines

    def place(self, scope: Scope, table: str, key: str = "", name: str = "") -> Place:
        """Say where a table, a row or a field stands."""
        return RowPlace.of(self.file, self.lines, scope.name, (table, key, name))

    @property
    def rows(self) -> int:
        """Count the rows that were read."""
        return sum(len(rows) for scope in self.scopes for rows in scope.tables.values())


@dataclass
class _Building:
    """A scope while it is being read."""

    name: str
    tables: dict[str, dict[str, dict[str, Value]]] = field(default_factory=dict[str, dict[str, dict[str, Value]]])
    skipped: dict[str, int] = field(default_factory=dict[str, int])
    unknown: dict[str, int] = field(default_factory=dict[str, int])
    flat: str = ""
    """First key that names table and row at once."""
    nested: str = ""
    """First key that names a table alone."""

    @property
    def is_known(self) -> bool:
        return bool(self.tables or self.skipped)


def read_config_db(content: bytes, file: str) -> ConfigDb:
    """Read a file; every value that SONiC would refuse is kept as far as it goes, and reported with its place."""
    log = ProblemLog(file)
    document = load_document(content, log)
    if document is None:
        return ConfigDb(file, "none", (), log.close(), JsonLines(""))
    lines = JsonLines(document.text)
    if document.has_twins:
        for path, first, again in lines.twins:
            message = f"key {path[-1][:SHOWN]!r} stands twice in one object, first in line {first}; the last one counts"
            place = Place(file, again, None, ".".join(path).replace("|", ".", "|" in path[0]))
            log.keep(Problem("artifact.said-twice", message, "keep one of them", place, "warning"))
    scopes, form = _Reader(file, log, lines).read(document.data)
    return ConfigDb(file, form, scopes, log.close(), lines)


@dataclass(frozen=True, slots=True)
class Document:
    """What a file of JSON says."""

    data: object
    has_twins: bool
    """Whether an object has a key twice."""
    text: str


def load_document(content: bytes, log: ProblemLog) -> Document | None:
    """Parse JSON; None and a problem where it is none."""
    if len(content) > MAX_BYTES:
        hint = "give the configuration of one switch"
        log.add("artifact.not-json", f"file has {len(content):,} bytes; at most {MAX_BYTES:,} are read", hint)
        return None
    try:
        text = content.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        column = error.start - content.rfind(b"\n", 0, error.start)
        log.add("artifact.not-json", f"byte 0x{content[error.start]:02x} is no UTF-8 text", _HINT, line, column)
        return None
    twins = False

    def collect(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal twins
        found = dict(pairs)
        twins = twins or len(found) != len(pairs)
        return found

    try:
        data: object = json.loads(
            text, object_pairs_hook=collect, parse_int=_Bare, parse_float=_Bare, parse_constant=_refuse
        )
        return Document(data, twins, text)
    except json.JSONDecodeError as error:
        is_cut = not text[error.pos :].strip() or error.msg.startswith("Unterminated")
        words = f"file ends in the middle: {error.msg}" if is_cut and text.strip() else f"no JSON: {error.msg}"
        log.add("artifact.not-json", words, _HINT, error.lineno, error.colno)
    except (ValueError, RecursionError) as error:
        log.add("artifact.not-json", f"no JSON: {str(error)[:200]}", _HINT)
    return None


_HINT = "give the file as `show runningconfiguration all` or /etc/sonic/config_db.json has it"


def _refuse(text: str) -> object:
    raise ValueError(f"{text} is no JSON value")


class _Reader:
    """Reads the tables of one document."""

    def __init__(self, file: str, log: ProblemLog, lines: JsonLines) -> None:
        self.file, self.log, self.lines = file, log, lines
        self.left = MAX_ROWS

    def blame(
        self, code: str, message: str, scope: str, path: tuple[str, str, str], hint: str = "", *, is_error: bool = False
    ) -> None:
        place = RowPlace.of(self.file, self.lines, scope, path)
        self.log.keep(Problem(code, message, hint, place, "error" if is_error else "warning"))

    def read(self, data: object) -> tuple[tuple[Scope, ...], Form]:
        is_list = isinstance(data, list)
        is_empty = data in ([], {})
        top = _Building("")
        scopes = [top]
        if isinstance(data, list):
            if not self._read_list(cast("list[object]", data), top):
                return (), "none"
        elif isinstance(data, dict):
            scopes += self._read_object(cast("dict[str, Any]", data), top)
        known = [scope for scope in scopes if scope.is_known]
        if name_database(set(top.unknown)) and not any(scope.tables for scope in known):
            known = []
        if not known:
            self._refuse(top, is_empty=is_empty)
            return (), "none"
        for scope in known:
            self._name_unknown(scope)
        if top.unknown and top not in known:
            self._name_unknown(top)
        return tuple(Scope(s.name, s.tables, s.skipped, s.unknown) for s in known), self._form(known, is_list=is_list)

    def _read_object(self, data: dict[str, Any], top: _Building) -> list[_Building]:
        """Read tables, and those of chips below a key of their own."""
        chips: list[_Building] = []
        for key, value in data.items():
            inner = _wrapped(key, value)
            if inner is None:
                self._read_key(key, value, top)
                continue
            chips.append(_Building(key))
            for name, rows in inner.items():
                self._read_key(name, rows, chips[-1])
        return chips

    def _form(self, scopes: list[_Building], *, is_list: bool) -> Form:
        if is_list:
            return "configlets"
        flat = next((scope for scope in scopes if scope.flat), None)
        nested = next((scope for scope in scopes if scope.nested), None)
        if flat is None or nested is None:
            return "nested" if flat is None else "flat"
        key = flat.flat
        message = f"key {key[:SHOWN]!r} names table and row at once, others name a table: the file is half flat"
        table, _, row = key.partition("|")
        hint = "both are read; write one form, since SONiC reads only nested tables"
        self.blame("artifact.half-flat", message, flat.name, (table, row, ""), hint)
        return "half-flat"

    def _read_list(self, items: list[object], top: _Building) -> bool:
        """Read a list of partial configurations, one after the other; say so where the list is a change."""
        parts = [cast("dict[str, Any]", item) for item in items if isinstance(item, dict)]
        if any("op" in part and "path" in part for part in parts):
            hint = "give the configuration that it changes, or the one that comes of it"
            self.log.add("artifact.not-config-db", "file is a JSON patch, not a configuration", hint, 1)
            return False
        if len(parts) != len(items):
            self.blame("artifact.wrong-type", "list holds something else than objects", "", ("", "", ""))
        for part in parts:
            for key, value in part.items():
                self._read_key(key, value, top)
        return True

    def _read_key(self, key: str, value: object, scope: _Building) -> None:
        table, bar, row = key.partition("|")
        if key in MARKERS:
            return
        is_other = not bar and table not in _KNOWN and ":" in key
        if is_other:
            table = key.partition(":")[0]
        if table not in _KNOWN:
            count = len(cast("dict[str, Any]", value)) if isinstance(value, dict) and not bar and not is_other else 1
            scope.unknown[table] = scope.unknown.get(table, 0) + count
            return
        if bar:
            scope.flat = scope.flat or key
        else:
            scope.nested = scope.nested or key
        if not isinstance(value, dict):
            message = f"{_show(value)} is no object of rows"
            self.blame("artifact.wrong-type", message, scope.name, (table, row, ""), is_error=True)
            return
        held = cast("dict[str, Any]", value)
        rows: dict[str, Any] = {row: _value_of(held)} if bar else held
        if table in SKIPPED:
            scope.skipped[table] = scope.skipped.get(table, 0) + len(rows)
            return
        found = scope.tables.setdefault(table, {})
        if self.left < len(rows):
            message = f"file has more than {MAX_ROWS:,} rows; {table} is not read whole"
            self.blame("artifact.dump-too-large", message, scope.name, (table, "", ""), is_error=True)
            rows = {}
        self.left -= len(rows)
        for name, fields in rows.items():
            read = self._read_row(fields, scope.name, table, name)
            if read is not None:
                found[name] = {**found[name], **read} if name in found else read

    def _read_row(self, row: object, scope: str, table: str, key: str) -> dict[str, Value] | None:
        if not isinstance(row, dict):
            self.blame(
                "artifact.wrong-type", f"{_show(row)} is no row of fields", scope, (table, key, ""), is_error=True
            )
            return None
        known = READ[table]
        if _is_plain(cast("dict[str, Any]", row), known):
            return cast("dict[str, Value]", row)
        found: dict[str, Value] = {}
        for name, value in cast("dict[str, Any]", row).items():
            plain = name.removesuffix("@")
            if known is not NAMED and plain not in known:
                hint = _near(plain, known)
                message = f"{table} has no field {name[:SHOWN]!r}; SONiC ignores it or refuses the file"
                self.blame("artifact.unknown-field", message, scope, (table, key, name), hint)
            if name == "NULL":
                continue
            read = self._read_value(value, (table, key, name), scope, is_list=plain != name)
            if read is None:
                continue
            if plain in found:
                message = f"field {plain[:SHOWN]!r} stands as text and as list"
                self.blame("artifact.said-twice", message, scope, (table, key, name), "keep one of them")
            found[plain] = "set" if plain in SECRET and read else read
        return found

    def _read_value(self, value: object, path: tuple[str, str, str], scope: str, *, is_list: bool) -> Value | None:
        if type(value) is str:
            return _split(value) if is_list else value
        if isinstance(value, list):
            items = cast("list[object]", value)
            texts = tuple(str(item) for item in items if isinstance(item, str))
            if len(texts) != len(items) or any(isinstance(item, _Bare) for item in items):
                self.blame("artifact.wrong-type", "list holds something else than text", scope, path)
            return texts
        if isinstance(value, _Bare | bool):
            text = str(value).lower() if isinstance(value, bool) else str(value)
            hint = f'write "{text[:SHOWN]}" in quotes: every value of CONFIG_DB is text'
            self.blame("artifact.wrong-type", f"{text[:SHOWN]} is no text", scope, path, hint)
            return text
        self.blame("artifact.wrong-type", f"{_show(value)} is no text", scope, path, is_error=True)
        return None

    def _name_unknown(self, scope: _Building) -> None:
        for number, (table, count) in enumerate(sorted(scope.unknown.items())):
            near = _near(table, _KNOWN) if number < SUGGESTED else ""
            rows = f"{count:,} row of it says" if count == 1 else f"{count:,} rows of it say"
            message = f"SONiC has no table {table[:SHOWN]!r}: {rows} nothing"
            self.blame("artifact.unknown-table", message, scope.name, (table, "", ""), near)

    def _refuse(self, top: _Building, *, is_empty: bool) -> None:
        """Say what the document is, since it is no configuration."""
        names = set(top.unknown)
        other = name_database(names)
        if other:
            message = f"file is a dump of {other}, not of CONFIG_DB"
        elif is_empty:
            message = "file holds no table"
        else:
            shown = ", ".join(repr(name[:SHOWN]) for name in sorted(names)[:3])
            message = f"file holds no table of SONiC's CONFIG_DB{f', but {shown}' if shown else ''}"
        self.log.add("artifact.not-config-db", message, _HINT, 1)


def _is_plain(row: dict[str, Any], known: frozenset[str] | str) -> bool:
    """Tell whether every field is a text under a name that SONiC has, so that it stays as it is: most rows are so."""
    if not _TEXT.issuperset(map(type, row.values())) or not _MEANT.isdisjoint(row):
        return False
    return not any("@" in name for name in row) if isinstance(known, str) else row.keys() <= known


def _wrapped(key: str, value: object) -> dict[str, Any] | None:
    """Return the tables below a key that is none itself: ``localhost`` and ``asic0`` of switches with several chips."""
    if not isinstance(value, dict) or key.partition("|")[0] in _KNOWN:
        return None
    inner = cast("dict[str, Any]", value)
    if any(name.partition("|")[0] in _KNOWN and isinstance(rows, dict) for name, rows in inner.items()):
        return inner
    return None


def name_database(names: set[str]) -> str:
    """Name the database of a switch that these are tables of; empty where they are of none."""
    best = max(OTHERS, key=lambda name: len(names & OTHERS[name]))
    return best if names & OTHERS[best] else ""


def _value_of(row: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a row that redis-dump wrapped with its type and its lifetime."""
    if row.get("type") == "hash" and isinstance(row.get("value"), dict):
        return cast("dict[str, Any]", row["value"])
    return row


def _split(text: str) -> tuple[str, ...]:
    return tuple(piece.strip() for piece in text.split(",")) if text else ()


def _show(value: object) -> str:
    if isinstance(value, dict):
        return "an object"
    return "a list" if isinstance(value, list) else "null" if value is None else repr(str(value)[:SHOWN])


def _near(name: str, names: Iterable[str]) -> str:
    close = difflib.get_close_matches(name[:64], list(names), 1, 0.8)
    return f"did you mean {close[0]}?" if close else ""
