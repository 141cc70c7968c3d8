"""Rules on hosts: what a NIC sends, by which address, and whether it pauses and marks as the switches do."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from weftline.errors import Place
from weftline.headroom import nic_headroom
from weftline.headroom.sorting import classify, find_buffer, find_priorities, list_numbers
from weftline.lint.pauses import NOTIFY_DSCP, find_notify_dscps
from weftline.lint.rule import Hit, LintSource, Rule, gather, is_used
from weftline.model.observed import ObservedDevice, ObservedSetting
from weftline.model.observed_port import ObservedGid, ObservedPort

ECT = 3
"""The two ECN bits of the traffic class byte. RFC 3168, 5."""
TC_NAMES = ("NCCL_IB_TC", "UCX_IB_TRAFFIC_CLASS", "NVSHMEM_IB_TRAFFIC_CLASS")
LOCAL_INDICES = frozenset({0, 1})
"""Linux puts the link-local address of a port first: RoCEv1, then RoCEv2."""
GID_NAMES = ("NCCL_IB_GID_INDEX", "UCX_IB_GID_INDEX", "NVSHMEM_IB_GID_INDEX")


def _nics(device: ObservedDevice) -> Iterator[ObservedPort]:
    return (port for port in device.ports if port.nic is not None and is_used(port))


def _setting(device: ObservedDevice, *names: str) -> Iterator[ObservedSetting]:
    return (setting for setting in device.settings if setting.name in names)


def _judge_byte(source: LintSource) -> Iterator[Hit]:
    """Applications must send the byte that the NIC and the switches treat as lossless."""
    for host in source.hosts:
        for setting in _setting(host, *TC_NAMES):
            byte = _number(setting)
            if byte is None or not 0 <= byte < 256:
                words = f"{setting.name} is {setting.value.value[:40]!r}, which is no traffic class byte"
                yield Hit(host.name, words, setting.value.where, "DSCP * 4 + 2, as 106 for DSCP 26")
                continue
            for port in _nics(host):
                paused = find_priorities(port)
                number = classify(port, byte >> 2)
                if paused and port.class_of_dscp is not None and number not in paused:
                    words = (
                        f"{setting.name}={byte} is DSCP {byte >> 2}, priority {number} on {port.name}, and "
                        f"{list_numbers(paused)} pauses"
                    )
                    kept = [d for d, n in port.class_of_dscp.value.items() if n in paused]
                    right = f"{setting.name}={4 * min(kept) + 2}" if kept else "a DSCP whose priority pauses"
                    yield Hit(host.name, words, setting.value.where, right)
                    break


def _judge_default(source: LintSource) -> Iterator[Hit]:
    """What applications do not say, the NIC's default says: DSCP 0 where nobody set it."""
    for host in source.hosts:
        found: list[tuple[ObservedPort, str, Place, str]] = []
        for port in _nics(host):
            said = None if port.nic is None else port.nic.traffic_class
            paused = find_priorities(port)
            if said is None or port.class_of_dscp is None or not paused:
                continue
            number = classify(port, said.value >> 2)
            if number not in paused:
                words = f"RDMA leaves with DSCP {said.value >> 2}, priority {number}, and {list_numbers(paused)} pauses"
                kept = [d for d, n in port.class_of_dscp.value.items() if n in paused]
                right = f"traffic class {4 * min(kept) + 2}" if kept else "a DSCP whose priority pauses"
                found.append((port, words, said.where, right))
        yield from gather(found, host.name)


def _judge_sent(source: LintSource) -> Iterator[Hit]:
    """A host whose DSCP no switch keeps, while they keep that of others, is at fault itself."""
    for host in source.hosts:
        found: list[tuple[ObservedPort, str, Place, str]] = []
        for port in _nics(host):
            said = None if port.nic is None else port.nic.traffic_class
            if said is None or not source.is_of_host(said.value >> 2):
                continue
            kept = list_numbers(source.kept)
            words = f"RDMA leaves with DSCP {said.value >> 2}, which no switch keeps from loss; they keep DSCP {kept}"
            found.append((port, words, said.where, f"traffic class {4 * min(source.kept) + 2}"))
        yield from gather(found, host.name)


