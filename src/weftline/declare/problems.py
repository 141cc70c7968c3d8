"""What pydantic refuses becomes problems with a place, plain words and a hint."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, cast

from pydantic import ValidationError

from weftline.declare.fields import Model, description, known_keys, nearest
from weftline.declare.places import Places
from weftline.declare.tree import KeyPath, show_path
from weftline.errors import Place, Problem

MAX_SHOWN = 50
MAX_WORDED = 500
"""Errors of one validation that are put into words; the rest is only counted."""

_WANTED = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "string_type": "text",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "list_type": "a list",
    "model_type": "a section of keys",
    "model_attributes_type": "a section of keys",
    "dict_type": "a section of keys",
    "date_type": "a date, as 2025-01-31",
    "date_from_datetime_parsing": "a date, as 2025-01-31",
    "date_parsing": "a date, as 2025-01-31",
    "date_from_datetime_inexact": "a date, as 2025-01-31",
}
_BOUNDS = {
    "greater_than_equal": ("ge", "at least"),
    "greater_than": ("gt", "more than"),
    "less_than_equal": ("le", "at most"),
    "less_than": ("lt", "less than"),
}
_SHAPES = {"too_long": "items", "too_short": "items", "string_too_long": "characters", "string_too_short": "characters"}
_MISSING = object()
_DIGITS = re.compile(r"[-+]?[0-9][0-9_,']*(\.[0-9]+)?")


@dataclass(frozen=True, slots=True)
class Subject:
    """What was validated: data of a model, standing at a path of the declaration."""

    model: Model
    data: object
    places: Places
    prefix: KeyPath = ()


@dataclass(frozen=True, slots=True)
class _Fault:
    """One error of pydantic at the path of the data."""

    path: KeyPath
    kind: str
    context: dict[str, Any]
    message: str
    at_key: bool


def model_problems(error: ValidationError, subject: Subject, spoiled: set[KeyPath] | None = None) -> list[Problem]:
    """Put every error of a validation into words, at most one problem per path."""
    faults = [_fault(entry, subject) for entry in error.errors(include_url=False, include_input=False)[:MAX_WORDED]]
    grouped: dict[tuple[KeyPath, bool], list[_Fault]] = {}
    for fault in faults:
        if not _is_spoiled((*subject.prefix, *fault.path), spoiled or set()):
            grouped.setdefault((fault.path, fault.at_key), []).append(fault)
    meant = {
        (path[:-1], _meant(subject, path)) for (path, _), group in grouped.items() if group[0].kind == "extra_forbidden"
    }
    problems = [
        _word(subject, group)
        for (path, _), group in grouped.items()
        if not (group[0].kind == "missing" and (path[:-1], path[-1]) in meant)
    ]
    extra = error.error_count() - len(faults)
    return [*problems, count_problem(extra, subject.places.file)] if extra > 0 else problems


def count_problem(count: int, file: str) -> Problem:
    """Say how many problems are not shown."""
    text = "1 more problem is" if count == 1 else f"{count} more problems are"
    return Problem("spec.more-problems", f"{text} not shown", "mend these and check again", Place(file))


def order_problems(problems: Iterable[Problem], file: str) -> tuple[Problem, ...]:
    """Order problems by place and keep the first fifty, saying how many more there are."""
    found = sorted(set(problems), key=_order)
    if len(found) <= MAX_SHOWN:
        return tuple(found)
    return (*found[:MAX_SHOWN], count_problem(len(found) - MAX_SHOWN, file))


def quote(value: object) -> str:
    """Show a value of the input, cut to a length that fits a line."""
    text = ascii(value) if isinstance(value, str) and not value.isprintable() else repr(value)
    return text if len(text) <= 60 else text[:56] + " ..."


def _order(problem: Problem) -> tuple[bool, int, int, str, str]:
    place = problem.where or Place("")
    last = problem.code == "spec.more-problems"
    return (last, place.line or 0, place.column or 0, problem.code, problem.message)


def _is_spoiled(path: KeyPath, spoiled: set[KeyPath]) -> bool:
    return any(path[: len(bad)] == bad for bad in spoiled)


def _fault(entry: Any, subject: Subject) -> _Fault:
    """Find the path of the data behind pydantic's location, which also names the branches of unions."""
    kind = str(entry["type"])
    location: tuple[str | int, ...] = entry["loc"]
    path: list[str | int] = []
    value: object = subject.data
    for position, step in enumerate(location):
        if kind == "missing" and position == len(location) - 1:
            path.append(step)
            break
        below = _below(value, step)
        if below is not _MISSING:
            path.append(step)
            value = below
    context = cast("dict[str, Any]", entry.get("ctx") or {})
    return _Fault(tuple(path), kind, context, str(entry["msg"]), bool(location) and location[-1] == "[key]")


def _below(value: object, step: str | int) -> object:
    if isinstance(value, dict):
        return cast("dict[object, object]", value).get(step, _MISSING)
    if isinstance(value, list) and isinstance(step, int) and step < len(cast("list[object]", value)):
        return cast("list[object]", value)[step]
    return _MISSING


def _value(subject: Subject, path: KeyPath) -> object:
    value = subject.data
    for step in path:
        value = _below(value, step)
    return value


def _meant(subject: Subject, path: KeyPath) -> str | None:
    """Guess which key a misspelt one was meant to be: one that is not written down yet."""
    known = known_keys(subject.model, path[:-1])
    parent = _value(subject, path[:-1])
    free = [key for key in known if _below(parent, key) is _MISSING]
    return nearest(str(path[-1]), free)


