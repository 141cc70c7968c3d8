"""How equal paths are chosen: what is hashed, and a seed per tier, so that the tiers do not choose alike."""

from __future__ import annotations

from weftline.model.design import ResolvedSpec
from weftline.model.intent import HashIntent
from weftline.model.spec import AUTO

FIELDS = ("target-address", "source-address", "protocol", "target-port", "source-port")
"""The UDP source port is what tells the queue pairs of two hosts apart."""
SEEDS = {"leaf": 0, "spine": 10, "core": 25}
"""Those that SONiC gives the roles of these tiers by itself (dockers/docker-orchagent/switch.json.j2)."""


def make_hashing(design: ResolvedSpec, tier: str) -> HashIntent:
    """Make the choice of a tier's switches among equal paths."""
    section = design.spec.roce.hashing
    declared = {"leaf": section.leaf_seed, "spine": section.spine_seed, "core": section.core_seed}[tier]
    return HashIntent(
        fields=FIELDS if section.fields == AUTO else section.fields,
        seed=SEEDS[tier] if isinstance(declared, str) else declared,
        is_adaptive=True if design.spec.roce.adaptive_routing else None,
    )