def _judge_notify(source: LintSource) -> Iterator[Hit]:
    """Notifications have a DSCP of their own, the same at every host."""
    usual = find_notify_dscps(source)
    for host in source.hosts:
        found: list[tuple[ObservedPort, str, Place, str]] = []
        for port in _nics(host):
            nic = port.nic
            said = None if nic is None else nic.notify_dscp
            if nic is None or said is None:
                continue
            right = f"DSCP {min(usual - set(source.wanted) or {NOTIFY_DSCP})}, as the switches sort it"
            if nic.traffic_class is not None and nic.traffic_class.value >> 2 == said.value:
                words = (
                    f"congestion notifications leave with DSCP {said.value}, as the data does, and are paused with it"
                )
                found.append((port, words, said.where, right))
            elif said.value not in usual:
                words = (
                    f"congestion notifications leave with DSCP {said.value}, and with {list_numbers(usual)} "
                    "from most other hosts"
                )
                found.append((port, words, said.where, right))
        yield from gather(found, host.name)


def _judge_devices(source: LintSource) -> Iterator[Hit]:
    """NCCL falls back to TCP where it finds none of the NICs that it was told to use."""
    for host in source.hosts:
        known = {port.nic.device.value for port in _nics(host) if port.nic is not None and port.nic.device is not None}
        for setting in _setting(host, "NCCL_IB_HCA") if len(known) > 1 else ():
            text = setting.value.value
            if text.startswith("^"):
                continue
            is_exact = text.startswith("=")
            named = [part.partition(":")[0].strip() for part in text.removeprefix("=").split(",") if part.strip()]
            strange = [n for n in named if n not in known and (is_exact or not any(k.startswith(n) for k in known))]
            if strange:
                words = f"NCCL_IB_HCA names {strange[0]}, which is none of {', '.join(sorted(known)[:8])}"
                yield Hit(host.name, words, setting.value.where, "the RDMA devices of this host")


def _judge_ecn(source: LintSource) -> Iterator[Hit]:
    """A packet that is not ECN-capable is dropped where others are marked; a NIC that reacts to marks says ECT."""
    for host in source.hosts:
        found: list[tuple[ObservedPort, str, Place, str]] = []
        for port in _nics(host):
            said = None if port.nic is None else port.nic.traffic_class
            if said is not None and said.value and not said.value & ECT and not reacts_to_marks(port):
                words = f"the traffic class byte {said.value} says Not-ECT: a switch drops what it would mark"
                found.append((port, words, said.where, f"{said.value | 2}: DSCP {said.value >> 2} with ECT(0)"))
        yield from gather(found, host.name)
        for setting in _setting(host, *TC_NAMES):
            byte = _number(setting)
            if byte and 0 < byte < 256 and not byte & ECT and not all(map(reacts_to_marks, _nics(host))):
                words = f"{setting.name}={byte} says Not-ECT: a switch may drop what it would mark"
                yield Hit(host.name, words, setting.value.where, f"{setting.name}={byte | 2}")


def reacts_to_marks(port: ObservedPort) -> bool:
    """Tell whether the NIC is known to react to marks on what it sends losslessly: it then says ECT(0) by itself."""
    said = None if port.nic is None else port.nic.reacting_priorities
    return said is not None and set(find_priorities(port)) <= set(said.value) and bool(said.value)


def _number(setting: ObservedSetting) -> int | None:
    text = setting.value.value.strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def _judge_gid(source: LintSource) -> Iterator[Hit]:
    """The chosen address must be RoCEv2 and routed: RoCEv1 and link-local ones do not pass a router."""
    for host in source.hosts:
        for setting in _setting(host, *GID_NAMES):
            index = _number(setting)
            for port in _nics(host):
                gids = () if port.nic is None else port.nic.gids
                if index is None:
                    continue
                if not gids:
                    if index in LOCAL_INDICES:
                        words = (
                            f"{setting.name}={index} is the link-local address of {port.name}, as Linux numbers them"
                        )
                        right = "the index of the routed address of RoCEv2, as show_gids lists it (often 3)"
                        yield Hit(host.name, words, setting.value.where, right, (port.name,), "warning")
                    continue
                chosen = next((gid for gid in gids if gid.index == index), None)
                good = next((gid for gid in gids if gid.version == "v2" and not _is_local(gid)), None)
                fault = _blame(chosen)
                if fault:
                    words = f"{setting.name}={index} on {port.name} is {fault}"
                    right = "an address of RoCEv2" if good is None else f"{setting.name}={good.index} ({good.gid})"
                    yield Hit(host.name, words, setting.value.where, right, (port.name,))


