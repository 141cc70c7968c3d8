"""A design: the declaration with every ``auto`` resolved, so that later stages decide nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from weftline.errors import Place
from weftline.model.headroom_table import ProfileRow
from weftline.model.inventory import InventoryRow
from weftline.model.parts import AsicPart, CablePart, HostPart, NicPart, SwitchPart
from weftline.model.spec import FabricSpec


@dataclass(frozen=True, slots=True)
class TierPart:
    """The switch of one tier, run at one port rate."""

    name: str
    part: SwitchPart
    ports: int
    rate_gbps: float
    per_cage: int
    chip: AsicPart | None = None
    """What is known of its switching chip."""


@dataclass(frozen=True, slots=True)
class RunPart:
    """The cable of one pair of tiers."""

    name: str
    part: CablePart | None
    """None where the user named a cable that no catalogue knows figures of."""
    links: int
    length_m: float


@dataclass(frozen=True, slots=True)
class ResolvedSpec:
    """The declaration and what its ``auto`` values mean; made by ``declare.resolve_spec``."""

    spec: FabricSpec
    digest: str
    """SHA-256 of the canonical declaration and the parts that it uses."""
    host_name: str
    host: HostPart
    nic: NicPart
    gpus: int
    rails: int
    rate_gbps: float
    unit_size: int
    leaf: TierPart
    spine: TierPart
    core: TierPart
    host_leaf: RunPart
    leaf_spine: RunPart
    spine_core: RunPart
    tenant_hosts: tuple[tuple[int, ...], ...]
    """Host indices (from 0) of each tenant."""
    job_hosts: tuple[tuple[int, ...], ...]
    """Host indices (from 0) of each job."""
    cabling_path: str | None
    leaf_leaf: RunPart | None = None
    """Inside a group of a dragonfly, or between neighbours of a torus; None in other kinds."""
    between_groups: RunPart | None = None
    """Between groups; None in kinds without."""
    leaf_down_ports: int | None = None
    """Ports of a leaf if all ran at the NIC's rate; None where switches have one rate for all."""
    inventory: tuple[InventoryRow, ...] | None = None
    """Real ids of devices; None where there are placeholders."""
    headroom_rows: tuple[ProfileRow, ...] | None = None
    """The declared headroom table of the platform; None where none is declared."""
    places: Mapping[str, Place] = field(default_factory=lambda: MappingProxyType({}), compare=False, repr=False)
    """Where each value of the declaration stands, by key path, as ``topology.leaf`` or ``jobs[0].name``."""

    @property
    def has_split_ports(self) -> bool:
        """Tell whether NICs share ports of a leaf that run faster between switches."""
        return self.leaf_down_ports not in {None, self.leaf.ports}

    @property
    def leaf_runs(self) -> Mapping[str, RunPart]:
        """Give the runs that a leaf's ports may have, by the key of ``cables``."""
        runs = {"host_leaf": self.host_leaf, "leaf_spine": self.leaf_spine}
        return {**runs, **self._direct_runs}

    @property
    def switch_runs(self) -> Mapping[str, RunPart]:
        """Give the runs between switches that touch a leaf or a spine of its own pod or group."""
        return {"leaf_spine": self.leaf_spine, **self._direct_runs}

    @property
    def _direct_runs(self) -> Mapping[str, RunPart]:
        runs = {"leaf_leaf": self.leaf_leaf, "between_groups": self.between_groups}
        return {key: run for key, run in runs.items() if run is not None}
