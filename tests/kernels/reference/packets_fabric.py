"""Links, buffers and switches of the packet machine: what a port sends, and where a packet that arrives stands next."""

from __future__ import annotations

from typing import Protocol

from tests.kernels.reference.packets_buffer import Group, Pool
from tests.kernels.reference.packets_loop import Event, Loop
from tests.kernels.reference.packets_patience import Patience
from tests.kernels.reference.packets_port import NIL, Kind, Packet, Port, promise
from tests.kernels.reference.packets_world import Tables, World
from tests.kernels.reference.tables import mix
from weftline.model.packet import FlowControl, LaneProfile, RootMarking

MILLION = 1_000_000
BILLION = 1_000_000_000
MOST_HOPS = 7
"""Hops further on share what a flowlet remembers."""


class Ends(Protocol):
    """What the fabric asks of the hosts."""

    source: list[int]
    target: list[int]
    """By flow."""

    def is_over_link(self, flow: int) -> bool:
        """Tell whether a flow goes over one link, also from or to a switch."""
        ...

    def is_over(self, flow: int) -> bool:
        """Tell whether the sender of a flow knows that all has arrived."""
        ...

    def change_line(self, port: int, line_mbps: int) -> None:
        """Take notice of another rate of the link of a port."""
        ...

    def make_data(self, port: Port) -> Packet | list[int]:
        """Make the packet that an idle port of a host sends now, or say when a flow may perhaps send one."""
        ...

    def take(self, packet: Packet) -> None:
        """Take a packet that has come."""
        ...


