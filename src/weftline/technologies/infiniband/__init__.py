"""InfiniBand: credits on every lane, addresses and tables from a subnet manager."""

from __future__ import annotations

from weftline.model.technology import Design, Granularity, Technology, Transport
from weftline.technologies.infiniband.addresses import assign
from weftline.technologies.infiniband.congestion import FILES, NONE, SETS
from weftline.technologies.infiniband.intents import list_intents, list_isolation, list_lanes
from weftline.technologies.infiniband.limits import count_problems
from weftline.technologies.infiniband.managers import seat_managers
from weftline.technologies.infiniband.medium import lay_carriage, lay_medium, tell_parameters
from weftline.technologies.infiniband.owners import list_owners
from weftline.technologies.infiniband.tables import make_table

STEPPING = ("dragonfly", "dragonfly-adaptive", "dragonfly-plus-adaptive", "torus")
"""Engines whose packets change lanes on their way, which takes tables from service level to lane per pair of ports."""

INFINIBAND = Technology(
    name="infiniband",
    design=Design(
        engines=("fat-tree", "updown", "layered", "ecmp", *STEPPING, "dragonfly-plus"),
        shaped={"dragonfly-plus": ("dragonfly-plus",)},
        routes_to_switches=True,
        count_problems=count_problems,
        assign=assign,
        intents=list_intents,
        vendors=("opensm", "opensm-export", "host"),
        owners=list_owners,
        isolate=list_isolation,
        seats=seat_managers,
        table=make_table,
    ),
    transport=Transport(
        message_latency_us=1.9,
        message_latency_source=(
            "default, override with policy.latency_us: 1.3 us from NIC to NIC and three switches of 0.2 us; "
            "figures of the Quantum-2 class that resellers and users give, no datasheet (2026-01)"
        ),
        medium=lay_medium,
        carriage=lay_carriage,
        parameters=tell_parameters,
        intents=list_lanes,
        pacings=(FILES, *SETS, NONE),
    ),
    change=Granularity(
        piece="a block of 64 addresses of one switch",
        addresses=64,
        order="the subnet manager writes the blocks of all switches in an order of its own",
        stage="one file of tables and one sweep of the subnet manager, read back",
        source="IBTA vol 1, 14.2.5.10",
    ),
)

__all__ = ["INFINIBAND"]
