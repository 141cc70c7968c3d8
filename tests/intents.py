"""Strategies for intents that no fabric made: whatever is valid by construction."""

from __future__ import annotations

import ipaddress
from dataclasses import replace
from typing import Any, get_args

import numpy as np
from hypothesis import strategies as st

from weftline.formats.eui import format_guid
from weftline.kernels.column import NIL
from weftline.model.buffers import BufferIntent, GroupBufferIntent, PoolIntent, ShareIntent
from weftline.model.intent import (
    NO_PORT,
    ClassIntent,
    DeviceIntent,
    EndpointKey,
    ForwardingIntent,
    ForwardingTable,
    HashIntent,
    HostIntent,
    IsolationIntent,
    KeyIntent,
    NicIntent,
    PartitionIntent,
    PlatformIntent,
    PortIntent,
    QueueIntent,
    RoutingIntent,
    SettingIntent,
    WatchdogIntent,
)
from weftline.model.levels import (
    DEFAULT_LEVEL,
    LEVELS,
    MAX_LANES,
    NO_LANE,
    GroupIntent,
    LevelIntent,
    MatchIntent,
    ServiceIntent,
    WeightIntent,
)
from weftline.model.roce import HashField
from weftline.model.seats import ManagerIntent, SeatIntent
from weftline.model.tenancy import FilterIntent, TenancyIntent, VrfIntent

names = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,20}", fullmatch=True)
peers = st.from_regex(r"(leaf|spine|host)-[0-9]{1,4}/(nic)?[0-9]{1,3}(p[12])?", fullmatch=True)
guids = st.integers(1, 2**64 - 1).map(format_guid)
priorities = st.lists(st.integers(0, 7), min_size=1, max_size=8, unique=True).map(lambda p: tuple(sorted(p)))
rates = st.sampled_from([25.0, 100.0, 200.0, 400.0, 800.0, 53.125])
hosts_of_ipv4 = st.integers(1, 2**32 - 1).map(lambda value: str(ipaddress.IPv4Address(value)))


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Say it or not."""
    return st.none() | strategy


@st.composite
def tables(draw: st.DrawFn) -> ForwardingTable:
    """Draw forwarding tables with holes."""
    rows = draw(st.integers(1, 4))
    address = sorted(draw(st.sets(st.integers(1, 0xBFFF), min_size=1, max_size=12)))
    port = draw(
        st.lists(
            st.sampled_from([0, 1, 7, 40, 254, NO_PORT]), min_size=rows * len(address), max_size=rows * len(address)
        )
    )
    return ForwardingTable(
        switch_id=np.array(
            draw(st.lists(st.integers(1, 2**64 - 1), min_size=rows, max_size=rows, unique=True)), dtype=np.uint64
        ),
        switch_name=tuple(draw(names) for _ in range(rows)),
        switch_address=np.array([draw(st.integers(1, 0xBFFF)) for _ in range(rows)], dtype=np.int64),
        address=np.array(address, dtype=np.int64),
        port=np.array(port, dtype=np.uint8).reshape(rows, len(address)),
    )


@st.composite
def services(draw: st.DrawFn, ids: list[str]) -> ServiceIntent:
    """Draw service levels, with or without matches."""
    lanes = draw(st.integers(1, MAX_LANES))
    weight = st.integers(0, 255)
    levels = draw(st.lists(names.filter(lambda name: name != DEFAULT_LEVEL), max_size=3, unique=True))
    groups = draw(st.lists(names, max_size=3, unique=True))
    level, group = st.sampled_from([DEFAULT_LEVEL, *levels]), maybe(st.sampled_from(groups)) if groups else st.none()
    count = draw(st.integers(0, 3)) if levels else 0
    return ServiceIntent(
        lanes=lanes,
        lane_of_level=tuple(draw(st.sampled_from([*range(lanes), NO_LANE])) for _ in range(LEVELS)),
        high_limit=draw(weight),
        weights=tuple(WeightIntent(lane, draw(weight), draw(weight)) for lane in range(lanes)),
        levels=tuple(LevelIntent(name, draw(st.integers(0, 15))) for name in [DEFAULT_LEVEL, *levels])
        if levels
        else (),
        groups=tuple(
            GroupIntent(name, tuple(sorted(draw(st.sets(st.sampled_from(ids), min_size=1))))) for name in groups
        )
        if levels
        else (),
        matches=tuple(
            MatchIntent(place + 1, draw(level), draw(group), draw(group), draw(maybe(st.integers(1, 0x7FFF))))
            for place in range(count)
        ),
    )


@st.composite
def manager_options(draw: st.DrawFn, ids: list[str]) -> ManagerIntent:
    """Draw how managers work, with keys or without."""
    seats = draw(st.lists(st.sampled_from(ids), min_size=1, max_size=3, unique=True))
    secrets = tuple(sorted(draw(st.sets(st.sampled_from(["m_key", "sa_key", "sm_key"])))))
    has_key = "m_key" in secrets
    return ManagerIntent(
        sweep_interval_s=draw(st.integers(1, 65_535)),
        seats=tuple(SeatIntent(guid, draw(peers), draw(st.integers(0, 15))) for guid in seats),
        secrets=secrets,
        lease_s=draw(st.integers(0, 65_535)) if has_key else None,
        protection=draw(st.integers(0, 3)) if has_key else None,
    )


@st.composite
def managers(draw: st.DrawFn) -> DeviceIntent:
    """Draw a subnet manager."""
    ids = draw(st.lists(guids, min_size=1, max_size=30, unique=True))
    keys = [draw(st.integers(1, 0x7FFE)) for _ in range(3)]
    partitions = [
        PartitionIntent(
            key=key,
            name=draw(names),
            is_first=draw(st.booleans()),
            full=tuple(sorted(draw(st.sets(st.sampled_from(ids), min_size=1)))),
            limited=tuple(sorted(draw(st.sets(st.sampled_from(ids))))),
            both=tuple(sorted(draw(st.sets(st.sampled_from(ids))))),
            is_first_of_limited=False,
        )
        for key in sorted(set(keys))
    ]
    endpoints: list[EndpointKey] = []
    for guid in ids:
        first = draw(st.integers(1, 0xBFF0))
        endpoints.append(EndpointKey(guid, draw(peers), first, first + draw(st.integers(0, 7))))
    return DeviceIntent(
        device="subnet-1",
        role="manager",
        plane=0,
        tier="",
        fabric=draw(names),
        forwarding=ForwardingIntent(table=draw(tables())),
        service=draw(maybe(services(ids))),
        isolation=IsolationIntent(
            draw(st.sampled_from([0x7FFF, 0x7FFE])),
            draw(st.sampled_from(["full", "limited"])),
            draw(st.sampled_from(["both", "in", "out", "off"])),
            tuple(partitions),
            tuple(sorted(draw(st.sets(st.sampled_from(ids), max_size=4)))),
            draw(st.booleans()),
        ),
        manager=draw(maybe(manager_options(ids))),
        keys=KeyIntent(draw(st.integers(0, 7)), tuple(sorted(draw(st.sets(st.sampled_from(ids))))), tuple(endpoints)),
    )


sizes = st.integers(0, 2**40)
thresholds = st.integers(-8, 7)
buffer_names = st.from_regex(r"[a-z][a-z_]{0,15}", fullmatch=True)


@st.composite
def buffers(draw: st.DrawFn) -> BufferIntent:
    """Draw pools and shares."""
    pools = draw(st.lists(buffer_names, min_size=1, max_size=3, unique=True))
    return BufferIntent(
        model=draw(st.sampled_from(["dynamic", "traditional"])),
        pools=tuple(
            PoolIntent(
                name,
                draw(st.sampled_from(["ingress", "egress"])),
                draw(st.sampled_from(["dynamic", "static"])),
                draw(maybe(sizes)),
                draw(maybe(sizes)),
            )
            for name in pools
        ),
        shares=tuple(
            ShareIntent(name, draw(st.sampled_from(pools)), draw(sizes), draw(maybe(thresholds)), draw(maybe(sizes)))
            for name in draw(st.lists(buffer_names, min_size=1, max_size=3, unique=True))
        ),
        over_subscribe_ratio=draw(maybe(st.integers(0, 255))),
        lossless_mtu=draw(maybe(st.integers(64, 9216))),
        small_packet_percent=draw(maybe(st.integers(0, 100))),
        dynamic_th=draw(maybe(thresholds)),
    )


@st.composite
def groups(draw: st.DrawFn, wanted: BufferIntent) -> tuple[GroupBufferIntent, ...]:
    """Draw the groups of a port: computed, sharing, or with headroom in bytes."""
    found: list[GroupBufferIntent] = []
    for key in sorted(draw(st.sets(st.integers(0, 7), max_size=4))):
        kind = draw(st.sampled_from(["computed", "share", "headroom"]))
        if kind == "computed":
            found.append(GroupBufferIntent(key, is_computed=True))
        elif kind == "share":
            found.append(GroupBufferIntent(key, share=draw(st.sampled_from(wanted.shares)).key))
        else:
            found.append(
                GroupBufferIntent(
                    key,
                    pool=draw(st.sampled_from(wanted.pools)).key,
                    size_bytes=draw(sizes),
                    xon_bytes=draw(sizes),
                    xon_offset_bytes=draw(maybe(sizes)),
                    xoff_bytes=draw(sizes),
                    dynamic_th=draw(maybe(thresholds)),
                )
            )
    return tuple(found)


@st.composite
def queues(draw: st.DrawFn, wanted: BufferIntent | None = None) -> QueueIntent:
    """Draw classes that share no DSCP, queue or priority."""
    count = draw(st.integers(1, 8))
    numbers = [draw(st.permutations(range(8)))[:count] for _ in range(2)]
    home = draw(st.lists(st.integers(0, count - 1), min_size=64, max_size=64))
    members: dict[int, list[int]] = {}
    for dscp, place in enumerate(home):
        members.setdefault(place, []).append(dscp)
    used = sorted(members)
    pausing = draw(st.sets(st.sampled_from(used), max_size=3))
    priority_of = dict(zip(sorted(pausing), draw(st.permutations(range(8))), strict=False))
    shares = st.none() if wanted is None else maybe(st.sampled_from([one.key for one in wanted.shares]))
    classes = [
        ClassIntent(
            key=numbers[0][place],
            dscps=tuple(members[place]),
            group=draw(st.integers(0, 7)),
            queue=numbers[1][place],
            schedule="strict" if (strict := draw(st.booleans())) else "weighted",
            priority=priority_of.get(place),
            weight=None if strict else draw(st.integers(1, 100)),
            mark_min_bytes=(low := draw(maybe(st.integers(0, 2**30)))),
            mark_max_bytes=None if low is None else draw(st.integers(0, 2**40)),
            mark_percent=None if low is None else draw(st.integers(0, 100)),
            share=draw(shares),
            name=draw(names),
        )
        for place in used
    ]
    watchdog = WatchdogIntent(
        draw(st.integers(100, 5000)),
        draw(st.integers(100, 60000)),
        draw(st.integers(100, 1000)),
        draw(st.sampled_from(["drop", "forward", "alert"])),
    )
    return QueueIntent(tuple(sorted(classes, key=lambda item: item.key)), watchdog)


vrf_names = st.from_regex(r"Vrf[A-Za-z0-9_-]{1,12}", fullmatch=True)
route_targets = st.builds("{}:{}".format, st.integers(1, 65_535), st.integers(0, 2**32 - 1))
networks = st.integers(0, 2**31 - 1).map(lambda value: str(ipaddress.IPv4Network((2 * value, 31))))


@st.composite
def tenancies(draw: st.DrawFn, numbers: list[int]) -> TenancyIntent:
    """Draw VRFs with networks of their own, and filters; at least one filter drops something."""
    names = draw(st.lists(vrf_names, min_size=1, max_size=3, unique=True))
    vnis = draw(st.lists(st.integers(1, 0xFFFFFF), min_size=3, max_size=3, unique=True))
    vlans = draw(st.lists(st.integers(2, 4094), min_size=3, max_size=3, unique=True))
    few = st.lists(route_targets, max_size=3, unique=True).map(lambda found: tuple(sorted(found)))
    left = draw(st.permutations(numbers))
    return TenancyIntent(
        vrfs=tuple(
            VrfIntent(
                key=name,
                number=draw(st.integers(1, 2**32 - 1)),
                rd=draw(maybe(st.builds("{}:{}".format, hosts_of_ipv4, st.integers(0, 65_535)))),
                imports=draw(few),
                exports=draw(few),
                vni=vnis[place],
                vlan=vlans[place],
            )
            for place, name in enumerate(names)
        ),
        tunnel_source=draw(maybe(hosts_of_ipv4)),
        filters=tuple(
            FilterIntent(
                f"SRC_{name}",
                tuple(ports),
                tuple(draw(st.lists(networks, min_size=1, max_size=4, unique=True))),
                draw(maybe(st.integers(1, 65_535))),
            )
            for place, name in enumerate(draw(st.just([]) | st.just(names)))
            if (ports := left[place :: len(names)])  # a port is in one filter, as it is in one VRF
        ),
    )


@st.composite
def switches(draw: st.DrawFn) -> DeviceIntent:
    """Draw a switch that routes and pauses."""
    divided = draw(maybe(buffers()))
    wanted = draw(queues(divided))
    paused = tuple(sorted(item.priority for item in wanted.classes if item.priority is not None))
    per_cage = draw(st.sampled_from([1, 2, 4, 8]))
    # A switch has all ports of a cage: the last letter of a cage says how many there are.
    numbers = sorted(draw(st.sets(st.integers(1, 128), min_size=1, max_size=6)) | {per_cage})
    apart = draw(maybe(tenancies(numbers)))
    ports = tuple(draw(_switch_ports(number, paused, divided, apart)) for number in numbers)
    block = str(ipaddress.IPv4Network((draw(st.integers(0, 2**22 - 1)) << 10, 22)))
    address = f"{draw(hosts_of_ipv4)}/32"
    return DeviceIntent(
        device=draw(names),
        role="switch",
        plane=0,
        tier=draw(st.sampled_from(["leaf", "spine", "core"])),
        fabric=draw(names),
        ports=ports,
        platform=PlatformIntent(
            part="generic",
            ports_per_cage=per_cage,
            hwsku=draw(maybe(st.just("ACS-SN5600"))),
            asic=draw(maybe(st.sampled_from(["Spectrum-4", "Tomahawk-5"]))),
        ),
        forwarding=ForwardingIntent(
            exchange=RoutingIntent(
                draw(st.integers(1, 2**32 - 1)),
                address,
                draw(st.integers(1, 512)),
                (address, block),
                carries_tenants=draw(st.sampled_from([None, True])),
            )
        ),
        queues=wanted,
        buffers=divided,
        hashing=draw(maybe(hashings)),
        tenancy=apart,
    )


hashings = st.builds(
    HashIntent,
    fields=st.lists(st.sampled_from(get_args(HashField)), min_size=1, max_size=12, unique=True).map(tuple),
    seed=st.integers(0, 2**32 - 1),
)


@st.composite
def _switch_ports(
    draw: st.DrawFn,
    number: int,
    paused: tuple[int, ...],
    divided: BufferIntent | None,
    apart: TenancyIntent | None,
) -> PortIntent:
    is_up = draw(st.booleans())
    routed = draw(st.sampled_from(["address", "neighbour", "none"])) if is_up else "none"
    return PortIntent(
        key=number,
        peer=draw(peers) if is_up else "",
        rate_gbps=draw(rates),
        is_up=is_up,
        mtu=draw(maybe(st.integers(68, 9216))),
        length_m=draw(maybe(st.integers(1, 999_999))),
        address=f"{draw(hosts_of_ipv4)}/31" if routed == "address" else None,
        neighbour_number=draw(st.integers(1, 2**32 - 1)) if routed == "neighbour" else None,
        told_units=draw(maybe(st.integers(1, 25_600))) if routed == "neighbour" else None,
        pause_priorities=paused or None,
        watched_priorities=paused or (0,),
        lanes=draw(maybe(st.lists(st.integers(0, 4096), min_size=1, max_size=8).map(tuple))),
        fec=draw(maybe(st.sampled_from(["rs", "fc", "none"]))),
        groups=() if divided is None else draw(groups(divided)),
        vrf=draw(maybe(st.sampled_from([one.key for one in apart.vrfs]))) if apart and routed == "address" else None,
    )


@st.composite
def hosts(draw: st.DrawFn) -> DeviceIntent:
    """Draw a host of any technology."""
    numbers = list(range(1, draw(st.integers(1, 6)) + 1))
    ports = tuple(
        PortIntent(
            key=number,
            peer=draw(st.just("") | peers),
            rate_gbps=draw(rates),
            is_up=draw(st.booleans()),
            mtu=draw(maybe(st.integers(68, 65_535))),
            length_m=draw(maybe(st.integers(1, 999_999))),
            address=draw(maybe(hosts_of_ipv4.map(lambda text: f"{text}/31"))),
            pause_priorities=draw(maybe(priorities)),
        )
        for number in numbers
    )
    nics = tuple(
        NicIntent(
            key=number,
            device=f"mlx5_{number - 1}",
            port_id=draw(maybe(guids)),
            gateway=draw(maybe(hosts_of_ipv4)),
            route_table=draw(maybe(st.integers(1, 2**31))),
            trust=draw(maybe(st.just("dscp"))),
            traffic_class=draw(maybe(st.integers(0, 255))),
            mark_priorities=draw(maybe(priorities)),
            notify_dscp=draw(maybe(st.integers(0, 63))),
            notify_priority=draw(maybe(st.integers(0, 7))),
            buffer_bytes=draw(maybe(st.integers(1, 2**31))),
            is_willing=draw(maybe(st.booleans())),
            pauses_link=draw(maybe(st.booleans())),
        )
        for number in numbers
    )
    classes = draw(queues()).classes
    unmarked = tuple(
        replace(one, mark_min_bytes=None, mark_max_bytes=None, mark_percent=None, share=None) for one in classes
    )
    return DeviceIntent(
        device=draw(names),
        role="host",
        plane=NIL,
        tier="host",
        fabric=draw(names),
        ports=ports,
        queues=draw(st.none() | st.just(QueueIntent(unmarked))),
        host=HostIntent(
            nics=nics,
            devices=tuple(nic.device for nic in nics),
            gid_index=draw(maybe(st.integers(0, 255))),
            traffic_class=draw(maybe(st.integers(0, 255))),
            queue_pairs=draw(maybe(st.integers(1, 128))),
            splits_data=draw(maybe(st.booleans())),
            service_level=draw(maybe(st.integers(0, 15))),
            partition_index=draw(maybe(st.integers(0, 65_535))),
            keeps_rail=draw(maybe(st.booleans())),
            settings=draw(st.just(()) | st.just((SettingIntent("net.ipv4.conf.all.rp_filter", "2"),))),
        ),
    )
