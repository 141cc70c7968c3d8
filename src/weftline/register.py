"""A table of records by name, each of which is imported when it is first asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module  # noqa: TID251 (a test holds every place within the package of its table)
from typing import Generic, TypeVar, cast

Record = TypeVar("Record")


class Register(Mapping[str, Record], Generic[Record]):
    """Records by name, in the order in which they are listed.

    A command needs one technology and two or three vendors; importing all of them takes longer than its work on a
    small fabric does. So the table holds where each record stands, as ``package.module:NAME``, and looks when asked.
    """

    def __init__(self, places: Mapping[str, str]) -> None:
        """Take the places; nothing is imported yet."""
        self.places = dict(places)
        """Where each record stands, as ``package.module:NAME``."""
        self.held: dict[str, Record] = {}
        """The records that were asked for."""

    def __getitem__(self, name: str) -> Record:
        """Find a record, importing it the first time."""
        if name not in self.held:
            module, _, attribute = self.places[name].partition(":")
            self.held[name] = cast("Record", getattr(import_module(module), attribute))
        return self.held[name]

    def __iter__(self) -> Iterator[str]:
        """List the names, without importing anything."""
        return iter(self.places)

    def __contains__(self, name: object) -> bool:
        """Judge whether there is such a record, without importing anything."""
        return name in self.places

    def __len__(self) -> int:
        """Count the records."""
        return len(self.places)
