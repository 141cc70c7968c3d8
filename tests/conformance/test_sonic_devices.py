"""The second law of SONiC: its rendered files, read as files that anybody wrote, say what the intent says."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings

from tests import intents
from weftline.formats.config_db import interface_name
from weftline.model.intent import ClassIntent, DeviceIntent, PortIntent
from weftline.model.observed import ObservedDevice
from weftline.model.observed_port import ObservedPort, ObservedQueue
from weftline.vendors import VENDORS


def read_back(intent: DeviceIntent) -> ObservedDevice:
    """Render one intent and read its files as anybody's."""
    vendor = VENDORS["sonic"]
    assert vendor.configured is not None
    assert vendor.recognise is not None
    files = [(artifact.path, artifact.content) for artifact in vendor.render((intent,))]
    # The patch beside it is a change, not a configuration.
    forms = [vendor.recognise(name, content[:65_536]) for name, content in files]
    taken = [file for file, form in zip(files, forms, strict=True) if form and form != vendor.change_form]
    assert [name.rpartition("/")[2] for name, _ in taken] == ["config_db.json"]
    (device,) = vendor.configured(taken)
    return device


def value(said: Any) -> Any:
    """The value of a Said, None where nothing is said."""
    return None if said is None else said.value


@given(intents.switches())
@settings(max_examples=15)
def test_ports(intent: DeviceIntent) -> None:
    device = read_back(intent)
    assert device.problems == ()
    assert device.name in {intent.device, f"switches/{intent.device}/config_db.json"}
    assert device.unread == ()
    cage = 1 if intent.platform is None else intent.platform.ports_per_cage
    found = {port.name: port for port in device.ports}
    for wanted in intent.ports:
        check_link(wanted, found.pop(interface_name(wanted.key, cage)))
    assert all(name.startswith(("Loopback", "Vlan")) for name in found)


def check_link(wanted: PortIntent, port: ObservedPort) -> None:
    assert value(port.number) == wanted.key
    assert (value(port.peer) or "") == wanted.peer
    assert value(port.rate_gbps) == round(wanted.rate_gbps * 1000) / 1000
    assert value(port.is_up) == wanted.is_up
    assert (value(port.mtu), value(port.length_m)) == (wanted.mtu, wanted.length_m)
    assert (value(port.lanes), value(port.fec)) == (wanted.lanes, wanted.fec)
    assert [value(said) for said in port.addresses] == ([] if wanted.address is None else [wanted.address])
    assert (value(port.pauses) or None) == wanted.pause_priorities
    assert (value(port.watched) or None) == (wanted.watched_priorities or None)
    assert value(port.is_asymmetric) is False
    assert value(port.trust) == "dscp"
    for group in wanted.groups:
        observed = next(item for item in port.groups if item.key == group.key)
        assert value(observed.is_computed) == bool(group.is_computed)
        if group.share is not None:
            assert value(observed.profile) == group.share
        elif not group.is_computed:
            assert (value(observed.size_bytes), value(observed.xoff_bytes)) == (group.size_bytes, group.xoff_bytes)
            assert (value(observed.xon_bytes), value(observed.xon_offset_bytes)) == (
                group.xon_bytes,
                group.xon_offset_bytes,
            )
            assert (value(observed.dynamic_th), value(observed.pool)) == (group.dynamic_th, group.pool)
    assert len(port.groups) == len(wanted.groups)


@given(intents.switches())
@settings(max_examples=15)
def test_classes(intent: DeviceIntent) -> None:
    assert intent.queues is not None
    device = read_back(intent)
    for port in device.ports:
        if not port.name.startswith("Ethernet"):
            continue
        sorted_by = value(port.class_of_dscp)
        assert sorted_by == {dscp: item.key for item in intent.queues.classes for dscp in item.dscps}
        queues = {queue.key: queue for queue in port.queues}
        for item in intent.queues.classes:
            assert value(port.group_of_class)[item.key] == item.group
            assert value(port.queue_of_class)[item.key] == item.queue
            if item.priority is not None:
                assert value(port.queue_of_priority)[item.priority] == item.queue
            check_queue(item, queues.pop(item.queue))
        assert queues == {}
        dog, watched = intent.queues.watchdog, port.watchdog
        if dog is not None and watched is not None:
            assert (value(watched.detect_ms), value(watched.restore_ms)) == (dog.detect_ms, dog.restore_ms)
            assert value(watched.action) == dog.action


def check_queue(wanted: ClassIntent, queue: ObservedQueue) -> None:
    assert (value(queue.schedule), value(queue.weight)) == (wanted.schedule, wanted.weight)
    assert value(queue.profile) == wanted.share
    if wanted.mark_max_bytes is None:
        assert queue.marks is None
        return
    assert queue.marks is not None
    assert value(queue.marks.is_marking) is True
    assert (value(queue.marks.min_bytes), value(queue.marks.max_bytes)) == (
        wanted.mark_min_bytes,
        wanted.mark_max_bytes,
    )
    assert value(queue.marks.percent) == wanted.mark_percent


@given(intents.switches())
@settings(max_examples=15)
def test_the_device(intent: DeviceIntent) -> None:
    device = read_back(intent)
    exchange = None if intent.forwarding is None else intent.forwarding.exchange
    assert exchange is not None
    assert [value(router.number) for router in device.routers] == [exchange.number]
    assert value(device.platform) == (None if intent.platform is None else intent.platform.hwsku)
    if intent.hashing is not None:
        assert value(device.hash_fields) == intent.hashing.fields
        assert value(device.hash_seed) in {None, intent.hashing.seed}
    if intent.queues is not None and intent.queues.watchdog is not None:
        assert device.watchdog is not None
        assert value(device.watchdog.poll_ms) == intent.queues.watchdog.poll_ms
    divided = intent.buffers
    if divided is None:
        assert device.pools == ()
        return
    assert value(device.buffer_model) == divided.model
    assert [
        (pool.name, value(pool.direction), value(pool.mode), value(pool.size_bytes), value(pool.headroom_bytes))
        for pool in device.pools
    ] == [(pool.key, pool.direction, pool.mode, pool.size_bytes, pool.headroom_bytes) for pool in divided.pools]
    assert value(device.over_subscribe_ratio) == divided.over_subscribe_ratio
    assert value(device.lossless_mtu) == divided.lossless_mtu
    assert value(device.small_packet_percent) == divided.small_packet_percent
