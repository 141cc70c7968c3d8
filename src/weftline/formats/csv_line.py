"""One line of CSV split into its fields, each with the column where it stands."""

from __future__ import annotations

Fields = list[tuple[str, int]]
"""Text and column of each field of a line."""


def split_line(text: str) -> Fields | int:
    """Split one CSV line into fields with their columns; a number is the column of a misplaced quotation mark."""
    fields: Fields = []
    if '"' not in text:
        column = 1
        for piece in text.split(","):
            fields.append((piece.strip(), column + len(piece) - len(piece.lstrip())))
            column += len(piece) + 1
        return fields
    at = 0
    while at <= len(text):
        begin = at
        if text[at : at + 1] == '"':
            close = at + 1
            while (close := text.find('"', close)) >= 0 and text[close + 1 : close + 2] == '"':
                close += 2
            if close < 0 or text[close + 1 : close + 2] not in {"", ","}:
                return begin + 1
            fields.append((text[begin + 1 : close].replace('""', '"').strip(), begin + 1))
            at = close + 2
        else:
            end = text.find(",", at)
            end = len(text) if end < 0 else end
            piece = text[begin:end]
            if '"' in piece:
                return begin + piece.index('"') + 1
            fields.append((piece.strip(), begin + 1))
            at = end + 1
    return fields
