"""Tenancies that platforms with one filter per port, and one routing number per switch, can carry."""

from __future__ import annotations

from dataclasses import replace

from weftline.model.intent import DeviceIntent
from weftline.model.tenancy import FilterIntent, TenancyIntent


def fit_tenants(intent: DeviceIntent, *, one_number: bool) -> DeviceIntent:
    """Make of a switch one whose tenancy such a platform can carry; without neighbours nobody's routes pass it.

    It tells no bandwidths either.
    """
    assert intent.forwarding is not None
    exchange = intent.forwarding.exchange
    assert exchange is not None
    passes = exchange.carries_tenants if any(port.neighbour_number is not None for port in intent.ports) else None
    return replace(
        intent,
        ports=tuple(replace(port, told_units=None) for port in intent.ports),
        forwarding=replace(intent.forwarding, exchange=replace(exchange, carries_tenants=passes)),
        tenancy=share_ports(intent.tenancy, exchange.number if one_number else None),
    )


def share_ports(tenancy: TenancyIntent | None, number: int | None = None) -> TenancyIntent | None:
    """Give each port to the first filter that names it, in order, and each VRF the number where one is given."""
    if tenancy is None:
        return None
    taken: set[int] = set()
    filters: list[FilterIntent] = []
    for one in tenancy.filters:
        ports = tuple(sorted(set(one.ports) - taken))
        taken.update(ports)
        if ports:
            filters.append(replace(one, ports=ports))
    # Without a target of its own a VRF would derive one, so there is always one to say.
    own = ("64512:1",)
    vrfs = tuple(
        replace(vrf, number=number or vrf.number, imports=vrf.imports or own, exports=vrf.exports or own)
        for vrf in tenancy.vrfs
    )
    return replace(tenancy, filters=tuple(filters), vrfs=vrfs)
