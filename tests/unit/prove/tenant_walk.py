"""The slow twin of the proof of separation: packets walked through routing tables that are written out in full."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

from weftline.model.observed import ObservedDevice
from weftline.model.observed_routing import ObservedRouter
from weftline.model.separation import SeparationFiles

Network = ipaddress.IPv4Network
Table = tuple[str, str]
ANYWHERE = ipaddress.IPv4Network("0.0.0.0/0")
ELSEWHERE = ipaddress.IPv4Address("203.0.113.9")
OUT = "out"


@dataclass(frozen=True)
class Route:
    """One line of a routing table."""

    network: Network
    kind: str
    """``here`` (a subnet of a table), ``ask`` (look in a table), ``out``."""
    table: Table
    is_certain: bool


class Walk:
    """All tables of all devices, one route after the other."""

    def __init__(self, files: SeparationFiles) -> None:
        self.devices = {device.name: device for device in files.devices}
        self.tables = [(d.name, vrf) for d in files.devices for vrf in ("default", *(vrf.name for vrf in d.vrfs))]
        self.owners: dict[Table, set[str]] = {table: set() for table in self.tables}
        for end in files.ends:
            assert end.port is not None
            port = next(one for one in self.devices[end.port[0]].ports if one.name == end.port[1])
            self.owners[end.port[0], "default" if port.vrf is None else port.vrf.value].add(end.owner)

    def subnets(self, table: Table) -> list[Network]:
        return [
            ipaddress.IPv4Network(address.value, strict=False)
            for port in self.devices[table[0]].ports
            if ("default" if port.vrf is None else port.vrf.value) == table[1]
            for address in port.addresses
        ]

    def router(self, table: Table) -> ObservedRouter | None:
        return next((one for one in self.devices[table[0]].routers if one.vrf == table[1]), None)

    def statics(self, table: Table) -> list[tuple[Network, str | None]]:
        vrf = next((one for one in self.devices[table[0]].vrfs if one.name == table[1]), None)
        words = [] if vrf is None else [said.value.split() for said in vrf.static_routes]
        return [(ipaddress.IPv4Network(one[0]), one[4] if len(one) > 3 else None) for one in words]

    def own(self, table: Table) -> list[Route]:
        """List what a table has without taking anything from VRFs of its own device."""
        routes = [Route(network, "here", table, True) for network in self.subnets(table)]
        router = self.router(table)
        if router is None:
            return routes
        routes += [Route(ANYWHERE, "out", table, True) for said in router.networks if said.value == "0.0.0.0/0"]
        if any(said.value == "static" for said in router.redistributed):
            routes += self.static_routes(table)
        for other in self.tables:
            routes += self.taken(table, other)
        return routes

    def static_routes(self, table: Table) -> list[Route]:
        routes: list[Route] = []
        for network, vrf in self.statics(table):
            routes += [Route(network, "ask", (table[0], vrf), True)] if vrf else []
            routes += [Route(network, "out", table, True)] if network == ANYWHERE else []
        return routes

    def taken(self, table: Table, other: Table) -> list[Route]:
        """List what a table takes from another by route targets."""
        mine, theirs = self.router(table), self.router(other)
        if mine is None or theirs is None or table == other:
            return []
        if table[0] != other[0] and not (speaks(self.devices[table[0]]) and speaks(self.devices[other[0]])):
            return []
        sure = self.match(table, other)
        if sure is None:
            return []
        given = any(said.value == "connected" for said in theirs.redistributed) or bool(theirs.networks)
        routes = [Route(network, "here", other, sure and given) for network in self.subnets(other)]
        routes += [Route(ipaddress.IPv4Network(said.value), "ask", other, sure) for said in theirs.networks]
        if any(said.value == "static" for said in theirs.redistributed):
            routes += [Route(network, "ask", other, sure) for network, _ in self.statics(other)]
        for said in theirs.imported_vrfs:
            routes.append(Route(ANYWHERE, "ask", (other[0], said.value), False))
        return routes

    def match(self, table: Table, other: Table) -> bool | None:
        """Tell whether a target is taken: certainly, perhaps (False) or not (None)."""
        found: list[bool] = []
        for wanted, sure in self.targets(table, "imports"):
            for given, is_given in self.targets(other, "exports"):
                if wanted == given or (wanted.startswith("*:") and wanted[2:] == given.partition(":")[2]):
                    found.append(sure and is_given)
        return any(found) if found else None

    def targets(self, table: Table, which: str) -> list[tuple[str, bool]]:
        router = self.router(table)
        assert router is not None
        vni = next((one.vni for one in self.devices[table[0]].vrfs if one.name == table[1]), None)
        assert router.number is not None
        found: list[tuple[str, bool]] = []
        said = [one.value for one in getattr(router, which)]
        derive = "auto" in said or (not said and vni is not None)
        found += [(one, True) for one in said if one != "auto"]
        if derive and vni is not None:
            is_said = "auto" in said
            found.append((f"{router.number.value % 65536}:{vni.value}", is_said or router.ignores_number is True))
            if which == "imports" and router.ignores_number is not False:
                found.append((f"*:{vni.value}", router.ignores_number is True))
        return found

    def look(self, table: Table) -> list[Route]:
        """List everything by which a packet that arrives at a table may go on."""
        routes = [*self.own(table), *self.static_routes(table)]
        router = self.router(table)
        for said in () if router is None else router.imported_vrfs:
            other = (table[0], said.value)
            routes += self.own(other)
            routes.append(Route(ANYWHERE, "ask", other, False))
        return routes

    def arrive(self, start: Table, address: ipaddress.IPv4Address, *, is_certain: bool) -> set[tuple[str, Table]]:
        """Walk packets to one address by every route that holds it."""
        todo, seen = [start], {start}
        arrived: set[tuple[str, Table]] = set()
        while todo:
            for route in self.look(todo.pop()):
                if address not in route.network or (is_certain and not route.is_certain):
                    continue
                if route.kind != "ask":
                    arrived.add((route.kind, route.table))
                elif route.table not in seen:
                    seen.add(route.table)
                    todo.append(route.table)
        return arrived

    def meetings(self, *, is_certain: bool) -> set[tuple[str, str]]:
        """Find who reaches whom: each owner's tables, and every address that anybody has."""
        found: set[tuple[str, str]] = set()
        addresses = {(address, table) for table in self.tables for net in self.subnets(table) for address in net}
        for start in self.tables:
            for owner in self.owners[start]:
                for address, home in addresses:
                    for kind, table in self.arrive(start, address, is_certain=is_certain):
                        if kind == "here" and table == home:
                            found |= {(owner, other) for other in self.owners[home]}
                            found |= {(owner, "underlay")} if home[1] == "default" else set()
                if any(kind == OUT for kind, _ in self.arrive(start, ELSEWHERE, is_certain=is_certain)):
                    found.add((owner, OUT))
        return found


def speaks(device: ObservedDevice) -> bool:
    """Tell whether a device speaks EVPN."""
    return any(
        family.value == "evpn" for router in device.routers for one in router.neighbours for family in one.families
    )
