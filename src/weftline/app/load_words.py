"""The words of ``--load`` and ``--straggler``: a kind, and what is said of it."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import get_args

from weftline.errors import UsageError
from weftline.model.traffic import CollectiveKind
from weftline.units import parse_size

_COLLECTIVE = ("algorithm", "placement", "ranks", "seed", "size")
_INCAST = ("every_us", "receiver", "repeats", "senders", "size")
KEYS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(get_args(CollectiveKind), _COLLECTIVE),
    "job": ("name",),
    "pipeline": ("hidden", "job", "microbatch"),
    "experts": ("group", "hidden", "imbalance", "job", "seed", "tokens", "top", "work_us"),
    "incast": _INCAST,
    "victim": (*_INCAST, "victim_size"),
    "shift": ("by", "ranks", "size"),
    "storage": ("for_us", "load", "read", "reads", "seed", "servers", "write"),
}
"""What can be said of each kind of load; ``start_us`` of every one."""
_WHOLE = re.compile(r"\d{1,10}")
_DECIMAL = re.compile(r"\d{1,10}(?:\.\d{1,9})?")
SPREADS = ("uniform", "exponential")


@dataclass(frozen=True, slots=True)
class LoadWords:
    """One load as it was asked for."""

    kind: str
    words: dict[str, str]

    def text(self, key: str, default: str) -> str:
        """Return a word."""
        return self.words.get(key, default)

    def whole(self, key: str, default: int, most: int = 2**32 - 1) -> int:
        """Read a whole number from 0.

        Raises:
            UsageError: ``usage.load``.
        """
        text = self.words.get(key)
        if text is None:
            return default
        if not _WHOLE.fullmatch(text) or int(text) > most:
            raise _refuse(self.kind, key, text, f"a whole number up to {most}")
        return int(text)

    def decimal(self, key: str, default: float) -> float:
        """Read a decimal number from 0.

        Raises:
            UsageError: ``usage.load``.
        """
        text = self.words.get(key)
        if text is None:
            return default
        if not _DECIMAL.fullmatch(text):
            raise _refuse(self.kind, key, text, "a decimal number from 0")
        return float(text)

    def size(self, key: str, default: str) -> int:
        """Read a size.

        Raises:
            UsageError: ``usage.size``.
        """
        return parse_size(self.words.get(key, default))


def read_load(text: str) -> LoadWords:
    """Split ``KIND:key=value,key=value``.

    Raises:
        UsageError: ``usage.load``.
    """
    kind, _, rest = text.strip().partition(":")
    if kind not in KEYS:
        raise UsageError("usage.load", f"--load {kind[:40]!r} is not known", f"choose {', '.join(KEYS)}")
    words, wrong = split_words(rest, (*KEYS[kind], "start_us"))
    if wrong is not None:
        raise UsageError("usage.load", f"--load {kind}: {wrong[0]}", wrong[1])
    return LoadWords(kind, words)


def split_words(rest: str, known: tuple[str, ...]) -> tuple[dict[str, str], tuple[str, str] | None]:
    """Split ``key=value,key=value``; beside the words what is wrong with the first that is, and what to write."""
    words: dict[str, str] = {}
    for item in filter(None, rest.split(",")):
        key, equals, value = (part.strip() for part in item.partition("="))
        if not equals or key not in known or key in words or not value:
            said = "stands twice" if key in words else "is nothing that can be said of it"
            return words, (f"{item.strip()[:40]!r} {said}", f"write key=value of {', '.join(known)}")
        words[key] = value
    return words, None


@dataclass(frozen=True, slots=True)
class Straggler:
    """One rank that is late, or a draw over all ranks."""

    who: int | str
    """The rank, or a word of ``SPREADS``."""
    us: float


def read_straggler(text: str) -> Straggler:
    """Split ``RANK:US``, ``uniform:US`` or ``exponential:US``.

    Raises:
        UsageError: ``usage.load``.
    """
    who, _, time = text.strip().partition(":")
    us = float(time) if _DECIMAL.fullmatch(time) else math.nan
    if math.isnan(us) or (who not in SPREADS and not _WHOLE.fullmatch(who)):
        raise UsageError(
            "usage.load",
            f"--straggler {text[:40]!r} is not known",
            "write a rank and its delay in microseconds, as 3:250, or uniform:250 or exponential:250 for all ranks",
        )
    return Straggler(who if who in SPREADS else int(who), us)


def _refuse(kind: str, key: str, text: str, wanted: str) -> UsageError:
    return UsageError("usage.load", f"--load {kind}: {key} {text[:40]!r} is no {wanted[2:]}", f"give {wanted}")
