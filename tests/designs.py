"""Small designs taken to their device files, for the tests of technologies, vendors and rendering."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.fabrics import make_design
from weftline.compile import build_fabric
from weftline.model.addresses import Addresses
from weftline.model.artifact import ArtifactSet
from weftline.model.design import ResolvedSpec
from weftline.model.fabric import Fabric
from weftline.model.intent import DeviceIntent, FactValue
from weftline.model.observed import ObservedConfig
from weftline.model.routes import Routes
from weftline.model.vendor import Vendor
from weftline.render import render
from weftline.route import compute_routes
from weftline.technologies import TECHNOLOGIES
from weftline.vendors import VENDORS


@dataclass(frozen=True)
class Rendered:
    """Everything from a design to its files."""

    design: ResolvedSpec
    fabric: Fabric
    addresses: Addresses
    routes: Routes
    intents: tuple[DeviceIntent, ...]
    vendors: tuple[Vendor, ...]
    artifacts: ArtifactSet

    def text(self, path: str) -> str:
        """Return one file as text."""
        return next(item.content.decode() for item in self.artifacts.artifacts if item.path == path)

    def intent(self, device: str) -> DeviceIntent:
        """Return the intent of one device."""
        return next(item for item in self.intents if item.device == device)


def render_design(technology: str, kind: str = "rail-optimised", *, engine: str = "", **options: Any) -> Rendered:
    """Take a design of ``tests.fabrics.make_design`` to its files."""
    chosen = TECHNOLOGIES[technology].design
    design = make_design(kind, technology=technology, **options)
    fabric = build_fabric(design)
    assert isinstance(fabric, Fabric), fabric
    addresses = chosen.assign(design, fabric)
    paths = 1 << addresses.multipath_bits
    routes = compute_routes(fabric, engine or chosen.engine, to_switches=chosen.routes_to_switches, paths=paths)
    intents = chosen.intents(design, fabric, addresses, routes)
    vendors = tuple(VENDORS[name] for name in chosen.list_vendors(design))
    artifacts = render(intents, vendors, of=routes.digest)
    return Rendered(design, fabric, addresses, routes, intents, vendors, artifacts)


def join_facts(observed: tuple[ObservedConfig, ...]) -> dict[str, dict[str, FactValue]]:
    """Join what several vendors say of each device; two of them that differ fail the test."""
    joined: dict[str, dict[str, FactValue]] = {}
    for config in observed:
        for fact in config.facts:
            assert joined.setdefault(config.device, {}).setdefault(fact.path, fact.value) == fact.value, fact
    return joined
