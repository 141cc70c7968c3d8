"""Announcing: the route targets that each table takes and gives, and the prefixes that lead to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from weftline.admit.prefix import Prefix, is_default, parse_prefix
from weftline.errors import Place
from weftline.formats.route_target import ANY, AUTO, RouteTarget, derive_target, parse_target
from weftline.model.observed_routing import ObservedRouter
from weftline.model.said import Said
from weftline.prove.tenancy.ground import DeviceGround, Step, Table, call_vrf

NOWHERE = frozenset({"blackhole", "null0", "null", "reject", "unreachable", "prohibit", "discard", "drop"})
KNOWN_SOURCES = frozenset({"connected", "direct", "static", "bgp", "attached-host"})


@dataclass(frozen=True, slots=True)
class Exchange:
    """A route target that a table takes or gives."""

    target: RouteTarget
    is_certain: bool
    step: Step


@dataclass(frozen=True, slots=True)
class Lead:
    """A prefix that leads somewhere else than to the interfaces of its table."""

    prefix: Prefix
    via: str
    vrf: str | None
    """The other VRF that a static route names."""
    is_given: bool | None
    """Whether it is announced to others; None where that hangs on a route map."""
    step: Step

    @property
    def is_default(self) -> bool:
        """Whether it leads everywhere."""
        return is_default(self.prefix)


@dataclass(frozen=True, slots=True)
class TableRoutes:
    """What one table takes, gives and knows besides its interfaces."""

    imports: tuple[Exchange, ...]
    exports: tuple[Exchange, ...]
    leads: tuple[Lead, ...]
    """Static routes, those to nowhere left out."""
    announced: tuple[Lead, ...]
    """Prefixes that are announced whether or not an interface has them."""
    gives_subnets: bool
    """Whether the subnets of its interfaces are certainly announced."""
    doubts: tuple[str, ...]


def read_routes(ground: DeviceGround, table: Table) -> TableRoutes:
    """Read what one table of a device takes and gives."""
    routers = ground.routers.get(table[1], [])
    doubts: list[str] = []
    exchange = _Reader(ground, table, doubts)
    imports = [one for router in routers for one in exchange.read(router, router.imports, is_import=True)]
    exports = [one for router in routers for one in exchange.read(router, router.exports, is_import=False)]
    sources = [said for router in routers for said in router.redistributed]
    doubts.extend(
        f"{_name(table)} announces routes of '{said.value}', which no file lists"
        for said in sources
        if said.value.partition(" ")[0] not in KNOWN_SOURCES
    )
    networks = [said for router in routers for said in router.networks]
    announced = [lead for said in networks for lead in _announce(table, said, doubts)]
    for router in routers:
        if router.originates_default is not None and router.originates_default.value:
            step = Step(f"{_name(table)} originates a default route", router.originates_default.where)
            announced.append(Lead((4, 0, (1 << 32) - 1), "", None, is_given=True, step=step))
    leads = tuple(_read_statics(ground, table, _find_source(sources, "static"), doubts))
    gives = any(_find_source(sources, kind) for kind in ("connected", "direct")) or bool(networks)
    return TableRoutes(
        tuple(imports), tuple(exports), leads, tuple(announced), gives or _has_host_routes(ground, table), tuple(doubts)
    )


def _name(table: Table) -> str:
    return f"{call_vrf(table[1])} of {table[0]}"


def _find_source(sources: list[Said[str]], kind: str) -> bool | None:
    """Tell whether routes of a kind are announced: all, or None where a route map sifts them, or none."""
    found = [said.value for said in sources if said.value.partition(" ")[0] == kind]
    if not found:
        return False
    return None if all(" via " in value for value in found) else True


def _has_host_routes(ground: DeviceGround, table: Table) -> bool:
    """Tell whether the addresses of hosts are announced one by one: its VLANs are stretched (route type 2)."""
    tunnel = ground.device.tunnel
    stretched = () if tunnel is None else tuple(vlan for vlan, _ in tunnel.vni_of_vlan)
    return any(
        gateway.table == table and gateway.subnets for vlan in stretched for gateway in ground.gateways.get(vlan, ())
    )


def _announce(table: Table, said: Said[str], doubts: list[str]) -> Iterator[Lead]:
    prefix = parse_prefix(said.value.partition(" ")[0])
    if prefix is None:
        doubts.append(f"{_name(table)} announces '{said.value}', which is no prefix")
    else:
        step = Step(f"{_name(table)} announces {said.value}", said.where)
        yield Lead(prefix, "", None, is_given=True, step=step)


def _read_statics(ground: DeviceGround, table: Table, is_given: bool | None, doubts: list[str]) -> Iterator[Lead]:  # noqa: FBT001
    vrf = ground.vrfs.get(table[1])
    for said in () if vrf is None else vrf.static_routes:
        words = said.value.split()
        prefix = parse_prefix(words[0]) if words else None
        other = words[words.index("vrf") + 1 : words.index("vrf") + 2] if "vrf" in words else []
        if prefix is None or words[1:2] != ["via"] or len(words) not in {3, 5} or (len(words) == 5 and not other):
            doubts.append(f"{_name(table)} has a static route that nobody here understands: {said.value[:80]}")
            continue
        if words[2].lower() in NOWHERE:
            continue
        step = Step(f"{_name(table)} has the static route {said.value}", said.where)
        yield Lead(prefix, words[2], other[0] if other else None, is_given, step)


class _Reader:
    """Reads the route targets of one table."""

    def __init__(self, ground: DeviceGround, table: Table, doubts: list[str]) -> None:
        self.table = table
        self.doubts = doubts
        vrf = ground.vrfs.get(table[1])
        self.vni = None if vrf is None else vrf.vni
        main = next((one.number for one in ground.routers.get("default", ()) if one.number is not None), None)
        self.main_number = main

    def read(self, router: ObservedRouter, targets: tuple[Said[str], ...], *, is_import: bool) -> Iterator[Exchange]:
        """Read what is said, or what devices derive where nothing is."""
        verb = "imports" if is_import else "exports"
        if not targets and self.vni is not None:
            # FRR derives targets for each VRF with a VNI where none is given; others exchange nothing then.
            yield from self._derive(router, verb, router.where, is_certain=router.ignores_number is True)
        for said in targets:
            if said.value == AUTO:
                yield from self._derive(router, verb, said.where, is_certain=True)
                continue
            target = parse_target(said.value)
            if target is None:
                self.doubts.append(f"{_name(self.table)} {verb} '{said.value[:40]}', which is no route target")
            else:
                yield Exchange(
                    target, is_certain=True, step=Step(f"{_name(self.table)} {verb} {said.value}", said.where)
                )

    def _derive(self, router: ObservedRouter, verb: str, where: Place, *, is_certain: bool) -> Iterator[Exchange]:
        number = router.number or self.main_number
        if self.vni is None:
            self.doubts.append(f"{_name(self.table)} derives a route target from a VNI, and has none")
            return
        vni = self.vni.value
        if number is None:
            self.doubts.append(f"{_name(self.table)} derives a route target from a number that no file says")
        else:
            target = derive_target(number.value, vni)
            words = f"{_name(self.table)} {verb} {target.admin}:{target.number}, derived from {number.value} and {vni}"
            yield Exchange(target, is_certain, Step(words, where))
        if verb == "imports" and router.ignores_number is not False:
            words = f"{_name(self.table)} imports any route target with VNI {vni}, whatever its number"
            yield Exchange(RouteTarget(ANY, vni), is_certain and router.ignores_number is True, Step(words, where))
