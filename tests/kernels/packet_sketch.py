"""Small worlds for the packet machine, drawn by hand: hosts, switches, links, flows."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from tests.kernels.reference.packets_world import NIL, Change, Inside, Spread, Tables, World
from weftline.kernels.column import I32, I64
from weftline.model.packet import Carriage, FlowControl, LaneProfile, Marking, Medium

LOSSY = LaneProfile(control=FlowControl.NONE, is_lossless=False, cell_bytes=1, static_bytes=1 << 40)
PAUSE = LaneProfile(
    control=FlowControl.PAUSE, is_lossless=True, cell_bytes=1, headroom_bytes=1 << 20, static_bytes=20_000
)
CREDIT = LaneProfile(control=FlowControl.CREDIT, is_lossless=True, cell_bytes=64, buffer_bytes=1 << 17)
MARKS = Marking(min_bytes=5_000, max_bytes=20_000, chance_ppm=100_000)

CARRIAGE = Carriage(
    mtu_bytes=1000,
    overhead_bytes=82,
    unstored_bytes=20,
    ack_bytes=86,
    notice_bytes=98,
    pause_bytes=84,
    recovery="go-back-n",
    ack_every=4,
    timeout_ps=0,
    window_packets=64,
    reorder_packets=3,
    pacing=None,
    assumptions=(),
)


@dataclass(frozen=True, slots=True)
class Node:
    is_switch: bool
    latency_ps: int = 0
    receive_ps: int = 0
    pool_bytes: int = 1 << 40
    is_cut_through: bool = False


@dataclass(frozen=True, slots=True)
class End:
    """One end of a link."""

    node: int
    rate_mbps: int
    propagation_ps: int
    response_ps: int


@dataclass(frozen=True, slots=True)
class Flow:
    source: int
    target: int
    size_bytes: int
    needs: tuple[int, ...] = ()
    queue: int = NIL
    earliest_ps: int = 0
    delay_ps: int = 0
    lanes: tuple[int, ...] | None = None
    """Of each hop; None: the lane of data."""
    back_lanes: tuple[int, ...] | None = None
    """Of acknowledgements over the link of each hop; None: their lane."""
    hops: tuple[int, ...] | None = None
    """The ports that it leaves by; None: the first shortest way."""
    is_inside: bool = False
    """Whether it does not leave its host."""


@dataclass(slots=True)
class Sketch:
    """What can be drawn on; hosts and switches are nodes, and a link gives each of its ends one port."""

    profiles: Sequence[LaneProfile] = (LOSSY,)
    """One for each lane, the same at each port; or more, which ``profile_at`` picks from."""
    lanes: int = 1
    profile_at: Callable[[int, int], int] = lambda _port, lane: lane
    """Which profile a port and a lane have."""
    carriage: Carriage = CARRIAGE
    data_lane: int = 0
    ack_lane: int = 0
    notice_lane: int = 0
    seed: int = 0
    burst_ps: int = 0
    inside: Inside = field(default_factory=Inside)
    loss_ppb: dict[int, int] = field(default_factory=dict[int, int])
    """By port; none on the others."""
    dead: set[int] = field(default_factory=set[int])
    """Ports, both ends of a link."""
    changes: list[Change] = field(default_factory=list[Change])
    """By time."""
    nodes: list[Node] = field(default_factory=list[Node])
    ends: list[End] = field(default_factory=list[End])
    flows: list[Flow] = field(default_factory=list[Flow])

    def add_host(self, latency_ps: int = 0, receive_ps: int = 0) -> int:
        self.nodes.append(Node(is_switch=False, latency_ps=latency_ps, receive_ps=receive_ps))
        return len(self.nodes) - 1

    def add_switch(self, latency_ps: int = 0, pool_bytes: int = 1 << 40, *, cut_through: bool = False) -> int:
        node = Node(is_switch=True, latency_ps=latency_ps, pool_bytes=pool_bytes, is_cut_through=cut_through)
        self.nodes.append(node)
        return len(self.nodes) - 1

    def link(
        self, a: int, b: int, rate_mbps: int = 100_000, propagation_ps: int = 0, response_ps: int = 0
    ) -> tuple[int, int]:
        """Add a link, and say which ports it has at ``a`` and at ``b``."""
        self.ends += [End(node, rate_mbps, propagation_ps, response_ps) for node in (a, b)]
        return len(self.ends) - 2, len(self.ends) - 1

    def add_flow(self, flow: Flow) -> int:
        """Add a flow between two hosts."""
        self.flows.append(flow)
        return len(self.flows) - 1

    def list_ports(self, node: int) -> list[int]:
        return [port for port, end in enumerate(self.ends) if end.node == node]

    def measure(self, target: int) -> dict[int, int]:
        """Count the links from each node to one; only switches pass on."""
        steps = {target: 0}
        rest = deque([target])
        while rest:
            node = rest.popleft()
            if node != target and not self.nodes[node].is_switch:
                continue
            for port in self.list_ports(node):
                far = self.ends[port ^ 1].node
                if far not in steps:
                    steps[far] = steps[node] + 1
                    rest.append(far)
        return steps

    def list_ways(self, node: int, steps: dict[int, int]) -> list[int]:
        """List the ports of a node that lead nearer."""
        return [port for port in self.list_ports(node) if steps.get(self.ends[port ^ 1].node, node) < steps[node]]

    def route(self, source: int, target: int, choose: Callable[[Sequence[int]], int] = min) -> tuple[int, ...]:
        """Walk a shortest way between two hosts."""
        steps = self.measure(target)
        hops: list[int] = []
        node = source
        while node != target:
            hops.append(choose(self.list_ways(node, steps)))
            node = self.ends[hops[-1] ^ 1].node
        return tuple(hops)

    def make_medium(self) -> Medium:
        count = len(self.ends)
        rows = [[self.profile_at(port, lane) for lane in range(self.lanes)] for port in range(count)]
        return Medium(
            lanes=self.lanes,
            profiles=tuple(self.profiles),
            profile=np.array(rows, dtype=np.int32).reshape(count, self.lanes),
            rate_mbps=wide(end.rate_mbps for end in self.ends),
            propagation_ps=wide(end.propagation_ps for end in self.ends),
            response_ps=wide(end.response_ps for end in self.ends),
            latency_ps=wide(node.latency_ps for node in self.nodes),
            receive_ps=wide(node.receive_ps for node in self.nodes),
            pool_bytes=wide(node.pool_bytes for node in self.nodes),
            is_cut_through=wide(int(node.is_cut_through) for node in self.nodes),
            data_lane=self.data_lane,
            ack_lane=self.ack_lane,
            notice_lane=self.notice_lane,
            assumptions=(),
        )

    def make_world(self, spread: Spread | None = None) -> World:
        """Make the columns; with a ``spread`` also the tables of all shortest ways."""
        hops = [flow.hops or self.route(flow.source, flow.target) for flow in self.flows]
        both = list(zip(self.flows, hops, strict=True))
        lanes = [flow.lanes or (self.data_lane,) * len(path) for flow, path in both]
        backs = [flow.back_lanes or (self.ack_lane,) * len(path) for flow, path in both]
        sizes = [len(path) for path in hops]
        return World(
            medium=self.make_medium(),
            carriage=self.carriage,
            port_peer=thin(port ^ 1 for port in range(len(self.ends))),
            port_node=thin(end.node for end in self.ends),
            is_switch=wide(int(node.is_switch) for node in self.nodes),
            path_ptr=count_up(sizes),
            path_port=thin(port for path in hops for port in path),
            path_lane=thin(lane for path in lanes for lane in path),
            back_lane=thin(lane for path in backs for lane in path),
            flow_source=thin(path[0] for path in hops),
            flow_target=thin(path[-1] ^ 1 for path in hops),
            flow_bytes=wide(flow.size_bytes for flow in self.flows),
            flow_earliest=wide(flow.earliest_ps for flow in self.flows),
            flow_delay=wide(flow.delay_ps for flow in self.flows),
            flow_queue=thin(flow.queue for flow in self.flows),
            flow_path=thin(range(len(self.flows))),
            need_ptr=count_up([len(flow.needs) for flow in self.flows]),
            need_flow=thin(need for flow in self.flows for need in flow.needs),
            tables=self.make_tables(spread) if spread else None,
            seed=self.seed,
            is_inside=wide(int(flow.is_inside) for flow in self.flows),
            inside=self.inside,
            loss_ppb=wide(self.loss_ppb.get(port, 0) for port in range(len(self.ends))),
            is_dead=wide(int(port in self.dead) for port in range(len(self.ends))),
            burst_ps=self.burst_ps,
            changes=tuple(self.changes),
        )

    def make_tables(self, spread: Spread) -> Tables:
        """Make one group for each switch and host: the ports of all shortest ways."""
        switches = [node for node, what in enumerate(self.nodes) if what.is_switch]
        hosts = [node for node, what in enumerate(self.nodes) if not what.is_switch]
        row = [switches.index(node) if node in switches else NIL for node in range(len(self.nodes))]
        column = [hosts.index(end.node) if end.node in hosts else NIL for end in self.ends]
        steps = [self.measure(host) for host in hosts]
        members = [self.list_ways(node, far) for node in switches for far in steps]
        return Tables(
            spread=spread,
            switch_row=thin(row),
            column=thin(column),
            group=thin(list(range(len(hosts))) * len(switches)).reshape(len(switches), len(hosts)),
            group_ptr=thin(at * len(hosts) for at in range(len(switches) + 1)),
            member_ptr=count_up([len(ports) for ports in members]).astype(np.int32),
            member_port=thin(port for ports in members for port in ports),
        )


def thin(values: Iterable[int]) -> I32:
    return np.array(list(values), dtype=np.int32)


def wide(values: Iterable[int]) -> I64:
    return np.array(list(values), dtype=np.int64)


def count_up(sizes: Sequence[int]) -> I64:
    """Where each of several parts begins, and where the last ends."""
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(wide(sizes))])
