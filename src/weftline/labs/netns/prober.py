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
import sys
import time
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
        self.addresses = [str(one["address"]) for one in endpoints]
        self.sizes = [int(one["mtu"]) - HEADERS for one in endpoints]
        self.arrived: dict[tuple[int, int], int] = {}
        for place, one in enumerate(endpoints):
            enter(one["namespace"])
            line = open_socket(one["address"], int(one["tos"]))
            self.lines.append(line)
            self.of_handle[line.fileno()] = place
            self.poll.register(line.fileno(), select.EPOLLIN)

    def send(self, source: int, target: int) -> None:
        """Send one packet as long as the link of the sender takes."""
        size = min(self.sizes[source], self.sizes[target])
        packet = HEAD.pack(0x57454654, source, target, 0).ljust(size, b"\0")
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
        if magic == 0x57454654 and target == place:
            tos = next((data[0] for level, kind, data in extra if (level, kind) == (0, socket.IP_TOS)), -1)
            self.arrived[source, target] = tos


def try_pairs(field: Field, pairs: list[tuple[int, int]], rounds: int, report: Any) -> None:
    """Send to all pairs, and again to those from which nothing arrived."""
    missing = pairs
    for number in range(rounds):
        for place, (source, target) in enumerate(missing):
            field.send(source, target)
            if place % AT_ONCE == AT_ONCE - 1:
                field.receive(0)
            if place % 4096 == 0:
                report(place / len(missing))
        field.receive(PAUSE_S[min(number, len(PAUSE_S) - 1)])
        missing = [pair for pair in missing if pair not in field.arrived]
        if not missing:
            return


def main() -> None:
    """Read what to do, do it, and print what arrived."""
    order = json.load(sys.stdin)
    field = Field(order["endpoints"])
    begin = time.monotonic()
    together = [(int(a), int(b)) for a, b in order["together"]]
    apart = [(int(a), int(b)) for a, b in order["apart"]]

    def report(share: float) -> None:
        sys.stderr.write(f"{share:.3f}\n")
        sys.stderr.flush()

    try_pairs(field, together, 3, report)
    try_pairs(field, apart, 2, report)
    json.dump(
        {
            "lost": [pair for pair in together if pair not in field.arrived],
            "crossed": [pair for pair in apart if pair in field.arrived],
            "marks": [(a, b, field.arrived[a, b]) for a, b in together if (a, b) in field.arrived],
            "seconds": time.monotonic() - begin,
        },
        sys.stdout,
    )


if __name__ == "__main__":
    main()
