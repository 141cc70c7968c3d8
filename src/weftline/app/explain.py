"""Explanations: what each error code means and what to do."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from importlib import resources

from weftline.errors import UsageError

_HEADING = re.compile(r"^## (\S+)\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Explanation:
    """One code and the text about it, in Markdown."""

    code: str
    text: str


def read_explanations() -> dict[str, Explanation]:
    """Read every explanation, by code."""
    found: dict[str, Explanation] = {}
    folder = resources.files("weftline.app").joinpath("explanations")
    for file in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if not file.name.endswith(".md"):
            continue
        pieces = _HEADING.split(file.read_text(encoding="utf-8"))
        for code, text in zip(pieces[1::2], pieces[2::2], strict=True):
            found[code] = Explanation(code, text.strip())
    return found


def explain(code: str) -> Explanation:
    """Find the explanation of a code.

    Raises:
        UsageError: ``usage.unknown-code``, with the nearest codes as the hint.
    """
    known = read_explanations()
    if code in known:
        return known[code]
    near = difflib.get_close_matches(code, known, n=3, cutoff=0.4)
    hint = f"did you mean {', '.join(near)}?" if near else "codes look like spec.unknown-key"
    raise UsageError("usage.unknown-code", f"there is no code {code[:80]!r}", hint)
