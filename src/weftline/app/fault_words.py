"""The words of ``--fault`` and of a file of faults: a kind, what it befalls, and when."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from weftline.app.files import read_bytes
from weftline.app.load_words import split_words
from weftline.errors import ArtifactError, Place, UsageError

KEYS: dict[str, tuple[str, ...]] = {
    "down": ("what", "at_us", "until_us"),
    "flap": ("what", "at_us", "every_us", "down_us", "times"),
    "rate": ("what", "at_us", "until_us", "gbps"),
    "errors": ("what", "at_us", "until_us", "ratio", "retry"),
    "slow": ("what", "at_us", "until_us", "every_us", "share"),
}
"""What can be said of each kind of fault; ``what`` and ``at_us`` of every one."""
NEEDED: dict[str, tuple[str, ...]] = {
    "down": ("what",),
    "flap": ("what", "every_us", "down_us", "times"),
    "rate": ("what", "gbps"),
    "errors": ("what", "ratio"),
    "slow": ("what", "until_us", "share"),
}
MOST_FAULTS = 1000
MAX_FILE_BYTES = 1_000_000
MOST_US = 1e9
_NUMBER = re.compile(r"\d{1,12}(?:\.\d{1,9})?(?:[eE]-?\d{1,3})?")
_WHOLE = re.compile(r"[1-9]\d{0,5}")


@dataclass(frozen=True, slots=True)
class FaultWords:
    """One fault as it was asked for; times in microseconds."""

    kind: str
    what: str
    """A link, a port, a switch or a host, or a pattern of them."""
    at_us: float
    until_us: float | None
    every_us: float | None
    down_us: float | None
    times: int
    gbps: float
    ratio: float
    share: float
    has_retry: bool | None
    """Whether the link sends again what was hit; None where nobody said."""
    where: Place | None = None
    """Line of a file."""


def read_fault(text: str, where: Place | None = None) -> FaultWords:
    """Split ``KIND:key=value,key=value``.

    Raises:
        UsageError: ``usage.fault-words`` with the place where the fault stands in a file.
    """
    kind, _, rest = text.strip().partition(":")
    if kind not in KEYS:
        raise _refuse(f"{kind[:40]!r} is no kind of fault", f"choose {', '.join(KEYS)}", where)
    words, wrong = split_words(rest, KEYS[kind])
    if wrong is not None:
        raise _refuse(f"{kind}: {wrong[0]}", wrong[1], where)
    for key in NEEDED[kind]:
        if key not in words:
            raise _refuse(f"{kind} without {key}", f"write {_example(kind)}", where)
    fault = FaultWords(
        kind, words["what"], _number(kind, words, "at_us", where, MOST_US) or 0.0,
        _number(kind, words, "until_us", where, MOST_US), _number(kind, words, "every_us", where, MOST_US),
        _number(kind, words, "down_us", where, MOST_US), _times(words, where),
        _number(kind, words, "gbps", where, 1e5) or 0.0, _number(kind, words, "ratio", where, 1.0) or 0.0,
        _number(kind, words, "share", where, 1.0) or 0.0, _retry(words, where), where,
    )  # fmt: skip
    _check_times(fault)
    return fault


def read_fault_file(path: Path) -> tuple[FaultWords, ...]:
    """Read a file with a fault in each line; empty lines and those that begin with # are left out.

    Raises:
        ArtifactError: ``artifact.no-place``, ``artifact.too-large``, ``artifact.not-text``.
        UsageError: ``usage.fault-words`` with file and line.
    """
    data = read_bytes(path, MAX_FILE_BYTES, "leave faults out")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ArtifactError("artifact.not-text", f"{path} is not UTF-8 text", "save it as UTF-8") from error
    lines = ((number, line.strip()) for number, line in enumerate(text.splitlines(), 1))
    return tuple(read_fault(line, Place(str(path), number)) for number, line in lines if line and line[0] != "#")


def read_faults(texts: tuple[str, ...], path: Path | None) -> tuple[FaultWords, ...]:
    """Read the faults of the command line and of a file.

    Raises:
        UsageError: ``usage.fault-words``.
    """
    faults = (*(read_fault(text) for text in texts), *(read_fault_file(path) if path is not None else ()))
    if len(faults) > MOST_FAULTS:
        raise _refuse(f"{len(faults):,} faults are too many", f"give at most {MOST_FAULTS:,}", None)
    return faults


def _number(kind: str, words: dict[str, str], key: str, where: Place | None, most: float) -> float | None:
    text = words.get(key)
    if text is None:
        return None
    if not _NUMBER.fullmatch(text) or not 0 <= float(text) <= most:
        raise _refuse(f"{kind}: {key} {text[:40]!r} is no number from 0 to {most:g}", f"write {_example(kind)}", where)
    return float(text)


def _times(words: dict[str, str], where: Place | None) -> int:
    text = words.get("times", "1")
    if not _WHOLE.fullmatch(text) or int(text) > MOST_FAULTS:
        raise _refuse(f"times {text[:40]!r} is no whole number from 1 to {MOST_FAULTS}", "give a number", where)
    return int(text)


def _retry(words: dict[str, str], where: Place | None) -> bool | None:
    text = words.get("retry")
    if text not in {None, "yes", "no"}:
        raise _refuse(f"retry {str(text)[:40]!r} is neither yes nor no", "write retry=yes or retry=no", where)
    return None if text is None else text == "yes"


def _check_times(fault: FaultWords) -> None:
    """Refuse times that contradict each other, and values that mean nothing."""
    wrong = ""
    if fault.until_us is not None and fault.until_us <= fault.at_us:
        wrong = f"it ends at {fault.until_us:g} us and begins at {fault.at_us:g} us"
    elif fault.kind == "flap" and not 0 < (fault.down_us or 0) < (fault.every_us or 0):
        wrong = "a link cannot be down for as long as from one time to the next"
    elif fault.kind == "rate" and not fault.gbps:
        wrong = "a link with no rate at all is down"
    elif fault.kind == "slow" and not fault.share:
        wrong = "a receiver that asks for no pause is not slow"
    elif fault.kind == "slow" and fault.share < 1 and not fault.every_us:
        wrong = "a receiver that is slow for a part of the time has a period"
    if wrong:
        raise _refuse(f"{fault.kind}: {wrong}", f"write {_example(fault.kind)}", fault.where)


def _example(kind: str) -> str:
    return {
        "down": "down:what=leaf-001/3~spine-01/1,at_us=100,until_us=400",
        "flap": "flap:what=leaf-001/3,at_us=100,every_us=50,down_us=10,times=4",
        "rate": "rate:what=leaf-001/3,at_us=0,gbps=100",
        "errors": "errors:what=leaf-001/3,at_us=0,ratio=1e-8",
        "slow": "slow:what=host-0001/nic1,at_us=0,until_us=400,every_us=20,share=0.5",
    }[kind]


def _refuse(message: str, hint: str, where: Place | None) -> UsageError:
    return UsageError("usage.fault-words", f"--fault {message}", hint, where)
