"""Said: a value with the place in a file that says it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from weftline.errors import Place

T = TypeVar("T", covariant=True)  # noqa: PLC0105  (the word for a type here is T)


@dataclass(frozen=True, slots=True)
class Said(Generic[T]):
    """One value and where it stands; what no file says is None in the place of a Said, never a default."""

    value: T
    where: Place
