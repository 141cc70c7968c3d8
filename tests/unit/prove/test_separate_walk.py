from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from tests import tenant_files as make
from tests.unit.prove.tenant_walk import Walk
from weftline.model.isolation import Sharing
from weftline.model.observed import ObservedDevice
from weftline.model.observed_routing import ObservedRouter, ObservedVrf
from weftline.model.proof import Verdict
from weftline.model.separation import EdgePort, SeparationFiles
from weftline.prove.separate import check_separation, prove_separation

TENANTS = ("red", "blue", "store")
VRFS = ("A", "B", "C")
TARGETS = ("1:10", "1:11", "2:10", "*:11", "65001:10", "auto")
WIDE = ("10.0.0.0/8", "10.1.0.0/16", "10.2.0.0/15", "10.1.1.0/30", "0.0.0.0/0", "10.0.0.1/32")


@st.composite
def leaves(draw: st.DrawFn, number: int) -> tuple[ObservedDevice, list[EdgePort]]:
    name = f"leaf-{number}"
    ports = [make.make_port(name, "Loopback0", None, f"10.0.0.{number}/32")]
    ends: list[EdgePort] = []
    for index, owner in enumerate(draw(st.lists(st.sampled_from(TENANTS), min_size=1, max_size=3))):
        vrf = draw(st.sampled_from((*VRFS, *VRFS, *VRFS, "default")))
        subnet = f"10.{number}.{index}.0/31"
        strict = make.say(name, "urpf", "strict")
        port = make.make_port(name, f"Ethernet{index}", None if vrf == "default" else vrf, subnet, checks_source=strict)
        ports.append(port)
        ends.append(EdgePort(f"host-{number}-{index}", owner, f"{name}/{index}", (name, port.name)))
    vrfs = [draw(make_vrf(name, vrf, number)) for vrf in VRFS]
    routers = [draw(make_process(name, vrf)) for vrf in VRFS if draw(st.integers(0, 5))]
    spoken = (make.make_neighbour(name, "192.0.2.1", "evpn"),) if draw(st.integers(0, 4)) else ()
    routers.append(make.make_router(name, "default", 65000, neighbours=spoken))
    device = ObservedDevice(
        name, "switch", "any", (), ports=tuple(ports), vrfs=tuple(vrfs), routers=tuple(routers), covers=make.COVERS
    )
    return device, ends


@st.composite
def make_vrf(draw: st.DrawFn, device: str, name: str, number: int) -> ObservedVrf:
    texts: list[str] = []
    if not draw(st.integers(0, 4)):
        target = draw(st.sampled_from((*VRFS, "default", "")))
        wide = draw(st.sampled_from(WIDE))
        texts.append(f"{wide} via 10.9.9.9{' vrf ' if target else ''}{target}")
    vni = draw(st.sampled_from((None, 10 + VRFS.index(name), 1000 * number + VRFS.index(name))))
    said = None if vni is None else make.say(device, "vni", vni)
    return ObservedVrf(name, make.place(device, name), said, make.say_all(device, f"static {name}", *texts))


@st.composite
def make_process(draw: st.DrawFn, device: str, vrf: str) -> ObservedRouter:
    some = st.lists(st.sampled_from(TARGETS), max_size=2, unique=True).map(tuple)
    others = st.sampled_from([one for one in (*VRFS, "default") if one != vrf])
    return make.make_router(
        device,
        vrf,
        draw(st.sampled_from((65001, 65001 + 65536, 1))),
        imports=draw(some),
        exports=draw(some),
        imported_vrfs=draw(st.lists(others, max_size=1).map(tuple)) if not draw(st.integers(0, 3)) else (),
        networks=draw(st.lists(st.sampled_from(WIDE), max_size=1).map(tuple)) if not draw(st.integers(0, 3)) else (),
        redistributed=draw(st.sampled_from((("connected",), ("connected", "static"), ()))),
        ignores_number=draw(st.sampled_from((True, False, None))),
    )


@st.composite
def fabrics(draw: st.DrawFn) -> SeparationFiles:
    made = [draw(leaves(number)) for number in range(1, draw(st.integers(1, 3)) + 1)]
    sharings = (Sharing("store"),) if draw(st.booleans()) else ()
    return SeparationFiles(
        tuple(device for device, _ in made), tuple(end for _, ends in made for end in ends), (), sharings, "x", "files"
    )


def forbid(files: SeparationFiles, met: set[tuple[str, str]]) -> set[tuple[str, str]]:
    hubs = {sharing.hub for sharing in files.sharings}
    return {(a, b) for a, b in met if a != b and not hubs & {a, b} - {"underlay", "out"}} | {
        (a, b) for a, b in met if b in {"underlay", "out"}
    }


NAMES = {"the underlay": "underlay", "everywhere else": "out"}


@settings(max_examples=300, deadline=None)
@given(files=fabrics())
def test_packets_that_are_walked_one_by_one_agree(files: SeparationFiles) -> None:
    """What certainly leads somewhere is refuted, and what is proved has no way by which anything may go."""
    proof = prove_separation(files, required=True)
    walk = Walk(files)
    certain = forbid(files, walk.meetings(is_certain=True))
    told = {
        (one["a_owner"], NAMES.get(one["b_owner"], one["b_owner"]))
        for one in proof.detail["meetings"]
        if one["kind"] in {"path", "underlay", "outside"}
    }
    if len(proof.detail["meetings"]) < 20:
        assert told == certain
    else:
        assert told <= certain
    if proof.verdict is Verdict.PROVED:
        assert not forbid(files, walk.meetings(is_certain=False))
        assert check_separation(proof)


@settings(max_examples=30, deadline=None)
@given(files=fabrics())
def test_the_order_of_devices_and_the_names_of_vrfs_change_nothing(files: SeparationFiles) -> None:
    turned = replace(files, devices=files.devices[::-1])
    assert prove_separation(turned, required=True).verdict is prove_separation(files, required=True).verdict