def _blame(gid: ObservedGid | None) -> str:
    if gid is None:
        return "no entry of its table"
    if gid.version == "v1":
        return "a RoCEv1 address, which is not routed and carries no DSCP"
    return "a link-local address, which is not routed" if _is_local(gid) else ""


def _is_local(gid: ObservedGid) -> bool:
    try:
        return ipaddress.IPv6Address(gid.gid).is_link_local
    except ValueError:
        return False


def _judge_trust(source: LintSource) -> Iterator[Hit]:
    for host in source.hosts:
        found = [
            (port, f"trust is {port.trust.value}: DSCP does not choose the priority", port.trust.where, "trust dscp")
            for port in _nics(host)
            if port.trust is not None and port.trust.value in {"pcp", "port"}
        ]
        yield from gather(found, host.name)


def _judge_pause(source: LintSource) -> Iterator[Hit]:
    """A NIC that does not pause drops what it cannot take, and sends on through the pauses of the switch."""
    pausing = any(find_priorities(port) for device in source.devices for port in device.ports)
    for host in source.hosts:
        found = [
            (port, "no priority pauses", port.pauses.where, "PFC on the lossless priority, as on the switches")
            for port in _nics(host)
            if port.pauses is not None and not port.pauses.value and (pausing or source.wanted)
        ]
        yield from gather(found, host.name)


def _judge_willing(source: LintSource) -> Iterator[Hit]:
    for host in source.hosts:
        found = [
            (
                port,
                "DCBX may change PFC and trust from outside",
                port.nic.is_willing.where,
                "DCBX by the OS, not willing",
            )
            for port in _nics(host)
            if port.nic is not None and port.nic.is_willing is not None and port.nic.is_willing.value
        ]
        yield from gather(found, host.name)


def _judge_ports(source: LintSource) -> Iterator[Hit]:
    for host in source.hosts:
        found = [
            (port, "all connections have one UDP source port: one uplink carries them all", port.nic.source_port.where,
             "a source port per queue pair")
            for port in _nics(host)
            if port.nic is not None and port.nic.source_port is not None and port.nic.source_port.value == "fixed"
        ]  # fmt: skip
        yield from gather(found, host.name)


def _judge_marks(source: LintSource) -> Iterator[Hit]:
    """Congestion control must act on the priority that carries the data, at both its ends."""
    for host in source.hosts:
        found: list[tuple[ObservedPort, str, Place, str]] = []
        for port in _nics(host):
            nic = port.nic
            if nic is None or not find_priorities(port):
                continue
            for said, what in ((nic.marking_priorities, "answers marks"), (nic.reacting_priorities, "slows down")):
                missing = set[int]() if said is None else set(find_priorities(port)) - set(said.value)
                if said is not None and missing:
                    words = (
                        f"it {what} on priorities {list_numbers(said.value)}, and {list_numbers(missing)} is lossless"
                    )
                    found.append((port, words, said.where, f"congestion control on priority {list_numbers(missing)}"))
        yield from gather(found, host.name)


def _judge_notifications(source: LintSource) -> Iterator[Hit]:
    """A notification that can be paused waits behind the very congestion that it reports."""
    for host in source.hosts:
        found: list[tuple[ObservedPort, str, Place, str]] = []
        for port in _nics(host):
            paused, nic = find_priorities(port), port.nic
            if nic is None:
                continue
            right = "a priority of their own that does not pause, as 6"
            if nic.notify_priority is not None and nic.notify_priority.value in paused:
                words = f"congestion notifications leave with priority {nic.notify_priority.value}, which pauses"
                found.append((port, words, nic.notify_priority.where, right))
            elif nic.notify_dscp is not None and classify(port, nic.notify_dscp.value) in paused:
                words = f"DSCP {nic.notify_dscp.value} of congestion notifications has a priority that pauses"
                found.append((port, words, nic.notify_dscp.where, right))
        yield from gather(found, host.name)


