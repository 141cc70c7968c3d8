"""Rules on tenants: what joins VRFs, watches or lets in too much, without knowing who should be kept apart."""

from __future__ import annotations

from collections.abc import Iterator

from weftline.errors import Place
from weftline.formats.route_target import ANY, AUTO, RouteTarget, derive_target, parse_target
from weftline.lint.edges import is_tenant
from weftline.lint.rule import Hit, LintSource, Rule
from weftline.model.observed import ObservedDevice
from weftline.model.observed_routing import ObservedRouter, ObservedVrf

SHARED = "only services that tenants share may be imported by others than their own VRF"
DEFAULTS = frozenset({"0.0.0.0/0", "::/0", "default"})
NOWHERE = frozenset({"blackhole", "null0", "reject", "unreachable", "discard", "drop"})


def _list_routers(source: LintSource) -> Iterator[tuple[ObservedDevice, ObservedRouter]]:
    for device in source.switches:
        for router in device.routers:
            yield device, router


def _list_targets(device: ObservedDevice, router: ObservedRouter, which: str) -> Iterator[tuple[RouteTarget, Place]]:
    """List the route targets of a VRF as the device acts on them."""
    vni = next((vrf.vni for vrf in device.vrfs if vrf.name == router.vrf and vrf.vni is not None), None)
    for said in router.imports if which == "imports" else router.exports:
        if said.value != AUTO:
            target = parse_target(said.value)
            if target is not None:
                yield target, said.where
        elif vni is not None and router.number is not None:
            yield derive_target(router.number.value, vni.value), said.where
            if which == "imports" and router.ignores_number:
                yield RouteTarget(ANY, vni.value), said.where


def _judge_imports(source: LintSource) -> Iterator[Hit]:
    """Name imports of what VRFs of another name export; a VRF of one name is one tenant's on all switches."""
    exported: dict[int, dict[str, dict[str, str]]] = {}
    own: dict[str, set[RouteTarget]] = {}
    for device, router in _list_routers(source):
        for target, _ in _list_targets(device, router, "exports"):
            vrfs = exported.setdefault(target.number, {}).setdefault(target.admin, {})
            vrfs.setdefault(router.vrf, device.name)
            own.setdefault(router.vrf, set()).add(target)
    for device, router in _list_routers(source):
        for target, where in _list_targets(device, router, "imports"):
            known = exported.get(target.number, {})
            admins = known if target.admin == ANY else {target.admin}
            met = {vrf: at for admin in admins for vrf, at in known.get(admin, {}).items() if vrf != router.vrf}
            for vrf, at in list(met.items())[:1]:
                words = f"VRF {router.vrf} imports {target.admin}:{target.number}, which VRF {vrf} of {at} exports"
                yield Hit(device.name, words, where, SHARED)


def _judge_leaks(source: LintSource) -> Iterator[Hit]:
    right = "no leak between VRFs; share a service by route targets of its own"
    for device, router in _list_routers(source):
        for said in router.imported_vrfs:
            if is_tenant(router.vrf) or is_tenant(said.value):
                yield Hit(device.name, f"VRF {router.vrf} takes over the routes of {said.value}", said.where, right)
        for said in router.leaks:
            yield Hit(device.name, f"VRF {router.vrf} takes over routes: {said.value[:80]}", said.where, right)
    for device, vrf in _list_vrfs(source):
        for said in vrf.static_routes:
            other = said.value.partition(" vrf ")[2]
            if other and other != vrf.name and (is_tenant(vrf.name) or is_tenant(other)):
                words = f"static route {said.value} of VRF {vrf.name} leads into {other}"
                yield Hit(device.name, words, said.where, right)


def _list_vrfs(source: LintSource) -> Iterator[tuple[ObservedDevice, ObservedVrf]]:
    for device in source.switches:
        for vrf in device.vrfs:
            yield device, vrf