def _word(subject: Subject, group: list[_Fault]) -> Problem:
    fault = _telling(subject, group)
    if fault.kind == "extra_forbidden":
        return _unknown_key(subject, fault.path)
    if fault.kind == "missing":
        return _missing_key(subject, fault.path)
    if fault.at_key:
        return _wrong_key(subject, fault)
    code, message, hint = _wrong_value(subject, fault, or_auto=len(group) > 1)
    path = (*subject.prefix, *fault.path)
    hint = hint or _section_hint(subject, fault.path) or description(subject.model, fault.path)
    hint = hint or "see the JSON Schema: weftline schema"
    return Problem(code, f"{show_path(path) or 'the declaration'} {message}", hint, subject.places.value(*path))


def _section_hint(subject: Subject, path: KeyPath) -> str:
    """Name the keys that belong where a section was expected."""
    known = known_keys(subject.model, path)
    return f"its keys are {', '.join(known)}" if known else ""


def _telling(subject: Subject, group: list[_Fault]) -> _Fault:
    """Choose the error that says most of a union: a bound that was broken, else what was expected first."""
    value = _value(subject, group[0].path)
    if isinstance(value, str):
        return group[0]
    return next((fault for fault in group if fault.kind in _BOUNDS), group[0])


def _unknown_key(subject: Subject, path: KeyPath) -> Problem:
    full = (*subject.prefix, *path)
    known = known_keys(subject.model, path[:-1])
    near = _meant(subject, path) or nearest(str(path[-1]), known)
    hint = f"did you mean {near!r}?" if near else f"known keys are {', '.join(known)}"
    section = show_path(full[:-1]) or "the declaration"
    return Problem("spec.unknown-key", f"{section} has no key {quote(path[-1])}", hint, subject.places.key(*full))


def _missing_key(subject: Subject, path: KeyPath) -> Problem:
    full = (*subject.prefix, *path)
    meaning = description(subject.model, path)
    hint = f"add {path[-1]}: {meaning}" if meaning else f"add {path[-1]}"
    message = f"{show_path(full[:-1]) or 'the declaration'} lacks the key {path[-1]!r}"
    parent = subject.places.key(*full[:-1]) if len(full) > 1 else subject.places.value()
    return Problem("spec.missing-key", message, hint, parent)


def _wrong_key(subject: Subject, fault: _Fault) -> Problem:
    full = (*subject.prefix, *fault.path)
    known = _expected(fault)
    near = nearest(str(full[-1]), known)
    hint = f"did you mean {near!r}?" if near else ""
    hint = hint or (f"known keys are {', '.join(known)}" if known else "use letters, digits, dots and dashes")
    message = f"{show_path(full[:-1]) or 'the declaration'} cannot have the key {quote(full[-1])}"
    return Problem("spec.unknown-key", message, hint, subject.places.key(*full))


def _expected(fault: _Fault) -> list[str]:
    return re.findall(r"'([^']*)'", str(fault.context.get("expected", "")))


def _wrong_value(subject: Subject, fault: _Fault, *, or_auto: bool) -> tuple[str, str, str]:
    value = _value(subject, fault.path)
    if fault.kind in _WANTED:
        return _wrong_type(value, _WANTED[fault.kind], or_auto=or_auto)
    if fault.kind in _BOUNDS:
        key, words = _BOUNDS[fault.kind]
        return "spec.out-of-range", f"is {quote(value)}; it must be {words} {_show_number(fault.context.get(key))}", ""
    if fault.kind in _SHAPES:
        return _wrong_length(fault)
    if fault.kind == "literal_error":
        known = _expected(fault)
        near = nearest(value, known, 0.5) if isinstance(value, str) else None
        hint = f"did you mean {near!r}?" if near else f"write one of {', '.join(known)}"
        return "spec.wrong-value", f"is {quote(value)}, which is none of {', '.join(known)}", hint
    if fault.kind == "string_pattern_mismatch":
        return "spec.wrong-text", f"is {quote(value)}, which is not of the right form", ""
    return "spec.wrong-value", f"is {quote(value)}: {fault.message[:100]}", ""


def _show_number(value: object) -> str:
    return f"{int(value):,}" if isinstance(value, int | float) and value == int(value) else f"{value}"


def _wrong_type(value: object, wanted: str, *, or_auto: bool) -> tuple[str, str, str]:
    wanted = f"{wanted} or auto" if or_auto else wanted
    hint = ""
    if wanted == "a section of keys" and value is not None:
        return "spec.wrong-type", f"must be {wanted}, not {_kind(value)}", ""
    if value is None:
        return "spec.wrong-type", f"is empty; it must be {wanted}", "give a value, or remove the key"
    if isinstance(value, str) and "number" in wanted and _DIGITS.fullmatch(value):
        hint = "write the number without quotes and with digits only"
    elif isinstance(value, str) and or_auto and nearest(value, ("auto",)):
        hint = "did you mean 'auto'?"
    elif wanted == "text" and isinstance(value, int | float):
        hint = "put it in quotes"
    elif wanted.startswith("true or false"):
        hint = "write true or false, without quotes"
    elif wanted.startswith("a list"):
        hint = "write one item per line, each after a dash"
    return "spec.wrong-type", f"must be {wanted}, not {_kind(value)}", hint


def _kind(value: object) -> str:
    if isinstance(value, dict):
        return "a section of keys"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"the text {quote(value)}" if isinstance(value, str) else f"the number {quote(value)}"


def _wrong_length(fault: _Fault) -> tuple[str, str, str]:
    most, least = fault.context.get("max_length"), fault.context.get("min_length")
    if least == 1:
        return "spec.wrong-length", "must not be empty", ""
    words = f"at most {most}" if fault.kind.endswith("long") else f"at least {least}"
    return "spec.wrong-length", f"must have {words} {_SHAPES[fault.kind]}", ""
