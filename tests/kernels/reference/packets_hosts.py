"""Flows and hosts of the packet machine: when a flow starts, what its ends send, and when it has arrived."""

from __future__ import annotations

from tests.kernels.reference.packets_ends import Receiver, Reply, Sender
from tests.kernels.reference.packets_fabric import Fabric
from tests.kernels.reference.packets_loop import Event, Loop
from tests.kernels.reference.packets_pace import Delays, Pace
from tests.kernels.reference.packets_port import NIL, Kind, Packet, Port, count_blocks
from tests.kernels.reference.packets_world import World
from weftline.model.packet import DelayTable


class Hosts:
    """All flows."""

    def __init__(self, world: World, loop: Loop, fabric: Fabric) -> None:
        self.loop = loop
        self.fabric = fabric
        self.carriage = world.carriage
        self.notice_lane = world.medium.notice_lane
        self.size: list[int] = world.flow_bytes.tolist()
        self.source: list[int] = world.flow_source.tolist()
        self.target: list[int] = world.flow_target.tolist()
        self.earliest: list[int] = world.flow_earliest.tolist()
        self.delay: list[int] = world.flow_delay.tolist()
        self.is_inside = [bool(flag) for flag in world.is_inside.tolist()]
        self.inside = world.inside
        self.gives_until: dict[int, int] = {}
        """By port: when the GPU behind it has sent what it sends inside its host."""
        self.takes_until: dict[int, int] = {}
        self.way: list[list[tuple[int, int]]] = []
        self.way_back: list[list[tuple[int, int]]] = []
        ports: list[int] = world.path_port.tolist()
        lanes: list[int] = world.path_lane.tolist()
        backs: list[int] = world.back_lane.tolist()
        for path in world.flow_path.tolist():
            hops = range(int(world.path_ptr[path]), int(world.path_ptr[path + 1]))
            self.way.append([(ports[hop], lanes[hop]) for hop in hops])
            self.way_back.append([(fabric.port[ports[hop]].peer, backs[hop]) for hop in reversed(hops)])
        count = len(self.size)
        packets = [-(-size // self.carriage.mtu_bytes) for size in self.size]
        self.sender = [
            Sender(packets[flow], self.carriage, self.make_pace(fabric.rate[self.source[flow]]))
            for flow in range(count)
        ]
        self.receiver = [Receiver(packets[flow], self.carriage) for flow in range(count)]
        self.slot_flow: list[int] = []
        """By slot: the flow that has it, NIL for none."""
        self.slot_timer: list[bool] = []
        """By slot: whether somebody will look at its progress."""
        self.slot_free: list[int] = []
        """Slots that were given back; the last one is taken first."""
        self.slot = [NIL] * count
        self.ready: list[int] = []
        """Flows that wait for nothing, in the order in which that became so."""
        self.start_ps = [NIL] * count
        self.finish_ps = [NIL] * count
        self.missing = [0] * count
        """Flows that must arrive before, and the one that must have been sent."""
        self.then: list[list[int]] = [[] for _ in range(count)]
        """Flows that need this one at its receiver."""
        self.successor: list[int] = [NIL] * count
        """The flow behind it in its queue."""
        last: dict[int, int] = {}
        for flow, queue in enumerate(world.flow_queue.tolist()):
            needs: list[int] = world.need_flow[world.need_ptr[flow] : world.need_ptr[flow + 1]].tolist()
            for need in needs:
                self.then[need].append(flow)
                self.missing[flow] += 1
            if queue != NIL:
                if queue in last:
                    self.successor[last[queue]] = flow
                    self.missing[flow] += 1
                last[queue] = flow
        for flow, missing in enumerate(self.missing):
            if missing == 0:
                self.ready.append(flow)

    def make_pace(self, line_mbps: int) -> Pace | Delays | None:
        """Make what slows a flow down that leaves by a line."""
        pacing = self.carriage.pacing
        if isinstance(pacing, DelayTable):
            return Delays(pacing, line_mbps, self.carriage.mtu_bytes + self.carriage.overhead_bytes)
        return Pace(pacing, line_mbps) if pacing else None

    def change_line(self, port: int, line_mbps: int) -> None:
        """The link of a port is slower or faster now, and with it the delays of flows that leave by it."""
        for flow, source in enumerate(self.source):
            pace = self.sender[flow].pace
            if source == port and isinstance(pace, Delays):
                pace.line_mbps = line_mbps

    def get_ready(self, flow: int) -> None:
        """One thing less that a flow waits for."""
        self.missing[flow] -= 1
        if self.missing[flow] == 0:
            self.ready.append(flow)

    def begin(self, flow: int) -> None:
        """Let a flow go, or wait for its time; one that sends nothing has arrived."""
        time = max(self.loop.now, self.earliest[flow]) + self.delay[flow]
        self.earliest[flow] = self.delay[flow] = 0
        if time > self.loop.now:
            self.loop.push(time, Event.START, flow)
            return
        self.start_ps[flow] = self.loop.now
        if self.is_inside[flow]:
            self.send_inside(flow)
            return
        if self.way[flow] and self.size[flow]:
            self.take_slot(flow)
            self.update_ring(flow)
            self.fabric.kick(self.fabric.port[self.source[flow]])
            return
        if self.successor[flow] != NIL:
            self.get_ready(self.successor[flow])
        self.finish(flow)

    def send_inside(self, flow: int) -> None:
        """Move a flow within its host: one at a time from each GPU, and one at a time into each."""
        source, target = self.source[flow], self.target[flow]
        begin = max(self.loop.now, self.gives_until.get(source, 0), self.takes_until.get(target, 0))
        end = begin + self.size[flow] * self.inside.fs_per_byte // 1000
        self.gives_until[source] = self.takes_until[target] = end
        if self.successor[flow] != NIL:
            self.get_ready(self.successor[flow])
        self.loop.push(end + self.inside.latency_ps, Event.INSIDE, flow)

    def take_slot(self, flow: int) -> None:
        if not self.slot_free:
            self.slot_free.append(len(self.slot_flow))
            self.slot_flow.append(NIL)
            self.slot_timer.append(False)
        self.slot[flow] = self.slot_free.pop()
        self.slot_flow[self.slot[flow]] = flow

    def free_slot(self, flow: int) -> None:
        self.slot_flow[self.slot[flow]] = NIL
        self.slot_free.append(self.slot[flow])

    def finish(self, flow: int) -> None:
        self.finish_ps[flow] = self.loop.now
        for other in self.then[flow]:
            self.get_ready(other)

    def update_ring(self, flow: int) -> None:
        """A flow with something to send stands in the ring of its port, else not."""
        ring = self.fabric.port[self.source[flow]].ring
        if not self.sender[flow].has_more:
            if flow in ring:
                ring.remove(flow)
        elif flow not in ring:
            ring.append(flow)

    def data_wire(self, flow: int) -> int:
        """Bytes on the wire of the packet that a flow sends next."""
        mtu = self.carriage.mtu_bytes
        return min(mtu, self.size[flow] - self.sender[flow].upcoming * mtu) + self.carriage.overhead_bytes

    def is_over_link(self, flow: int) -> bool:
        """Tell whether a flow goes over one link between a switch and another node."""
        ends = (self.fabric.port[self.source[flow]], self.fabric.port[self.target[flow]])
        return len(self.way[flow]) == 1 and any(self.fabric.is_switch[end.node] for end in ends)

    def lane(self, flow: int) -> int:
        """The lane by which a flow leaves its host."""
        return self.way[flow][0][1]

    def make_data(self, port: Port) -> Packet | list[int]:
        """Let the first flow from the cursor on send that may, and move the cursor behind it.

        If none may: when a pace allows it, or the next credits come.
        """
        times: list[int] = []
        for at, flow in enumerate(port.ring):
            lane = self.lane(flow)
            if port.is_held[lane]:
                continue
            time = self.sender[flow].allowed_from(self.loop.now)
            if time > self.loop.now:
                times.append(time)
                continue
            wire = self.data_wire(flow)
            blocks = count_blocks(wire)
            if port.may_send(lane, blocks, self.loop.now):
                port.ring = port.ring[at + 1 :] + port.ring[: at + 1]
                number = self.count_sent(flow, wire)
                return Packet(Kind.DATA, flow, number, NIL, wire, blocks, self.way[flow], lane)
            credits_ = port.credits[lane]
            if credits_ is not None and credits_.coming:
                times.append(credits_.coming[0][0])
        return times

    def count_sent(self, flow: int, wire: int) -> int:
        """Move a sender on by the packet that it sends now, and say which that is."""
        sender = self.sender[flow]
        number = sender.upcoming
        had_sent_all = sender.has_sent_all
        sender.take(self.loop.now, wire)
        self.update_ring(flow)
        self.expect_progress(flow)
        if sender.has_sent_all and not had_sent_all and self.successor[flow] != NIL:
            self.get_ready(self.successor[flow])
        return number

    def is_over(self, flow: int) -> bool:
        """Tell whether the sender of a flow knows that all has arrived."""
        return self.sender[flow].is_over

    def expect_progress(self, flow: int) -> None:
        """See to it that somebody looks whether a flow makes progress; a look of the slot that is due does as well."""
        if self.carriage.timeout_ps and not self.slot_timer[self.slot[flow]]:
            self.slot_timer[self.slot[flow]] = True
            self.loop.push(self.sender[flow].since + self.carriage.timeout_ps, Event.TIMER, self.slot[flow])

    def timer(self, slot: int) -> None:
        self.slot_timer[slot] = False
        flow = self.slot_flow[slot]
        if flow == NIL or self.sender[flow].next == self.sender[flow].acked:
            return
        sender = self.sender[flow]
        if self.loop.now < sender.since + self.carriage.timeout_ps:
            self.expect_progress(flow)
            return
        sender.rewind(self.loop.now, self.carriage.recovery)
        self.receiver[flow].nak_end = 0
        self.expect_progress(flow)
        self.update_ring(flow)
        self.fabric.kick(self.fabric.port[self.source[flow]])

    def take(self, packet: Packet) -> None:
        """A packet has come to where it goes; what belongs to a flow that is over means nothing."""
        if self.sender[packet.flow].is_over:
            return
        if packet.kind is Kind.DATA:
            self.take_data(packet)
        else:
            self.take_answer(packet)

    def take_data(self, packet: Packet) -> None:
        """A packet has come to its receiver."""
        receiver = self.receiver[packet.flow]
        if packet.is_marked and receiver.owes_notice(self.loop.now):
            self.answer(packet.flow, Kind.NOTICE, Reply(0))
        was_done = receiver.is_done
        reply = receiver.take(packet.number)
        if reply is not None:
            self.answer(packet.flow, Kind.ACK if reply.end is None else Kind.NAK, reply)
        if receiver.is_done and not was_done:
            self.finish(packet.flow)

    def answer(self, flow: int, kind: Kind, reply: Reply) -> None:
        """Send a control packet from the target of a flow to its source."""
        way = self.way_back[flow]
        wire = self.carriage.ack_bytes
        if kind is Kind.NOTICE:
            way = [(port, lane if self.notice_lane == NIL else self.notice_lane) for port, lane in way]
            wire = self.carriage.notice_bytes
        end = NIL if reply.end is None else reply.end
        number, lane = way[0]
        packet = Packet(kind, flow, reply.first_missing, end, wire, count_blocks(wire), way, lane)
        self.fabric.enqueue(packet, self.fabric.port[number])

    def take_answer(self, packet: Packet) -> None:
        """A control packet has come to the source of its flow."""
        sender = self.sender[packet.flow]
        if packet.kind is Kind.NOTICE:
            if sender.pace:
                sender.pace.notice(self.loop.now)
            return
        if packet.kind is Kind.ACK:
            sender.hear_ack(self.loop.now, packet.number)
        else:
            sender.hear_nak(self.loop.now, packet.number, packet.end, self.carriage.recovery)
        self.update_ring(packet.flow)
        if sender.is_over:
            self.free_slot(packet.flow)
        elif sender.has_more:
            self.fabric.kick(self.fabric.port[self.source[packet.flow]])
