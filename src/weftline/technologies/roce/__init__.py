"""RoCEv2: pauses on one priority, addresses and routes from a routing protocol."""

from __future__ import annotations

from weftline.model.technology import Design, Granularity, Technology, Transport
from weftline.technologies.roce.addresses import assign
from weftline.technologies.roce.carry import lay_carriage, tell_parameters
from weftline.technologies.roce.intents import list_intents
from weftline.technologies.roce.limits import count_problems
from weftline.technologies.roce.lossless import list_demand
from weftline.technologies.roce.medium import lay_medium
from weftline.technologies.roce.owners import list_owners
from weftline.technologies.roce.pacing import NONE, PACINGS
from weftline.technologies.roce.platform import SYSTEMS, list_needs, list_vendors

NO_STEPS = (
    "its packets change lanes from hop to hop, and no switch changes the priority of a packet by the ports that it "
    "comes in and leaves by"
)
NO_LANES = "a lane would be a priority per destination, and the sender's DSCP says the priority of a packet"

ROCE = Technology(
    name="roce",
    design=Design(
        engines=("ecmp", "weighted-ecmp"),
        not_held={
            **dict.fromkeys(("dragonfly", "dragonfly-adaptive", "dragonfly-plus-adaptive", "torus"), NO_STEPS),
            "layered": NO_LANES,
        },
        routes_to_switches=False,
        count_problems=count_problems,
        assign=assign,
        intents=list_intents,
        vendors=SYSTEMS["sonic"],
        vendors_of=list_vendors,
        owners=list_owners,
        keeps_apart_by_devices=True,
        needs=list_needs,
        lossless=list_demand,
    ),
    transport=Transport(
        message_latency_us=3.1,
        message_latency_source=(
            "default, override with policy.latency_us: 1.3 us from NIC to NIC and three switches of 0.6 us; "
            "figures of the Spectrum-4 class that resellers and users give, no datasheet (2026-01)"
        ),
        medium=lay_medium,
        carriage=lay_carriage,
        parameters=tell_parameters,
        pacings=(*PACINGS, NONE),
    ),
    change=Granularity(
        piece="one prefix of one device",
        addresses=1,
        order="each device takes its prefixes one by one, as its routing protocol hears of them",
        stage="one push of files to the devices that change, until their sessions have settled",
        source="RFC 4271, 9.1; RFC 7938, 5",
    ),
)

__all__ = ["ROCE"]