def _judge_default(source: LintSource) -> Iterator[Hit]:
    right = "no default route in a tenant's VRF, unless the tenant may leave the fabric"
    for device, vrf in _list_vrfs(source):
        for said in vrf.static_routes if is_tenant(vrf.name) else ():
            prefix, _, rest = said.value.partition(" via ")
            if prefix in DEFAULTS and rest.lower() not in NOWHERE:
                yield Hit(device.name, f"VRF {vrf.name} has a default route: {said.value}", said.where, right)
    for device, router in _list_routers(source):
        if not is_tenant(router.vrf):
            continue
        said = router.originates_default
        if said is not None and said.value:
            yield Hit(device.name, f"VRF {router.vrf} originates a default route", said.where, right)
        for network in router.networks:
            if network.value.partition(" ")[0] in DEFAULTS:
                yield Hit(device.name, f"VRF {router.vrf} announces a default route", network.where, right)


def _judge_tunnel(source: LintSource) -> Iterator[Hit]:
    for device in source.switches:
        own = None if device.tunnel is None else device.tunnel.source
        for port in device.ports if own is not None else ():
            vrf = None if port.vrf is None else port.vrf.value
            if vrf is None or not is_tenant(vrf) or own is None:
                continue
            for said in port.addresses:
                if said.value.partition("/")[0] == own.value.partition("/")[0]:
                    words = (
                        f"the tunnel's own address {own.value} is in VRF {vrf}, whose hosts can send it made-up packets"
                    )
                    yield Hit(device.name, words, said.where, "the end of a tunnel in the default VRF", (port.name,))


def _judge_networks(source: LintSource) -> Iterator[Hit]:
    """Name one VNI of two VRFs, and one VNI of two VLANs of a switch."""
    first: dict[int, tuple[str, str]] = {}
    for device, vrf in _list_vrfs(source):
        if vrf.vni is None:
            continue
        name, at = first.setdefault(vrf.vni.value, (vrf.name, device.name))
        if name != vrf.name:
            words = f"VRF {vrf.name} has VNI {vrf.vni.value}, which is VRF {name} on {at}"
            yield Hit(device.name, words, vrf.vni.where, "a VNI for each VRF alone, the same on all switches")
    for device in source.switches:
        vlans: dict[int, int] = {}
        for vlan, vni in () if device.tunnel is None else device.tunnel.vni_of_vlan:
            if vlans.setdefault(vni.value, vlan) != vlan:
                words = f"VLAN {vlan} has VNI {vni.value}, and so has VLAN {vlans[vni.value]}"
                yield Hit(device.name, words, vni.where, "a VNI for each VLAN")


def _judge_mirrors(source: LintSource) -> Iterator[Hit]:
    """Name sessions that copy packets on switches that have tenants."""
    for device in source.switches:
        if not any(is_tenant(vrf.name) for vrf in device.vrfs):
            continue
        for mirror in device.mirrors:
            ports = ", ".join(said.value for said in mirror.ports[:4]) or "ports that it does not name"
            target = "" if mirror.target is None else f" to {mirror.target.value}"
            words = f"session {mirror.name} ({mirror.kind.value}) copies packets of {ports}{target}"
            yield Hit(device.name, words, mirror.where, "no session that outlives the search for a fault")


RULES = (
    Rule(
        "tenancy.foreign-target", "warning", _judge_imports, "RFC 4364, 4.3: a target decides, not a name", ("TEN-07",)
    ),
    Rule("tenancy.leak", "warning", _judge_leaks, "routes between VRFs of one switch", ("TEN-07",)),
    Rule("tenancy.default-route", "warning", _judge_default, "a way out that all who import the VRF have", ("TEN-07",)),
    Rule("tenancy.tunnel-in-vrf", "critical", _judge_tunnel, "RFC 7348, 7: made-up VXLAN packets", ("TEN-07",)),
    Rule("tenancy.shared-vni", "critical", _judge_networks, "RFC 7348, 4: the VNI alone separates", ("TEN-08",)),
    Rule("tenancy.mirror", "warning", _judge_mirrors, "a session copies packets of tenants, whoever reads them"),
)
