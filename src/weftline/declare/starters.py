"""Starters: the commented declaration of each kind of topology that ``weftline init`` writes."""

from __future__ import annotations

from importlib import resources
from typing import Final

STARTERS: Final = ("rail-optimised", "dragonfly", "dragonfly-plus", "torus")
_TREE_CLAIMS = "  required: [reach, deadlock, balance]\n"
_OTHER_CLAIMS = "  required: [reach, deadlock] # balance too, where the worst shift matters; see weftline balance\n"


def starter(kind: str = STARTERS[0]) -> str:
    """Give the commented declaration that ``weftline init`` writes, for a kind of topology in ``STARTERS``."""
    text = _read("starter.yaml")
    if kind == STARTERS[0]:
        return text
    # the groups or switches say how many hosts stand together, and the worst shift loads a link more than once
    kept = [line for line in text.splitlines(keepends=True) if not line.startswith("  unit_size:")]
    text = "".join(kept).replace(_TREE_CLAIMS, _OTHER_CLAIMS)
    begin, end = text.index("topology:\n"), text.index("# Who owns which hosts")
    return f"{text[:begin]}{_read(f'starter-{kind}.yaml')}\n{text[end:]}"


def _read(name: str) -> str:
    return resources.files("weftline.declare").joinpath(name).read_text(encoding="utf-8")
