"""In which line of a JSON document each key stands."""

from __future__ import annotations

import json
import re
from functools import cached_property

MAX_CHARS = 4 * 1024 * 1024
"""Longer documents are read without lines."""
MAX_DEPTH = 5
"""Keys further down are not indexed."""
_PIECE = re.compile(r'"((?:[^"\\\n]|\\.)*)"(\s*:)?|[{}]|\n')

Twin = tuple[tuple[str, ...], int, int]
"""Path of a key that an object has twice, the line of the first and of the second."""


class JsonLines:
    """Lines of the keys of a document that has been parsed before; looked up once, when first asked."""

    def __init__(self, text: str) -> None:
        """Keep the text until it is asked for."""
        self._text = text

    def find(self, path: tuple[str, ...]) -> int:
        """Line of a key, counted from 1; the last one where it stands twice, 0 where nobody knows."""
        return self._index[0].get(path, 0)

    @property
    def twins(self) -> tuple[Twin, ...]:
        """Keys that one object has twice."""
        return self._index[1]

    @cached_property
    def _index(self) -> tuple[dict[tuple[str, ...], int], tuple[Twin, ...]]:
        lines: dict[tuple[str, ...], int] = {}
        twins: list[Twin] = []
        if len(self._text) > MAX_CHARS:
            return lines, ()
        line, path, seen = 1, [""], [dict[str, int]()]
        for match in _PIECE.finditer(self._text):
            piece = match[0]
            if piece == "\n":
                line += 1
            elif piece == "{":
                path.append("")
                seen.append({})
            elif piece == "}":
                path.pop()
                seen.pop()
            elif match[2] is not None:
                name = json.loads(f'"{match[1]}"') if "\\" in match[1] else match[1]
                path[-1] = name
                if len(path) <= MAX_DEPTH + 1:
                    where = tuple(path[1:])
                    lines[where] = line
                    if name in seen[-1]:
                        twins.append((where, seen[-1][name], line))
                    seen[-1][name] = line
                line += match[2].count("\n")
        return lines, tuple(twins)
