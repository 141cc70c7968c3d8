"""Sends real packets between the hosts of a lab, and says which arrived and with which marking.

It runs by its path under a bare Python inside the lab and imports nothing of Weftline. One process holds a socket in
every namespace: a socket stays in the namespace in which it was opened.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

NEW_NETWORK = 0x40000000
PORT = 4791
"""RoCEv2. InfiniBand Architecture annex A17."""
MTU_DISCOVER, DONT_FRAGMENT = 10, 3
"""IP_MTU_DISCOVER and IP_PMTUDISC_PROBE, which Python does not name: what the kernel learnt of a path does not count.

linux/in.h."""
HEADERS = 28
"""IPv4 and UDP."""
HEAD = struct.Struct("!IIII")
PAIR, FLOW, NOISE, ITSELF, FOREIGN, TUNNEL = (0x57465431 + place for place in range(6))
"""What a packet is for; others that come to the port are not ours."""
FIRST_PORT = 49_152
"""Source ports that RoCE senders choose from. RFC 6335, 6."""
RECEIVE_BYTES = 1 << 20
AT_ONCE = 16
"""Packets that are under way before arrivals are looked for: a socket holds few that are as long as the link takes."""
PAUSE_S = (0.2, 0.5, 1.0)
"""Waits after each round; the first packet to a neighbour waits until its address is resolved."""


def enter(name: str) -> None:
    """Move this process into a named network namespace."""
    handle = os.open(f"/run/netns/{name}", os.O_RDONLY | os.O_CLOEXEC)
    if ctypes.CDLL(None, use_errno=True).setns(handle, NEW_NETWORK):
        raise OSError(ctypes.get_errno(), f"setns {name}")
    os.close(handle)


def open_socket(address: str, tos: int, port: int = PORT) -> socket.socket:
    """Open a socket of one endpoint, whose packets are marked and never cut to pieces."""
    line = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    line.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, tos)
    line.setsockopt(socket.IPPROTO_IP, socket.IP_RECVTOS, 1)
    line.setsockopt(socket.IPPROTO_IP, MTU_DISCOVER, DONT_FRAGMENT)
    with contextlib.suppress(OSError):
        line.setsockopt(socket.SOL_SOCKET, 33, RECEIVE_BYTES)  # SO_RCVBUFFORCE, for root
    line.bind((address, port))
    line.setblocking(False)  # noqa: FBT003  (so it is called)
    return line


class Field:
    """The endpoints, each with its socket."""

    def __init__(self, endpoints: list[dict[str, Any]]) -> None:
        self.lines: list[socket.socket] = []
        self.poll = select.epoll()
        self.of_handle: dict[int, int] = {}
        self.namespaces: list[str] = [str(one["namespace"]) for one in endpoints]
        self.tos: list[int] = [int(one["tos"]) for one in endpoints]
        self.addresses: list[str] = [str(one["address"]) for one in endpoints]
        self.sizes = [int(one["mtu"]) - HEADERS for one in endpoints]
        self.arrived: dict[tuple[int, int], int] = {}
        self.intruded: set[tuple[int, int]] = set()
        """What came of tries: what it was, and who sent it."""
        for place, one in enumerate(endpoints):
            enter(one["namespace"])
            line = open_socket(one["address"], int(one["tos"]))
            self.lines.append(line)
            self.of_handle[line.fileno()] = place
            self.poll.register(line.fileno(), select.EPOLLIN)

    def send(self, source: int, target: int, *, is_long: bool) -> None:
        """Send one packet, as long as the links of both ends take or as short as it gets."""
        size = min(self.sizes[source], self.sizes[target]) if is_long else HEAD.size
        packet = HEAD.pack(PAIR, source, target, 0).ljust(size, b"\0")
        with contextlib.suppress(OSError):  # no buffer, no route: it does not arrive
            self.lines[source].sendto(packet, (self.addresses[target], PORT))

    def receive(self, wait_s: float) -> None:
        """Take what has arrived, and what arrives until nothing does for so long."""
        while True:
            ready = self.poll.poll(wait_s)
            if not ready:
                return
            for handle, _ in ready:
                place = self.of_handle[handle]
                with contextlib.suppress(OSError):
                    while True:
                        packet, extra, _, _ = self.lines[place].recvmsg(65_536, 64)
                        self._take(place, packet, extra)

    def _take(self, place: int, packet: bytes, extra: list[tuple[int, int, bytes]]) -> None:
        if len(packet) < HEAD.size:
            return
        magic, source, target, _ = HEAD.unpack_from(packet)
        if magic == PAIR and target == place:
            tos = next((data[0] for level, kind, data in extra if (level, kind) == (0, socket.IP_TOS)), -1)
            self.arrived[source, target] = tos
        elif magic in {ITSELF, FOREIGN} and target == place:
            self.intruded.add((magic, source))


def try_pairs(field: Field, pairs: list[tuple[int, int]], *, is_long: bool) -> None:
    """Send to all pairs, and again to those from which nothing arrived.

    Who must be reached must be by the longest packets, and who must not may not be by the shortest.
    """
    missing = pairs
    for pause_s in PAUSE_S:
        for place, (source, target) in enumerate(missing):
            field.send(source, target, is_long=is_long)
            if place % AT_ONCE == AT_ONCE - 1:
                field.receive(0)
        field.receive(pause_s)
        missing = [pair for pair in missing if pair not in field.arrived]
        if not missing:
            return


def watch(order: dict[str, Any]) -> dict[str, Any]:
    """Send along flows at a steady pace, before and after something happens, and measure what each of them loses.

    The command that waits is told ``ready`` once all flows arrive; it writes a line when the fault is in.
    """
    flows = Flows(order)
    flows.run(SETTLE_LIMIT_S, flows.is_whole)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    begin = time.monotonic()
    flows.reset(begin)
    told = float("inf")
    while told == float("inf"):
        flows.run(PERIOD_S, lambda _: False)
        if select.select([sys.stdin], [], [], 0)[0]:
            sys.stdin.readline()
            told = time.monotonic()
    least, most = told + float(order["least_s"]), told + float(order["most_s"])
    flows.run(most - told, lambda now: now > least and flows.is_whole(now))
    return flows.describe(time.monotonic())


PERIOD_S = 0.02
SETTLE_LIMIT_S = 3.0
WHOLE_S = 1.0
"""How long nothing may be lost until a flow counts as whole."""
GRACE_S = 0.2
"""How long a packet may take to arrive."""


class Flows:
    """Flows with a source port each, and what arrived of them by number."""

    def __init__(self, order: dict[str, Any]) -> None:
        self.poll = select.epoll()
        self.targets: dict[int, socket.socket] = {}
        self.lines: list[tuple[socket.socket, str]] = []
        self.arrived: list[dict[int, float]] = []
        self.first: list[int] = []
        self.sent_at: list[float] = []
        self.due = time.monotonic()
        endpoints = order["endpoints"]
        for place, one in enumerate(endpoints):
            enter(one["namespace"])
            line = open_socket(one["address"], int(one["tos"]))
            self.targets[line.fileno()] = line
            self.poll.register(line.fileno(), select.EPOLLIN)
            for source, target, port in order["flows"]:
                if source == place:
                    sender = open_socket(one["address"], int(one["tos"]), int(port))
                    self.lines.append((sender, str(endpoints[target]["address"])))
                    self.arrived.append({})

    def reset(self, now: float) -> None:
        """Forget what was, and count from here."""
        self.sent_at = []
        self.due = now
        for seen in self.arrived:
            seen.clear()

    def run(self, limit_s: float, is_done: Callable[[float], bool]) -> bool:
        """Send and receive until something holds; False when the time is over."""
        end = time.monotonic() + limit_s
        while True:
            now = time.monotonic()
            if now >= self.due:
                self._send(now)
            self._receive(max(0.0, min(self.due - time.monotonic(), PERIOD_S)))
            if is_done(now):
                return True
            if now > end:
                return False

    def _send(self, now: float) -> None:
        number = len(self.sent_at)
        self.sent_at.append(now)
        for flow, (line, address) in enumerate(self.lines):
            with contextlib.suppress(OSError):
                line.sendto(HEAD.pack(FLOW, flow, number, 0), (address, PORT))
        self.due = max(self.due + PERIOD_S, now)

    def _receive(self, wait_s: float) -> None:
        for handle, _ in self.poll.poll(wait_s):
            with contextlib.suppress(OSError):
                while True:
                    packet = self.targets[handle].recv(4096)
                    if len(packet) == HEAD.size:
                        magic, flow, number, _ = HEAD.unpack(packet)
                        if magic == FLOW and flow < len(self.arrived):
                            self.arrived[flow][number] = time.monotonic()

    def is_whole(self, now: float) -> bool:
        """Say whether no flow has lost anything for a while."""
        recent = [n for n, at in enumerate(self.sent_at) if now - WHOLE_S - GRACE_S < at < now - GRACE_S]
        return len(recent) > WHOLE_S / PERIOD_S / 2 and all(n in seen for seen in self.arrived for n in recent)

    def describe(self, now: float) -> dict[str, Any]:
        """Say for each flow how long its longest gap was, and whether it was over."""
        counted = [n for n, at in enumerate(self.sent_at) if at < now - GRACE_S]
        gaps: list[float] = []
        lasting: list[bool] = []
        for seen in self.arrived:
            longest, since = 0.0, None
            for n in counted:
                if n in seen:
                    since = None
                    continue
                since = self.sent_at[n] if since is None else since
                longest = max(longest, self.sent_at[n] - since + PERIOD_S)
            gaps.append(longest)
            lasting.append(since is not None)
        return {"gaps": gaps, "lasting": lasting, "sent": len(counted)}


def count_ways(field: Field, order: dict[str, Any]) -> dict[str, int]:
    """Send flows that differ in their source port alone, and count the packets that leave by each way."""
    enter(order["switch"])
    before = read_sent()
    source, target = int(order["source"]), int(order["target"])
    enter(field.namespaces[source])
    goal = (field.addresses[target], PORT)
    for flow in range(order["flows"]):
        with contextlib.closing(open_socket(field.addresses[source], field.tos[source], FIRST_PORT + flow)) as line:
            for _ in range(order["packets"]):
                with contextlib.suppress(OSError):
                    line.sendto(HEAD.pack(NOISE, source, target, flow), goal)
        if flow % AT_ONCE == 0:
            field.receive(0)
    field.receive(0.05)
    enter(order["switch"])
    after = read_sent()
    return {way: after.get(way, 0) - before.get(way, 0) for way in order["ways"]}


def read_sent() -> dict[str, int]:
    """Read how many packets each interface of this namespace has sent."""
    found: dict[str, int] = {}
    for line in Path("/proc/thread-self/net/dev").read_text(encoding="ascii").splitlines()[2:]:
        name, _, rest = line.partition(":")
        found[name.strip()] = int(rest.split()[9])
    return found


def try_edges(field: Field, order: dict[str, Any]) -> list[dict[str, Any]]:
    """Send from each endpoint as itself, as another, and to ends of tunnels, past its own routes; say what came of it.

    A raw socket at the end of a tunnel hears what comes before the kernel unpacks it.
    """
    heard: list[socket.socket] = []
    for end in order["ends"]:
        enter(end["namespace"])
        line = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_UDP)
        line.bind((end["address"], 0))
        line.setblocking(False)  # noqa: FBT003  (so it is called)
        heard.append(line)
    before = [count_drops(one, order["table"]) for one in order["tries"]]
    for one in order["tries"]:
        source, peer = int(one["source"]), int(one["peer"])
        own, to = field.addresses[source], field.addresses[peer]
        packets: list[tuple[str, str, int, int, int]] = [(own, to, PORT, ITSELF, peer)]
        packets.append((str(one["foreign"]), to, PORT, FOREIGN, peer))
        goals = {int(end): str(order["ends"][end]["address"]) for end in one["ends"]}
        packets += [(own, goal, int(order["port"]), TUNNEL, end) for end, goal in goals.items()]
        enter(field.namespaces[source])
        with contextlib.closing(socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM)) as line:
            for address, target, port, magic, goal in packets:
                packet = write_packet(address, target, port, HEAD.pack(magic, source, goal, 0))
                mac = bytes.fromhex(one["gateway"].replace(":", ""))
                with contextlib.suppress(OSError):
                    line.sendto(packet, (one["interface"], ETH_P_IP, 0, 0, mac))
        field.receive(0)
    field.receive(PAUSE_S[0])
    tunnelled = {found for place, line in enumerate(heard) for found in hear_tunnels(line, place)}
    for line in heard:
        line.close()
    return [
        {
            "itself": (ITSELF, one["source"]) in field.intruded,
            "foreign": (FOREIGN, one["source"]) in field.intruded,
            "ends": [end for end in one["ends"] if (one["source"], end) in tunnelled],
            "dropped": count_drops(one, order["table"]) - dropped,
        }
        for one, dropped in zip(order["tries"], before, strict=True)
    ]


ETH_P_IP = 0x0800
HEADER_BYTES = 20


def write_packet(source: str, target: str, port: int, payload: bytes) -> bytes:
    """Write an IPv4 packet with UDP, whose checksum zero says that there is none. RFC 791, 3.1; RFC 768."""
    size = HEADERS + len(payload)
    ends = socket.inet_aton(source) + socket.inet_aton(target)
    head = struct.pack("!BBHHHBBH", 0x45, 0, size, 0, 0, 64, socket.IPPROTO_UDP, 0) + ends
    total = sum(struct.unpack("!10H", head))
    total = (total & 0xFFFF) + (total >> 16)
    check = ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF
    datagram = struct.pack("!HHHH", FIRST_PORT, port, size - HEADER_BYTES, 0) + payload
    return head[:10] + struct.pack("!H", check) + head[12:] + datagram


def hear_tunnels(line: socket.socket, place: int) -> set[tuple[int, int]]:
    """Read what came to the end of a tunnel: who sent it, and to which end."""
    found: set[tuple[int, int]] = set()
    with contextlib.suppress(OSError):
        while True:
            packet = line.recv(65_536)[HEADERS:]
            if len(packet) >= HEAD.size and HEAD.unpack_from(packet)[0] == TUNNEL:
                found.add((HEAD.unpack_from(packet)[1], place))
    return found


def count_drops(one: dict[str, Any], table: str) -> int:
    """Read how many packets the filter of a port has dropped; 0 where there is none."""
    enter(one["switch"])
    words = ["nft", "-j", "list", "counters", "table", "netdev", table]
    done = subprocess.run(words, capture_output=True, check=False)  # noqa: S603  (the words are ours)
    found = json.loads(done.stdout or b"{}").get("nftables", [])
    return sum(row["counter"]["packets"] for row in found if row.get("counter", {}).get("name") == one["counter"])


def try_all(order: dict[str, Any]) -> dict[str, Any]:
    """Send between pairs, and say what arrived."""
    field = Field(order["endpoints"])
    begin = time.monotonic()
    together = [(int(a), int(b)) for a, b in order["together"]]
    apart = [(int(a), int(b)) for a, b in order["apart"]]
    try_pairs(field, together, is_long=True)
    try_pairs(field, apart, is_long=False)
    return {
        "lost": [pair for pair in together if pair not in field.arrived],
        "crossed": [pair for pair in apart if pair in field.arrived],
        "marks": [(a, b, field.arrived[a, b]) for a, b in together if (a, b) in field.arrived],
        "spread": [count_ways(field, one) for one in order["spread"]],
        "edge": try_edges(field, order["edge"]),
        "seconds": time.monotonic() - begin,
    }


def main() -> None:
    """Read what to do, do it, and print what arrived."""
    order = json.loads(sys.stdin.readline())
    json.dump(watch(order) if "flows" in order else try_all(order), sys.stdout)


if __name__ == "__main__":
    main()
