"""What every section of the declaration is made of: bounded values, names, and no unknown keys."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

AUTO: Final = "auto"
MAX_HOSTS: Final = 1_000_000
Auto = Literal["auto"]
Count = Annotated[int, Field(strict=True, ge=1, le=MAX_HOSTS)]
Expected = Annotated[int, Field(strict=True, ge=0, le=1_000_000_000)]
Flag = Annotated[bool, Field(strict=True)]
Name = Annotated[str, Field(min_length=1, max_length=63, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
PartName = Annotated[str, Field(min_length=1, max_length=63, pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]*$")]
Line = Annotated[str, Field(max_length=300, pattern=r"^[^\x00-\x1f\x7f]*$")]


def _as_text(value: object) -> object:
    """Let a person write one host as a plain number."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


EndpointName = Annotated[str, Field(min_length=3, max_length=80, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*/[a-z0-9]+$")]
"""A port of a host or of an extra endpoint: ``host-0001/nic1`` or ``mgmt-1/1``."""
RelativePath = Annotated[str, Field(min_length=1, max_length=1024)]
"""Path of a file, relative to the declaration."""
HostRanges = Annotated[str, BeforeValidator(_as_text, json_schema_input_type=str | int), Field(max_length=4000)]
"""Hosts counted from 1: ``all``, ``17``, ``1-32`` or ``1-8,17``."""


class Section(BaseModel):
    """A section of the declaration: frozen, and no unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True, allow_inf_nan=False)
