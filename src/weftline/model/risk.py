"""What the declaration says of failures: groups that share one risk, and what a failure may cost."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from weftline.model.section import AUTO, Auto, Name, Section

Pattern = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[A-Za-z0-9._/~*?\[\]!-]+$")]
"""A name of a link, a switch, a host or a port, or a pattern of such names: ``leaf-00[1-4]``, ``leaf-*/33``."""


class RiskSpec(Section):
    """What one accident takes away together: a conduit, a power feed, a line card."""

    name: Name = Field(description="Name of the group, unlike any other.")
    links: tuple[Pattern, ...] = Field(
        default=(),
        max_length=10_000,
        description="Links or ports, as leaf-003/33~spine-01/3, leaf-003/33 or leaf-00[1-4]/33; from either end.",
    )
    switches: tuple[Pattern, ...] = Field(
        default=(), max_length=10_000, description="Switches or hosts that lose all their links, as leaf-00[1-4]."
    )


class RehearsalSection(Section):
    """What a rehearsed failure may cost before the answer is no."""

    max_job_loss: Annotated[float, Field(strict=True, ge=0, le=1)] = Field(
        default=0.1, description="Largest share of its all-reduce that a job may lose, as 0.1."
    )
    max_lost_endpoints: Annotated[int, Field(strict=True, ge=0, le=1_000_000_000)] | Auto = Field(
        default=AUTO,
        description="Endpoints that one failure may cut off; auto: told and not judged.",
    )
    max_leaving_ranks: Annotated[int, Field(strict=True, ge=0, le=1_000_000_000)] | Auto = Field(
        default=AUTO,
        description="Ranks that may have to leave; auto: none where one port, link or switch is asked about, "
        "and told but not judged where all are rehearsed.",
    )