def _judge_buffers(source: LintSource) -> Iterator[Hit]:
    """A NIC reckons its headroom with the length it was told, 7 m where nobody told it."""
    for host in source.hosts:
        found: list[tuple[ObservedPort, str, Place, str]] = []
        for port in _nics(host):
            nic = port.nic
            if nic is None or port.rate_gbps is None or port.mtu is None:
                continue
            length = port.length_m or nic.cable_m
            need = nic_headroom(port.rate_gbps.value, None if length is None else length.value, port.mtu.value)
            for priority in find_priorities(port):
                index, size = find_buffer(port, priority)
                if need is not None and size is not None and size.value < need.driver_xoff:
                    words = (
                        f"receive buffer {index} of priority {priority} has {size.value:,} B, and the driver's formula "
                        f"asks for {need.driver_xoff:,} B"
                    )
                    found.append((port, words, size.where, f"at least {need.buffer:,} B for its cable"))
        yield from gather(found, host.name)


def _judge_length(source: LintSource) -> Iterator[Hit]:
    for host in source.hosts:
        found: list[tuple[ObservedPort, str, Place, str]] = []
        for port in _nics(host):
            told = None if port.nic is None else port.nic.cable_m
            if told is not None and port.length_m is not None and told.value < port.length_m.value:
                words = f"it reckons with {told.value:g} m of cable, and its cable has {port.length_m.value:g} m"
                found.append((port, words, told.where, f"mlnx_qos --pfc LIST --cable_len {port.length_m.value:g}"))
        yield from gather(found, host.name)


def _judge_virtual(source: LintSource) -> Iterator[Hit]:
    for host in source.hosts:
        found: list[tuple[ObservedPort, str, Place, str]] = []
        for port in _nics(host):
            nic = port.nic
            if nic is None or nic.is_virtual is None or not nic.is_virtual.value:
                continue
            if nic.traffic_class is None or nic.traffic_class.value >> 2 == 0:
                words = "a virtual function sends DSCP 0 unless its physical function is told otherwise"
                found.append(
                    (port, words, nic.is_virtual.where, "trust, PFC and tc/1/traffic_class on the physical function")
                )
        yield from gather(found, host.name)


RULES = (
    Rule("nic.byte-lossy", "critical", _judge_byte, "NVIDIA/nccl issue 2383; openucx/ucx issue 2434"),
    Rule("nic.default-lossy", "critical", _judge_default, "openucx/ucx issue 2434; chimera-nas/chimera PR 617"),
    Rule("nic.sends-lossy", "critical", _judge_sent, "openucx/ucx issue 2434; chimera-nas/chimera PR 617"),
    Rule("nic.notifications", "warning", _judge_notify, "SIGCOMM 2015 (DCQCN): notifications go first"),
    Rule("nic.unknown-device", "warning", _judge_devices, "NCCL_IB_HCA against ibdev2netdev"),
    Rule("nic.not-ecn-capable", "warning", _judge_ecn, "sonic-buildimage issue 27606"),
    Rule("nic.gid", "critical", _judge_gid, "NVIDIA/nccl issues 769 and 426; uccl pull request 803"),
    Rule("nic.trust", "critical", _judge_trust, "Mellanox/network-operator issues 269 and 179"),
    Rule("nic.no-pause", "critical", _judge_pause, "NVIDIA/nccl issue 378"),
    Rule("nic.willing", "warning", _judge_willing, "the firmware takes what LLDP brings; Mellanox DCBX"),
    Rule("nic.one-source-port", "critical", _judge_ports, "NVIDIA/nvshmem issue 27; DeepEP issue 415; our lab"),
    Rule("nic.congestion-control", "warning", _judge_marks, "ecn/roce_np and roce_rp per priority"),
    Rule("nic.notifications-pause", "critical", _judge_notifications, "DCQCN paper, SIGCOMM 2015"),
    Rule("nic.small-buffer", "critical", _judge_buffers, "mlx5 port_buffer.c"),
    Rule("nic.cable-length", "warning", _judge_length, "mlx5 assumes 7 m"),
    Rule("nic.virtual-function", "warning", _judge_virtual, "Mellanox/network-operator issues 269 and 179"),
)  # fmt: skip
