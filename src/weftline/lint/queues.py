"""Rules on queues: marks before pauses, shares for everybody, notifications first."""

from __future__ import annotations

from collections.abc import Iterator

from weftline.errors import Place
from weftline.headroom import find_limit, judge_marks
from weftline.headroom.sorting import find_paused_classes, find_priorities, get_queue, read_map
from weftline.lint.hosts import reacts_to_marks
from weftline.lint.pauses import find_notify_dscps
from weftline.lint.rule import Hit, LintSource, Rule, gather, is_used, name_table
from weftline.model.observed import ObservedDevice
from weftline.model.observed_port import ObservedPort, ObservedQueue

ECT = 3
"""The two ECN bits of the traffic class byte. RFC 3168, 5."""


def _lossless(device: ObservedDevice) -> Iterator[tuple[ObservedPort, int, int, ObservedQueue | None]]:
    """Each lossless class of each used port, with the number of its queue and the queue where one is said."""
    for port in device.ports:
        if is_used(port) and find_priorities(port):
            for number in sorted(find_paused_classes(port)):
                key = read_map(port.queue_of_class).get(number, number)
                yield port, number, key, get_queue(port, key)


def _judge_unmarked(source: LintSource) -> Iterator[Hit]:
    """Without marks congestion ends in pauses, which spread to flows that did not cause it."""
    for device in source.switches:
        if "marks" not in device.covers:
            continue
        found: list[tuple[ObservedPort, str, Place, str]] = []
        for port, number, key, queue in _lossless(device):
            marks = None if queue is None else queue.marks
            if marks is None:
                where = port.where if queue is None else queue.where
                right = f"an ECN profile{name_table(device, 'queues')}"
                found.append((port, f"queue {key} of lossless class {number} marks nothing", where, right))
            elif marks.is_marking is not None and not marks.is_marking.value:
                words = f"queue {key} has profile {marks.name}, and its marking is off"
                found.append((port, words, marks.is_marking.where, "ECN on"))
        yield from gather(found, device.name)


def _judge_order(source: LintSource) -> Iterator[Hit]:
    for device in source.switches:
        found: list[tuple[ObservedPort, str, Place, str]] = []
        for port in device.ports:
            for queue in port.queues:
                marks = queue.marks
                if marks is None or marks.min_bytes is None or marks.max_bytes is None:
                    continue
                if marks.min_bytes.value > marks.max_bytes.value:  # equal ones are a step, as DCTCP wants
                    words = (
                        f"profile {marks.name} marks from {marks.min_bytes.value:,} B and all from "
                        f"{marks.max_bytes.value:,} B"
                    )
                    found.append((port, words, marks.min_bytes.where, "a minimum below the maximum"))
                if marks.percent is not None and marks.percent.value == 0:
                    words = f"profile {marks.name} marks 0 % below its maximum"
                    found.append((port, words, marks.percent.where, "more than 0 %"))
        yield from gather(found, device.name)


def _judge_dropping(source: LintSource) -> Iterator[Hit]:
    """A queue with ECN drops, by the same thresholds, packets that say they know no ECN."""
    silent = _find_silent(source)
    for device in source.switches:
        found: list[tuple[ObservedPort, str, Place, str]] = []
        for port, _, key, queue in _lossless(device):
            marks = None if queue is None else queue.marks
            if marks is None or marks.drops_unmarked is None or not marks.drops_unmarked.value:
                continue
            words = f"queue {key} drops by profile {marks.name} what is not ECN-capable"
            words += f", and {silent} sends so" if silent else ""
            found.append((port, words, marks.drops_unmarked.where, "senders with ECT(0), or no drop of such packets"))
        for hit in gather(found, device.name):
            yield hit if not silent else Hit(hit.device, hit.message, hit.where, hit.right, hit.ports, "critical")


def _find_silent(source: LintSource) -> str:
    """Name a host whose RDMA packets are not ECN-capable."""
    for host in source.hosts:
        for port in host.ports:
            said = None if port.nic is None else port.nic.traffic_class
            if said is not None and not said.value & ECT and not reacts_to_marks(port):
                return f"{host.name}/{port.name}"
    return ""


def _judge_late(source: LintSource) -> Iterator[Hit]:
    """A queue should mark before its senders are paused; two verdicts, with the arithmetic."""
    for device in source.switches:
        found: list[tuple[ObservedPort, str, Place, str, bool]] = []
        fan = max(sum(is_used(port) and bool(find_priorities(port)) for port in device.ports) - 1, 1)
        for port, number, key, queue in _lossless(device):
            marks = None if queue is None else queue.marks
            limit = find_limit(device, port, number, max(len(find_priorities(port)), 1))
            if marks is None or marks.min_bytes is None or limit is None:
                continue
            verdicts = judge_marks(marks.min_bytes.value, limit, fan)
            if verdicts is None or verdicts[1].holds:
                continue
            incast, worst = verdicts
            if incast.holds:
                words = (
                    f"queue {key} marks from {marks.min_bytes.value:,} B: before the pause of an incast, and after it "
                    f"where one port feeds {worst.fan} queues ({worst.how})"
                )
            else:
                words = (
                    f"queue {key} marks from {marks.min_bytes.value:,} B, and senders are paused before ({incast.how})"
                )
            right = (
                f"less than {worst.below_bytes:,.0f} B, or the knowledge that one port seldom feeds {worst.fan} queues"
            )
            found.append((port, words, marks.min_bytes.where, right, incast.holds))
        for holds in (False, True):
            for hit in gather(((p, w, at, r) for p, w, at, r, h in found if h is holds), device.name):
                yield Hit(hit.device, hit.message, hit.where, hit.right, hit.ports, "note" if holds else None)