class Fabric:
    """All ports and buffers."""

    hosts: Ends

    def __init__(self, world: World, loop: Loop) -> None:
        self.world = world
        self.loop = loop
        self.medium = medium = world.medium
        self.carriage = world.carriage
        self.loss: tuple[int, int, int] | None = None
        rates: list[int] = medium.rate_mbps.tolist()
        peers: list[int] = world.port_peer.tolist()
        self.rate = [rate if peer == NIL else min(rate, rates[peer]) for rate, peer in zip(rates, peers, strict=True)]
        self.propagation: list[int] = medium.propagation_ps.tolist()
        self.response: list[int] = medium.response_ps.tolist()
        self.latency: list[int] = medium.latency_ps.tolist()
        self.receive: list[int] = medium.receive_ps.tolist()
        self.is_switch = [bool(flag) for flag in world.is_switch.tolist()]
        self.loss_ppb: list[int] = world.loss_ppb.tolist()
        self.is_dead = [bool(flag) for flag in world.is_dead.tolist()]
        self.bursts: dict[tuple[int, int], tuple[int, int]] = {}
        """By flow and hop: when a packet was there last, and by which port it went."""
        self.kicked: list[Port] = []
        """Ports that may have something to send, each once."""
        self.build_ports()
        self.made_for, self.was_stored = [*self.rate], [*self.is_stored]
        self.patience = Patience(loop, self.port, self.kick, lambda packet: self.leave_buffer(packet, loop.now))

    def build_ports(self) -> None:
        peers: list[int] = self.world.port_peer.tolist()
        nodes: list[int] = self.world.port_node.tolist()
        rows: list[list[int]] = self.medium.profile.tolist()
        profiles: list[list[LaneProfile]] = [[self.medium.profiles[number] for number in row] for row in rows]
        pools = [Pool(size) for size in self.medium.pool_bytes.tolist()]
        self.port = [
            Port(number, node, peer, profiles[number], self.carriage.mtu_bytes + self.carriage.overhead_bytes)
            for number, (node, peer) in enumerate(zip(nodes, peers, strict=True))
        ]
        self.group = [
            [Group(port.number, lane, profile, pools[port.node]) for lane, profile in enumerate(port.profiles)]
            for port in self.port
        ]
        fastest = [0] * len(self.is_switch)
        for port in self.port:
            if port.peer != NIL:
                port.credits = [promise(profile) for profile in profiles[port.peer]]
                fastest[port.node] = max(fastest[port.node], self.rate[port.number])
        self.is_stored = [True] * len(self.port)
        """Whether the peer acts on a packet when it has all of it, not when it has its head."""
        self.flight: list[list[tuple[int, Packet]]] = [[] for _ in self.port]
        for port in self.port:
            if port.peer != NIL:
                there = self.port[port.peer].node
                cuts = self.is_switch[there] and bool(self.medium.is_cut_through[there])
                self.is_stored[port.number] = not (cuts and fastest[there] <= self.rate[port.number])

    def serialise(self, port: Port, wire: int) -> int:
        """How long that many bytes take on the wire."""
        return -(-wire * 8 * MILLION // self.rate[port.number])

    def kick(self, port: Port) -> None:
        """Something may have become possible: look when the event has been handled."""
        if port not in self.kicked:
            self.kicked.append(port)

    def look(self) -> None:
        """Let all ports that were kicked send, or wait until they are free."""
        while self.kicked:
            port = self.kicked.pop(0)
            if self.is_dead[port.number]:
                continue
            if port.busy <= self.loop.now:
                self.start(port)
            else:
                self.look_at(port, port.busy)

    def look_at(self, port: Port, time: int) -> None:
        """See to it that a port looks at a time: at its departure if none is due, else earlier if that is later."""
        if port.free_at == NIL:
            port.free_at = max(time, port.busy)
            self.loop.push(port.free_at, Event.FREE, port.number)
        elif port.free_at > time and port.wake_at != time:
            port.wake_at = time
            self.loop.push(time, Event.WAKE, port.number)

    def free(self, number: int) -> None:
        self.port[number].free_at = NIL
        self.kick(self.port[number])

    def wake(self, number: int) -> None:
        self.port[number].wake_at = NIL
        self.kick(self.port[number])

    def start(self, port: Port) -> None:
        """Send the next packet of an idle port, if one can go."""
        packet = self.choose_packet(port)
        if packet is None:
            return
        self.leave_buffer(packet, self.loop.now + self.serialise(port, packet.wire))
        self.patience.sent(port, packet.lane)
        packet.short_since = NIL
        credits_ = port.credits[packet.lane]
        if credits_ is not None:
            credits_.available -= packet.blocks
        took = self.serialise(port, packet.wire)
        port.busy = self.loop.now + took
        port.wire_bytes += packet.wire
        port.packets += 1
        there = self.port[port.peer].node
        due = self.loop.now + self.propagation[port.number]
        due += 0 if self.is_switch[port.node] else self.latency[port.node]
        due += self.latency[there] if self.is_switch[there] else self.receive[there]
        due += took if self.is_stored[port.number] else 0
        self.flight[port.number].append((due, packet))
        self.loop.push(due, Event.ARRIVE, port.number)
        if port.has_more:
            self.look_at(port, port.busy)

    def choose_packet(self, port: Port) -> Packet | None:
        """Choose between queues and flows that begin here; where neither can send, see when to look again.

        Queues go first, but a flow over one link takes turns with them.
        """
        eligible = port.list_eligible(self.loop.now)
        self.patience.notice(port)
        takes_turns = bool(port.ring) and self.hosts.is_over_link(port.ring[0])
        if eligible and not (takes_turns and not port.was_own):
            port.was_own = port.was_own and not takes_turns
            return port.take(port.choose_lane(eligible))
        made = self.hosts.make_data(port)
        if isinstance(made, Packet):
            port.was_own = port.was_own or bool(eligible)
            return made
        if eligible:
            return port.take(port.choose_lane(eligible))
        times = made + self.list_credits(port)
        if times:
            self.look_at(port, min(times))
        return None

    def leave_buffer(self, packet: Packet, time: int) -> None:
        """Give back what a packet took in its input buffer; it is out of there at a time."""
        group, packet.group = packet.group, None
        if group is None:
            return
        group.release(packet.stored)
        if group.profile.control is FlowControl.CREDIT:
            self.give_credit(group, packet.blocks, time)
        elif group.wants_on:
            group.is_off = False
            self.send_pause(group, is_off=False)

    def send_pause(self, group: Group, *, is_off: bool) -> None:
        """Put a pause frame between the packets of a port, as soon as the one that it sends is out."""
        port = self.port[group.port]
        port.busy = max(self.loop.now, port.busy) + self.serialise(port, self.carriage.pause_bytes)
        port.wire_bytes += self.carriage.pause_bytes
        port.pauses += is_off
        effect = port.busy + self.propagation[port.number] + self.response[port.peer]
        if is_off and self.is_switch[port.node]:
            # The switch asked when the packet came, before the time that a packet is inside it.
            effect = max(self.loop.now, effect - self.latency[port.node], port.told)
        port.told = effect
        self.loop.push(effect, Event.CONTROL, port.peer * 16 + group.lane * 2 + is_off)

    def control(self, subject: int) -> None:
        port, lane, is_off = self.port[subject // 16], subject // 2 % 8, bool(subject % 2)
        if is_off:
            self.patience.asks(port, lane)
            return
        self.patience.lets_go(port, lane)
        self.kick(port)

    def give_credit(self, group: Group, blocks: int, time: int) -> None:
        """Promise blocks again to the sender behind an input buffer, from a time on and the way there."""
        back = self.port[group.port]
        sender = self.port[back.peer]
        credits_ = sender.credits[group.lane]
        assert credits_ is not None
        credits_.last = max(time + self.propagation[back.number] + self.response[sender.number], credits_.last)
        credits_.coming.append((credits_.last, blocks))
        if credits_.starves_since != NIL:
            self.look_at(sender, credits_.last)

    def list_credits(self, port: Port) -> list[int]:
        """List for the queues of a port that wait for credits when the next ones come, as far as that is known."""
        waiting = [
            credits_
            for queue, is_held, credits_ in zip(port.queue, port.is_held, port.credits, strict=True)
            if queue and not is_held and credits_ is not None
        ]
        return [credits_.coming[0][0] for credits_ in waiting if credits_.coming]

    def arrive(self, number: int) -> None:
        due, packet = self.flight[number].pop(0)
        assert due == self.loop.now
        came_in = self.port[self.port[number].peer]
        if self.is_dead[number]:
            self.port[number].discards += 1
            self.give_back(packet, came_in)
            return
        if self.is_corrupted(packet, number):
            self.port[number].corrupted += 1
            self.give_back(packet, came_in)
            return
        packet.crossed += 1
        ends: list[int] = self.hosts.target if packet.kind is Kind.DATA else self.hosts.source
        if self.is_switch[came_in.node] and ends[packet.flow] != came_in.number:
            self.forward(packet, came_in)
            return
        self.give_back(packet, came_in)
        self.hosts.take(packet)

    def give_back(self, packet: Packet, came_in: Port) -> None:
        """Promise at once again what a packet has taken that stays in no buffer."""
        group = self.group[came_in.number][packet.lane]
        if group.profile.control is FlowControl.CREDIT:
            self.give_credit(group, packet.blocks, self.loop.now)

    def is_corrupted(self, packet: Packet, number: int) -> bool:
        """Tell whether a link spoils a packet: by chance, the less the shorter it is."""
        full = self.carriage.mtu_bytes + self.carriage.overhead_bytes
        chance = self.loss_ppb[number] * packet.wire // full
        flow_draw = mix(mix(self.world.seed + packet.flow) + packet.number)
        draw = mix(flow_draw + number + self.loop.now % 2**24)
        return draw * BILLION // 2**32 < chance

    def forward(self, packet: Packet, came_in: Port) -> None:
        """Find room for a packet in a switch, or drop it."""
        leave_by, lane = self.find_output(packet, came_in.node)
        if leave_by == NIL or self.is_dead[leave_by]:
            self.port[came_in.peer].discards += 1
            self.give_back(packet, came_in)
            return
        port = self.port[leave_by]
        group = self.group[came_in.number][packet.lane]
        size = self.stored_bytes(packet, group.profile)
        limit = port.profiles[lane].limit_bytes
        queued = self.stored_bytes(packet, port.profiles[lane])
        is_full = bool(limit) and port.bytes[lane] + queued > limit
        if self.patience.refuses(port, lane) or is_full or not group.admit(size):
            came_in.drops += 1
            if group.profile.is_lossless and self.loss is None:
                self.loss = (self.loop.now, came_in.number, packet.lane)
            self.give_back(packet, came_in)
            return
        if group.wants_off:
            group.is_off = True
            self.send_pause(group, is_off=True)
        if packet.kind is Kind.DATA and self.is_marked(packet, port, lane):
            packet.is_marked = True
            port.marks += 1
        packet.group, packet.stored, packet.lane = group, size, lane
        self.enqueue(packet, port)

    def stored_bytes(self, packet: Packet, profile: LaneProfile) -> int:
        """What a packet takes of a buffer with the cells of a profile."""
        cell = profile.cell_bytes
        return -(-(packet.wire - self.carriage.unstored_bytes) // cell) * cell

    def enqueue(self, packet: Packet, port: Port) -> None:
        lane = packet.lane
        packet.queued = self.stored_bytes(packet, port.profiles[lane])
        port.queue[lane].append(packet)
        port.bytes[lane] += packet.queued
        port.peak[lane] = max(port.peak[lane], port.bytes[lane])
        self.kick(port)

    def find_output(self, packet: Packet, node: int) -> tuple[int, int]:
        """Follow the path; or let the table of the switch choose, in the same lane."""
        tables = self.world.tables
        if tables is None or packet.kind is not Kind.DATA:
            return packet.way[packet.crossed]
        row = int(tables.switch_row[node])
        first = int(tables.group_ptr[row]) + int(tables.group[row, tables.column[self.hosts.target[packet.flow]]])
        members: list[int] = tables.member_port[tables.member_ptr[first] : tables.member_ptr[first + 1]].tolist()
        if len(members) == 1:
            return members[0], packet.lane
        return self.choose_member(packet, tables, row, members), packet.lane

    def choose_member(self, packet: Packet, tables: Tables, row: int, members: list[int]) -> int:
        """Take members in turn; or the one with the shortest queue, from a place on that differs by packet.

        What is dead is passed over. A flowlet stays where it was until it has been silent for long enough.
        """
        seed = self.world.seed
        count = len(members)
        if tables.spread == "spray":
            block, turn = divmod(packet.number // int(count ** (packet.crossed - 1)), count)
            at = (turn + mix(mix(mix(seed + packet.flow) + row) + block)) % count
            return next((one for one in members[at:] + members[:at] if not self.is_dead[one]), NIL)
        at = mix(mix(seed + packet.flow) + packet.number) % count
        alive = [one for one in members[at:] + members[:at] if not self.is_dead[one]]
        best = min(alive, key=lambda one: sum(self.port[one].bytes), default=NIL)
        if tables.spread == "adaptive" or self.hosts.is_over(packet.flow):
            return best
        place = packet.flow, min(packet.crossed, MOST_HOPS)
        since, known = self.bursts.get(place, (0, NIL))
        if known not in alive or self.loop.now - since > self.world.burst_ps:
            known = best
        self.bursts[place] = self.loop.now, known
        return known

    def is_marked(self, packet: Packet, port: Port, lane: int) -> bool:
        """Tell whether a packet that joins a queue is marked for its length."""
        marking = port.profiles[lane].marking
        waiting = port.bytes[lane]
        if marking is None:
            return False
        if isinstance(marking, RootMarking):
            return self.is_root_marked(packet, port, lane, marking)
        if waiting <= marking.min_bytes:
            return False
        if waiting > marking.max_bytes:
            return True
        chance = marking.chance_ppm * (waiting - marking.min_bytes) // (marking.max_bytes - marking.min_bytes)
        return self.draw_mark(packet) < chance

    def is_root_marked(self, packet: Packet, port: Port, lane: int, marking: RootMarking) -> bool:
        """Tell whether a packet is marked in a long queue: one that has credits, unless victims are marked too."""
        credits_ = port.credits[lane]
        head = port.queue[lane][0].blocks if port.queue[lane] else 0
        is_victim = credits_ is not None and credits_.collect(self.loop.now) < head
        if port.bytes[lane] <= marking.threshold_bytes or packet.wire < marking.least_bytes:
            return False
        return (marking.marks_victims or not is_victim) and self.draw_mark(packet) < marking.chance_ppm

    def draw_mark(self, packet: Packet) -> int:
        """Draw a number below a million for a packet at a switch."""
        return mix(mix(mix(self.world.seed) + packet.flow) + packet.number * 64 + packet.crossed) % MILLION
