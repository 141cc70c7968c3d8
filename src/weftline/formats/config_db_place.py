"""Where the rows and fields of a CONFIG_DB stand: looked up when somebody asks, since most places are never shown."""

from __future__ import annotations

from weftline.errors import Place
from weftline.formats.json_lines import JsonLines

_new, _set = object.__new__, object.__setattr__  # a place is frozen, and is not made field by field


class RowPlace(Place):
    """A place in a file of tables, of which each field is worked out at the first look at it.

    A full dump has tens of thousands of places, and a finding shows a few. It equals the plain place that it comes to.
    """

    __slots__ = ("_source",)

    _source: tuple[str, JsonLines, str, tuple[str, str, str]]

    @classmethod
    def of(cls, file: str, lines: JsonLines, scope: str, path: tuple[str, str, str]) -> RowPlace:
        """Make the place of a table, a row or a field: (table, key, field), what is not meant left empty."""
        place = _new(cls)
        _set(place, "_source", (file, lines, scope, path))
        return place

    def __getattr__(self, name: str) -> str | int | None:
        """Work a field out; Python asks here only for what has no value yet."""
        if name not in _FIELDS:
            raise AttributeError(name)
        file, lines, scope, path = self._source
        found = None
        if name == "file":
            found = file
        elif name == "path":
            found = ".".join([part for part in (scope, *path) if part])
        elif name == "line":
            found = _find_line(lines, scope, *path) or None
        _set(self, name, found)
        return found

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Place):
            return NotImplemented
        # The line comes last: where anything else differs, nobody has to look it up.
        return (
            self.file == other.file
            and self.path == other.path
            and self.column == other.column
            and self.line == other.line
        )

    __hash__ = Place.__hash__

    def __repr__(self) -> str:
        return repr(Place(self.file, self.line, self.column, self.path))


_FIELDS = frozenset(Place.__dataclass_fields__)


def _find_line(lines: JsonLines, scope: str, table: str, key: str, name: str) -> int:
    """Find a line by scope, table, row and field, whether the file writes table and row apart or together."""
    head = (scope,) if scope else ()
    row = f"{table}|{key}"
    find = lines.find
    line = 0
    if name:
        line = find((*head, table, key, name)) or find((*head, row, name)) or find((*head, row, "value", name))
    if key and not line:
        line = find((*head, table, key)) or find((*head, row))
    return line or find((*head, table))