def _judge_share(source: LintSource) -> Iterator[Hit]:
    """No class may starve another: a strict lossless class does, and so does a weight of 0."""
    for device in source.switches:
        found: list[tuple[ObservedPort, str, Place, str]] = []
        for port in device.ports:
            queues = read_map(port.queue_of_class)
            stopped = (
                {queues.get(number, number) for number in find_paused_classes(port)} if is_used(port) else set[int]()
            )
            for queue in port.queues:
                if queue.key in stopped and queue.schedule is not None and queue.schedule.value == "strict":
                    words = f"queue {queue.key} is lossless and strict: it starves all weighted classes"
                    found.append((port, words, queue.schedule.where, "a weight"))
                if queue.weight is not None and queue.weight.value == 0:
                    found.append((port, f"queue {queue.key} has weight 0", queue.weight.where, "a weight above 0"))
        yield from gather(found, device.name)


def _judge_notify(source: LintSource) -> Iterator[Hit]:
    """Notifications that wait behind data come too late."""
    wanted = find_notify_dscps(source)
    for device in source.switches:
        if "schedule" not in device.covers:
            continue
        found: list[tuple[ObservedPort, str, Place, str]] = []
        for port in device.ports:
            if not is_used(port) or not find_priorities(port) or port.class_of_dscp is None:
                continue
            for dscp in sorted(wanted):
                number = port.class_of_dscp.value.get(dscp)
                key = None if number is None else read_map(port.queue_of_class).get(number, number)
                queue = None if key is None else get_queue(port, key)
                if queue is None or queue.schedule is None or queue.schedule.value == "strict":
                    continue
                words = f"congestion notifications (DSCP {dscp}) leave by queue {key}, which is not strict"
                # Where a queue is strict, the packets are in the wrong one; else the queue is served wrongly.
                strict = any(q.schedule is not None and q.schedule.value == "strict" for q in port.queues)
                where = port.class_of_dscp.where if strict else queue.schedule.where
                found.append((port, words, where, "a strict queue"))
        yield from gather(found, device.name)


def _judge_uneven(source: LintSource) -> Iterator[Hit]:
    """Switches that mark differently share a bottleneck unfairly."""
    kinds: dict[tuple[object, ...], list[tuple[ObservedDevice, ObservedPort, Place]]] = {}
    for device in source.switches:
        for port, _, _, queue in _lossless(device):
            marks = None if queue is None else queue.marks
            if marks is not None and marks.min_bytes is not None and marks.max_bytes is not None:
                rate = None if port.rate_gbps is None else port.rate_gbps.value
                percent = None if marks.percent is None else marks.percent.value
                key = (rate, marks.min_bytes.value, marks.max_bytes.value, percent)
                kinds.setdefault(key, []).append((device, port, marks.min_bytes.where))
    for rate in sorted({key[0] for key in kinds}, key=str):
        mine = {key: ends for key, ends in kinds.items() if key[0] == rate}
        usual = max(mine, key=lambda key: len(mine[key]))
        for key, ends in mine.items():
            if key == usual:
                continue
            words = (
                f"marks from {key[1]:,} B to {key[2]:,} B ({key[3]} %), and most ports of that rate from "
                f"{usual[1]:,} B to {usual[2]:,} B ({usual[3]} %)"
            )
            for name in sorted({device.name for device, _, _ in ends}):
                found = [
                    (port, words, where, "the same thresholds") for device, port, where in ends if device.name == name
                ]
                yield from gather(found, name)


RULES = (
    Rule("queue.not-marked", "warning", _judge_unmarked, "sonic-buildimage issue 21891; SONiC issue 788"),
    Rule("queue.thresholds", "critical", _judge_order, "a minimum that is no minimum"),
    Rule("queue.drops-unmarked", "note", _judge_dropping, "sonic-buildimage issue 27606"),
    Rule("queue.marks-late", "warning", _judge_late, "SIGCOMM 2015 (DCQCN), section 4: marks before pauses"),
    Rule("queue.starves", "warning", _judge_share, "control and storage must be served under full load"),
    Rule("queue.notifications", "warning", _judge_notify, "SIGCOMM 2015 (DCQCN): notifications go first"),
    Rule("queue.marks-differ", "warning", _judge_uneven, "SIGCOMM 2016, section 6: drift of a switch model's defaults"),
)
