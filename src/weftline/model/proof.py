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
class ProofRules:
    """What is required of the routes, and how much work a proof may take."""

    required: tuple[str, ...] = ("reach", "deadlock", "balance")
    """Claims that must be proved; one of these that is unknown counts as no."""
    balance_threshold: float = 1.0
    """Worst load of a directed link: the rate of the flows on it over the rate of the link."""
    max_hops: int = 5
    """Most switches on a path."""
    switches_required: bool = False
    """Whether a switch that is a destination of the tables must be reached from every leaf with endpoints."""
    all_shifts_up_to: int = 4096
    """Endpoints of the largest component up to which every shift is judged."""
    sample_shifts: int = 256
    """Shifts that are judged above that."""
    seed: int = 1
    """Where the sample of shifts starts."""
    max_steps: int = 2_000_000_000
    """Table steps that one claim may take; shifts are sampled, or a claim stays unknown, where it would take more."""


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

    @property
    def bound_text(self) -> str:
        """Write the bound with its name; empty where there is none."""
        if self.bound is None:
            return ""
        number = f"{self.bound:,}" if isinstance(self.bound, int) else f"{self.bound:,.6g}"
        return f"{number} {self.bound_name}"


@dataclass(frozen=True, slots=True)
class ProofReport:
    """All proofs about one set of routes."""

    of: str
    proofs: tuple[Proof, ...]

    @property
    def is_accepted(self) -> bool:
        """Whether every required claim is proved."""
        return all(proof.verdict is Verdict.PROVED for proof in self.proofs if proof.required)
