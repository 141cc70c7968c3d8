"""Claims and proofs: a verdict with the witness or certificate behind it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from weftline.kernels.column import Array


class Verdict(StrEnum):
    """What a proof found; a required claim that is unknown counts as no."""

    PROVED = "proved"
    REFUTED = "refuted"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Witness:
    """One counterexample that can be replayed: for a loop or a deadlock the channels, for a lost pair its ends."""

    kind: str
    summary: str
    detail: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Values that JSON can carry, with names as people say them (``leaf-003/33~spine-01/3``)."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """Columns with which a small program checks a proof without redoing the search."""

    kind: str
    statement: str
    columns: Mapping[str, Array] = field(default_factory=dict[str, Array])
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Proof:
    """The verdict on one claim about one fabric and its routes."""

    claim: str
    required: bool
    verdict: Verdict
    statement: str
    """What exactly was judged, in one sentence, with the assumption it rests on."""
    of: str
    """Digest of the routes."""
    bound: float | int | None = None
    bound_name: str = ""
    witness: Witness | None = None
    certificate: Certificate | None = None
    detail: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class ProofReport:
    """All proofs about one set of routes."""

    of: str
    proofs: tuple[Proof, ...]

    @property
    def is_accepted(self) -> bool:
        """Whether every required claim is proved."""
        return all(proof.verdict is Verdict.PROVED for proof in self.proofs if proof.required)
