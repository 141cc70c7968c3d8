"""Plain YAML scalars as YAML 1.2 reads them: ``no`` is text, ``012`` is 12 and ``1:20`` is text."""

from __future__ import annotations

import math
import re

Scalar = str | int | float | bool | None
MAX_DIGITS = 40

# YAML 1.2.2, 10.3.2: the core schema
_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_BOOL = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INT = re.compile(r"[-+]?[0-9]+")
_OCTAL = re.compile(r"0o[0-7]+")
_HEX = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_SPECIAL = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_NUMBER_START = frozenset("0123456789+-.")


def read_scalar(text: str) -> Scalar:
    """Read a plain scalar.

    Raises:
        ValueError: for a number that is too long or too large; the message says which.
    """
    if text in _NULL:
        return None
    if text in _BOOL:
        return _BOOL[text]
    if text[0] not in _NUMBER_START:
        return text
    if len(text) > MAX_DIGITS:
        return _read_long(text)
    return _read_number(text)


def _read_number(text: str) -> Scalar:
    if _INT.fullmatch(text):
        return int(text)
    if _OCTAL.fullmatch(text):
        return int(text, 8)
    if _HEX.fullmatch(text):
        return int(text, 16)
    if _SPECIAL.fullmatch(text):
        raise ValueError(f"{text} is no number that can be used")
    if not _FLOAT.fullmatch(text):
        return text
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text} is too large a number")
    return number


def _read_long(text: str) -> str:
    if any(form.fullmatch(text) for form in (_INT, _OCTAL, _HEX, _FLOAT)):
        raise ValueError(f"a number of {len(text)} characters is too long")
    return text
