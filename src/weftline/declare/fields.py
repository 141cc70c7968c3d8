"""What the models know of a key path: the keys beside it, and what each means."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from types import UnionType
from typing import Annotated, Any, TypeAlias, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from weftline.declare.tree import KeyPath

Model: TypeAlias = type[BaseModel]
MAX_COMPARED = 60
"""Characters of a word that nearest-word search looks at."""


def known_keys(model: Model, path: KeyPath) -> tuple[str, ...]:
    """List the keys that may stand in the section at a path; empty where any key may."""
    annotation = _annotation_at(model, path)
    return tuple(annotation.model_fields) if _is_model(annotation) else ()


def description(model: Model, path: KeyPath) -> str:
    """Say what the key at a path means; empty where nothing is known."""
    parent = _annotation_at(model, path[:-1])
    field = parent.model_fields.get(str(path[-1])) if path and _is_model(parent) else None
    return (field.description or "") if field else ""


def nearest(word: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """Find the known word that is most like a misspelt one; case does not count."""
    by_fold = {name.casefold(): name for name in known}
    found = difflib.get_close_matches(word[:MAX_COMPARED].casefold(), by_fold, n=1, cutoff=cutoff)
    return by_fold[found[0]] if found else None


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _annotation_at(model: Model, path: KeyPath) -> Any:
    annotation: Any = model
    for step in path:
        annotation = _step(annotation, step)
    return annotation


def _step(annotation: Any, step: str | int) -> Any:
    if _is_model(annotation):
        field: FieldInfo | None = annotation.model_fields.get(str(step))
        return _bare(field.annotation) if field else None
    arguments = get_args(annotation)
    origin = get_origin(annotation)
    if origin is dict:
        return _bare(arguments[1])
    return _bare(arguments[0]) if origin is tuple else None


def _bare(annotation: Any) -> Any:
    """Take off ``Annotated`` and ``| None``."""
    if get_origin(annotation) is Annotated:
        return _bare(get_args(annotation)[0])
    if get_origin(annotation) in {Union, UnionType}:
        return _bare(get_args(annotation)[0])
    return annotation
