"""Small fabrics of tenants whose files have, here and there, whatever a shorter way of judging them could miss."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

from tests import tenant_files as make
from weftline.model.isolation import MANAGEMENT, NOBODY, Sharing
from weftline.model.observed import ObservedDevice
from weftline.model.observed_port import ObservedPort
from weftline.model.observed_routing import (
    ObservedFilter,
    ObservedMirror,
    ObservedNeighbour,
    ObservedRouter,
    ObservedRule,
    ObservedTunnel,
    ObservedVrf,
)
from weftline.model.said import Said
from weftline.model.separation import EdgePort, PortRef, SeparationFiles, SwitchLink

OWNERS = ("red", "blue", "store", "red", "blue", NOBODY, MANAGEMENT)
VRFS = ("Vrfred", "Vrfblue")
WIDE = ("0.0.0.0/0", "10.100.0.0/16", "10.100.1.0/30", "10.0.0.0/8", "nowhere")


class Maker:
    """Makes the files of one fabric, each switch in its turn."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.risk = self.rng.choice((0.0, 0.01, 0.03, 0.1))
        """How often each of the rarer things happens."""
        self.ends: list[EdgePort] = []
        self.ups: list[PortRef] = []

    def is_rare(self) -> bool:
        return self.rng.random() < self.risk

    def make(self) -> SeparationFiles:
        """Make leaves, a spine for their cables, and what is wrong with them."""
        leaves = [self.make_leaf(number) for number in range(1, self.rng.randint(1, 3) + 1)]
        spine, links = self.make_spine()
        devices = [*leaves, spine]
        if self.is_rare():
            devices.append(ObservedDevice("host-1", "host", "any", (), ports=(make.make_port("host-1", "eth0"),)))
        sharings = (Sharing("store"), Sharing(MANAGEMENT)) if self.rng.random() < 0.8 else (Sharing(MANAGEMENT),)
        return SeparationFiles(tuple(devices), tuple(self.ends), tuple(links), sharings, "x", "files of a test")

    def make_leaf(self, number: int) -> ObservedDevice:
        """Make a leaf with a few edge ports and one or two cables upwards."""
        name = f"leaf-{number}"
        ports = [make.make_port(name, "Loopback0", self.pick_vrf(None), f"10.0.0.{number}/32")]
        filters: list[ObservedFilter] = []
        shared: list[ObservedRule] = []
        bound: list[Said[str]] = []
        way = self.rng.choice(("shared", "own", "bound"))
        for index in range(self.rng.randint(1, 4)):
            owner = self.rng.choice(OWNERS[: 3 if self.risk < 0.1 else None])
            vrf = self.pick_vrf(VRFS[1] if owner == "blue" else VRFS[0])
            base, subnet = f"Ethernet{index}", f"10.{100 + index}.{number}.{0 if index else 4 * number}/31"
            if self.is_rare():
                subnet = "10.100.1.0/31"
            near = f"{name}/{index + 1}"
            self.ends.append(EdgePort(f"host-{number}-{index}", owner, near, self.lose((name, base))))
            names = frozenset({base, *(("Bond0",) if self.is_rare() else ())})
            rules = self.make_rules(name, index, subnet, names if way == "shared" else frozenset())
            if way == "shared":
                shared += rules
            else:
                said = (make.say(name, "bound", base),) if way == "bound" else ()
                stage: Any = make.say(name, "stage", "out" if self.is_rare() else "in")
                filters.append(ObservedFilter(f"in-{index}", make.place(name, "acl"), stage, said, tuple(rules)))
            bound.append(make.say(name, "acl", "EDGE" if way == "shared" else f"in-{index}"))
            ports += self.make_edge(name, base, vrf, subnet, () if way == "bound" else (bound[-1],))
        if way == "shared" and not self.is_rare():
            self.rng.shuffle(shared)
            rest: Any = make.say(name, "rest", self.rng.choice(("permit", "deny"))) if self.is_rare() else None
            filters.append(ObservedFilter("EDGE", make.place(name, "acl"), rules=tuple(shared), otherwise=rest))
        ups = [self.make_up(name, f"Uplink{index}", number, index) for index in range(self.rng.randint(1, 2))]
        ports += [port for made, _ in ups for port in made]
        spoken = [one for _, made in ups for one in made]
        return self.finish(name, number, ports, spoken, tuple(filters))

    def pick_vrf(self, usual: str | None) -> str | None:
        return self.rng.choice((None, "default", *VRFS)) if self.is_rare() else usual

    def lose(self, port: PortRef) -> PortRef | None:
        if self.is_rare():
            return self.rng.choice((None, ("leaf-9", port[1]), (port[0], "Nowhere0")))
        return port

    def make_rules(self, name: str, index: int, subnet: str, ports: frozenset[str]) -> list[ObservedRule]:
        """Make the rules of one port: what is for tunnels is dropped, the own subnet is let in, the rest is dropped."""
        source = self.rng.choice(("", "10.0.0.0/8", "gibberish", "host 10.100.1.0")) if self.is_rare() else subnet
        unread = ("DSCP",) if self.is_rare() else ()
        target = self.rng.choice(("10.0.0.1", "10.0.0.0/24", "x")) if self.is_rare() else ""
        wanted: list[tuple[Any, dict[str, Any]]] = [
            ("deny", {"protocol": "udp", "target_port": "4789", "target": target}),
            ("permit", {"source": source, "unread": unread}),
            ("deny", {}),
        ]
        if self.is_rare():
            wanted.insert(self.rng.randrange(3), (self.rng.choice(("mirror", "other", "permit")), {}))
        if self.is_rare():
            wanted.pop()
        if self.is_rare():
            ports = self.rng.choice((frozenset[str](), frozenset({"Ethernet0"})))
        return [make.rule(name, 10 * index + at, act, in_ports=ports, **more) for at, (act, more) in enumerate(wanted)]

    def make_edge(
        self, name: str, base: str, vrf: str | None, subnet: str, filters: tuple[Said[str], ...]
    ) -> list[ObservedPort]:
        """Make the port of an endpoint, routed itself, by what is upon it, its bundle or a gateway of its VLAN."""
        more: dict[str, Any] = {"filters_in": filters, "pauses": make.say(name, "pfc", (3,))}
        if self.is_rare():
            more["is_up"] = make.say(name, "up", self.rng.random() < 0.5)
        if self.is_rare():
            more["checks_source"] = make.say(name, "urpf", self.rng.choice(("strict", "loose")))
        if self.is_rare():
            more["trust"] = make.say(name, "trust", "dscp")
        kind = self.rng.choice(("routed", "routed", "routed", "upon", "bundle", "vlan"))
        if kind == "upon":
            above = make.make_port(name, f"{base}.10", vrf, subnet)
            if self.is_rare():
                return [above, replace(make.make_port(name, base, None), **more)]
            return [replace(make.make_port(name, base, None), **more), above]
        if kind == "bundle":
            said = make.say(name, "lag", f"Bond{base[-1]}" if not self.is_rare() else "Bond9")
            return [replace(make.make_port(name, base, None, bundle=said), **more),
                    make.make_port(name, f"Bond{base[-1]}", vrf, subnet)]  # fmt: skip
        if kind == "vlan":
            vlan = 100 + int(base[-1]) if not self.is_rare() else 100
            gate = f"Vlan{vlan}" if self.rng.random() < 0.7 else f"irb.{vlan}"
            routes = None if gate.startswith("Vlan") else make.say(name, "vlan", vlan)
            vlans = make.say_all(name, "member", vlan, *((101,) if self.is_rare() else ()))
            return [replace(make.make_port(name, base, None), vlans=vlans, **more),
                    make.make_port(name, gate, vrf, *((subnet,) if not self.is_rare() else ()), routes_vlan=routes),
                    *((make.make_port(name, "Vlan101", None),) if self.is_rare() else ())]  # fmt: skip
        port = replace(make.make_port(name, base, vrf, *((subnet, "bad") if self.is_rare() else (subnet,))), **more)
        return [port, replace(port, vrf=None)] if self.is_rare() else [port]

    def make_up(
        self, name: str, base: str, number: int, index: int, side: int = 0
    ) -> tuple[list[ObservedPort], list[tuple[str, ObservedNeighbour]]]:
        """Make one end of a cable between switches, with the neighbours beyond it; ``side`` 1 is the spine's."""
        if not side:
            self.ups.append((name, base))
        more: dict[str, Any] = {"pauses": make.say(name, "pfc", (3,))}
        if self.is_rare():
            more["is_up"] = make.say(name, "up", self.rng.random() < 0.3)
        if self.is_rare():
            more["vlans"] = make.say_all(name, "trunk", 100, 101)
        kind = self.rng.choice(("bare", "bare", "numbered", "upon", "bundle")) if self.risk else "bare"
        spoken = [] if self.is_rare() else [("default", self.speak(name, base))]
        port = replace(make.make_port(name, base, self.pick_vrf(None)), **more)
        if kind == "numbered":
            mine, other = (f"10.1.{number}.{2 * index + at}" for at in (side, 1 - side))
            if self.is_rare():
                mine = "10.1.1.0"
            return [replace(port, addresses=make.say_all(name, "ip", f"{mine}/31"))], [
                ("default", self.speak(name, other))
            ]
        if kind == "upon":
            above = make.make_port(name, f"{base}.10", "Vrfred" if self.rng.random() < 0.7 else None)
            if self.rng.random() < 0.5:
                spoken.append((self.rng.choice(("Vrfred", "default")), self.speak(name, above.name)))
            return [port, above], spoken
        if kind == "bundle":
            bond = replace(make.make_port(name, f"Po{index}{number}", self.pick_vrf(None)))
            said = make.say(name, "lag", bond.name)
            return [replace(port, bundle=said), bond], [("default", self.speak(name, bond.name))]
        if self.is_rare():
            spoken.append((self.rng.choice(("default", "Vrfred")), self.speak(name, "192.0.2.1")))
        return [port], spoken

    def speak(self, name: str, other: str) -> ObservedNeighbour:
        """Make a neighbour, with a filter now and then."""
        more = {"filter_in": make.say(name, "map", "SOME")} if self.is_rare() else {}
        families = ("ipv4",) if self.is_rare() else ("ipv4", "evpn")
        return make.make_neighbour(name, other, *families, **more)

    def make_spine(self) -> tuple[ObservedDevice, list[SwitchLink]]:
        """Make a spine with one port for each cable, and the cables."""
        name = "spine-1"
        ports = [make.make_port(name, "Loopback0", None, "10.0.1.1/32")]
        spoken: list[tuple[str, ObservedNeighbour]] = []
        links: list[SwitchLink] = []
        for at, (leaf, base) in enumerate(self.ups):
            near = "Port0" if self.is_rare() else f"Port{at}"
            made, more = self.make_up(name, near, int(leaf[-1]), int(base[-1]), side=1)
            ports += made
            spoken += more
            far = (leaf, base) if not self.is_rare() else (name, near)
            links.append(SwitchLink(f"{leaf}/{base}~{name}/{at}", self.lose(far), self.lose((name, near))))
        self.rng.shuffle(links)
        return self.finish(name, 100, ports, spoken, ()), links

    def finish(
        self,
        name: str,
        number: int,
        ports: list[ObservedPort],
        spoken: list[tuple[str, ObservedNeighbour]],
        filters: tuple[ObservedFilter, ...],
    ) -> ObservedDevice:
        """Put a switch together: its VRFs, routers and tunnel, and what is rare about them."""
        routers: list[ObservedRouter] = []
        vrfs: list[ObservedVrf] = []
        for vrf in ("default", *(VRFS if number < 100 or self.is_rare() else ())):
            vni = 10001 + VRFS.index(vrf) if vrf in VRFS else None
            given = (f"64512:{vni}",) if vni else ()
            routers.append(make.make_router(
                name, "" if vrf == "default" and self.is_rare() else vrf, 65000 + number,
                neighbours=tuple(one for of, one in spoken if of == vrf),
                imports=given if not self.is_rare() else ("64512:10001", "auto", "x"), exports=given,
                imported_vrfs=("Vrfblue",) if self.is_rare() else (), redistributed=("connected",) if vni else (),
                networks=() if not self.is_rare() else (self.rng.choice(WIDE),),
            ))  # fmt: skip
            if vni is not None:
                routes = (f"{self.rng.choice(WIDE)} via 10.9.9.9 vrf Vrfblue",) if self.is_rare() else ()
                said = None if self.is_rare() else make.say(name, "vni", vni)
                vrfs.append(ObservedVrf(vrf, make.place(name, vrf), said, make.say_all(name, "static", *routes)))
        maps = ((100, make.say(name, "map", 5100)), (101, make.say(name, "map", 5101))) if self.is_rare() else ()
        source = None if self.is_rare() else make.say(name, "vtep", f"10.0.0.{number}")
        tunnel = ObservedTunnel(make.place(name, "vtep"), source, vni_of_vlan=maps) if number < 100 else None
        watched = make.say_all(name, "mirror", self.rng.choice((ports[-1].name, "Ethernet0")))
        kind = make.say(name, "kind", "erspan")
        mirrors = (ObservedMirror("spy", make.place(name, "m"), kind, ports=watched),) if self.is_rare() else ()
        return ObservedDevice(
            name, "switch", "any", (f"{name}.conf",), ports=tuple(ports), vrfs=tuple(vrfs), routers=tuple(routers),
            tunnel=tunnel, filters=filters, mirrors=mirrors,
            covers=make.COVERS - ({self.rng.choice(("filters", "pauses"))} if self.is_rare() else set()),
        )  # fmt: skip


def make_altered(seed: int) -> SeparationFiles:
    """Make the files of a fabric; the same number, the same files."""
    return Maker(seed).make()
