"""NVUE: what Weftline writes is read back exactly in both spellings, and what anybody wrote with its places."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import intents
from tests.designs import render_design
from tests.tenants import fit_tenants
from weftline.errors import CapabilityError
from weftline.model.artifact import ArtifactSet
from weftline.model.intent import DeviceIntent, list_facts
from weftline.model.observed import ObservedDevice
from weftline.model.observed_port import ObservedPort
from weftline.render.check import check_files
from weftline.vendors import VENDORS
from weftline.vendors.nvue.configured import configure
from weftline.vendors.nvue.spelling import NEWEST, read_release
from weftline.vendors.nvue.writing import HASH_KEYS

NVUE = VENDORS["nvue"]
RELEASES = ["5.5", "5.13.1", "5.15", None]


def fit(intent: DeviceIntent, release: str | None) -> DeviceIntent:
    """Make of an intent one that NVUE can carry: pauses by the number of the class, lengths up to 100 km."""
    intent = fit_tenants(intent, one_number=False)
    assert intent.queues is not None
    assert intent.platform is not None
    classes = tuple(
        replace(item, priority=None if item.priority is None else item.key) for item in intent.queues.classes
    )
    paused = tuple(item.key for item in classes if item.priority is not None) or None
    ports = tuple(
        replace(
            port,
            pause_priorities=paused,
            watched_priorities=paused,
            length_m=None if port.length_m is None else min(port.length_m, 100_000),
        )
        for port in intent.ports
    )
    hashing = intent.hashing
    if hashing is not None:
        fields = tuple(word for word in hashing.fields if word in HASH_KEYS) or ("source-port",)
        hashing = replace(hashing, fields=fields, is_adaptive=hashing.is_adaptive or None)
    return replace(
        intent,
        hashing=hashing,
        ports=ports,
        queues=replace(intent.queues, classes=classes),
        platform=replace(intent.platform, release=release),
    )


@given(intents.switches(), st.sampled_from(RELEASES))
@settings(max_examples=30)
def test_the_law(intent: DeviceIntent, release: str | None) -> None:
    intent = fit(intent, release)
    artifacts = ArtifactSet("", NVUE.render((intent,)))
    assert check_files((intent,), (NVUE,), artifacts) == ()
    (artifact,) = artifacts.artifacts
    (header, change) = yaml.safe_load(artifact.content)
    assert next(iter(change["set"])) == "system"
    assert header["header"]["nvue-api-version"] == "nvue_v1"


def test_a_release_has_its_words() -> None:
    intent = render_design("roce").intent("leaf-001")
    texts = {
        release: NVUE.render((fit(intent, release),))[0].content.decode().replace("on:", "") for release in RELEASES
    }
    for release in ("5.5", None):
        assert ("state: enabled" in texts[release]) == (release is None)
        assert ("enable: on" in texts[release]) == (release == "5.5")
        assert (re.search(r"^ +ipv4:$", texts[release], re.MULTILINE) is not None) == (release is None)
        assert (re.search(r"^ +ip:$", texts[release], re.MULTILINE) is not None) == (release == "5.5")
    assert texts["5.13.1"].replace("5.13", "5.15") == texts["5.15"] == texts[None]
    assert [read_release(text) for text in ("5.4", None, "5.9.2", "6.0")] == [(5, 4), NEWEST, (5, 9), (6, 0)]


@pytest.mark.parametrize("text", ["x", "", "5", "4.4", "5.x", "5.15.0.1"])
def test_what_is_no_release(text: str) -> None:
    with pytest.raises(CapabilityError) as caught:
        read_release(text)
    assert caught.value.code == "capability.release"


def test_what_no_setting_says() -> None:
    assert NVUE.unsaid is not None
    paths = [path for path in list_facts(render_design("roce").intent("leaf-001")) if NVUE.unsaid(path)]
    assert {path.rpartition(".")[2] for path in paths if path.split(".")[0] in {"ports", "queues"}} >= {
        "group", "poll_ms", "restore_ms", "action",
    }  # fmt: skip


@given(st.data())
@settings(max_examples=30)
def test_a_value_that_differs_is_noticed(data: st.DataObject) -> None:
    """Each number that decides something is read: with another one the file says something else."""
    intent = fit(render_design("roce").intent("leaf-001"), None)
    (artifact,) = NVUE.render((intent,))
    lines = artifact.content.decode().split("\n")
    silent = ("rev-id", "nvue-api", "version", "model", "memory-percent", "max-prefix-len", "polling")
    places = [
        place
        for place, line in enumerate(lines)
        if re.search(r"\d", line) and not line.lstrip(" -").startswith((*silent, "#", "'")) and "{}" not in line
    ]
    place = data.draw(st.sampled_from(places))
    lines[place] = re.sub(r"(\d+)(?=\D*$)", lambda found: str(int(found[1]) + 1), lines[place])
    damaged = ArtifactSet("", (replace(artifact, content="\n".join(lines).encode()),))
    assert check_files((intent,), (NVUE,), damaged) != (), lines[place]


SAMPLE = b"""- header:
    model: MSN4600
    nvue-api-version: nvue_v1
    version: Cumulus Linux 5.15.0
- set:
    system: {hostname: leaf-01, forwarding: {hash-seed: 10, ecmp-hash: {source-ip: on, source-port: off}}}
    qos:
      roce: {state: enabled, mode: lossless}
      pfc: {default-global: {switch-priority: {'3': {}}, port-buffer: 360000, xoff-threshold: 72000,
                             tx: enable, rx: disable}}
      congestion-control: {default-global: {traffic-class: {'3': {ecn: enable, min-threshold: 160000,
                                                                    max-threshold: 1600000}}}}
      egress-scheduler: {default-global: {traffic-class: {'3': {mode: dwrr, bw-percent: 40}}}}
      mapping: {OWN: {trust: l3, dscp: {'24': {switch-priority: 4}}}}
      remark: {MARK: {rewrite: l3, switch-priority: {'3': {dscp: 24}}}}
      link-pause: {LP: {rx: enable, tx: disable}}
      traffic-pool: {roce-lossless: {memory-percent: 80}}
      pfc-watchdog: {polling-interval: 200, robustness: 5}
      egress-shaper: {default-global: {}}
    interface:
      lo: {type: loopback, ipv4: {address: {192.0.2.1/32: {}}}}
      swp1-2: {type: swp, vrf: TEN_A, link: {mtu: 9216, speed: 400G, state: {up: {}}},
               qos: {pfc-watchdog: {state: enable}}}
      swp2: {description: host-0001/nic2, ipv4: {address: {198.51.100.0/31: {}}}, acl: {EDGE: {inbound: {}}}}
      swp3: {type: swp, qos: {mapping: {profile: OWN}, remark: {profile: MARK}, link-pause: {profile: LP}}}
      bond1: {type: bond, vrf: TEN_B, bond: {member: {swp3: {}}}, bridge: {domain: {br_default: {access: 10}}}}
      vlan10: {type: svi, vlan: 10}
    acl: {EDGE: {type: ipv4, rule: {'10': {action: {deny: {}}, match: {ip: {protocol: udp,
                                                                                  udp: {dest-port: {'4789': {}}}}}}}}}
    bridge: {domain: {br_default: {vlan: {'10': {vni: {'10010': {}}}}}}}
    evpn: {state: enabled}
    nve: {vxlan: {state: enabled, source: {address: 192.0.2.101}, encapsulation: {dscp: {action: copy}},
                  decapsulation: {dscp: {action: preserve}}}}
    router:
      bgp: {state: enabled, autonomous-system: 65101, router-id: 192.0.2.1}
      adaptive-routing: {state: enabled}
    vrf:
      default:
        router:
          bgp:
            state: enabled
            address-family: {ipv4-unicast: {multipaths: {ebgp: 64},
                                            redistribute: {connected: {state: enabled, route-map: OWN}}}}
            peer-group: {UP: {remote-as: external, bfd: {state: enabled},
                              address-family: {l2vpn-evpn: {state: enabled}}}}
            neighbor: {swp51: {type: unnumbered, peer-group: UP}, swp52: {type: unnumbered, remote-as: 65200}}
      TEN_A:
        evpn: {state: enabled, vni: {'10001': {}}}
        router: {bgp: {state: enabled, rd: '192.0.2.1:10001',
                       address-family: {ipv4-unicast: {route-import: {from-vrf: {list: {TEN_B: {}}}}}}}}
      TEN_B:
        evpn: {vni: {'10002': {}}}
        router:
          static: {0.0.0.0/0: {via: {192.0.2.9: {}}}}
          bgp: {state: enabled, route-import: {from-evpn: {route-target: {'65101:10001': {}}}}}
"""


@pytest.fixture
def device() -> ObservedDevice:
    """The sample as a device."""
    (read,) = configure([("startup.yaml", SAMPLE)])
    return read


def port(device: ObservedDevice, name: str) -> ObservedPort:
    """Find a port."""
    return next(one for one in device.ports if one.name == name)


def value(said: object) -> object:
    """Return what is said, or None."""
    return getattr(said, "value", None)


def test_the_preset_stands_under_the_profiles(device: ObservedDevice) -> None:
    one = port(device, "swp1")
    assert one.trust is not None
    assert (one.trust.value, one.trust.where.line, one.trust.where.path) == ("both", 8, "qos.roce")
    assert one.class_of_dscp is not None
    assert (one.class_of_dscp.value[26], one.class_of_dscp.value[48], one.class_of_dscp.value[0]) == (3, 6, 0)
    assert value(one.queue_of_class) == {0: 0, 1: 0, 2: 0, 3: 3, 4: 0, 5: 0, 6: 6, 7: 0}
    assert one.pauses is not None
    assert (one.pauses.value, one.pauses.where.line, value(one.pause_ways)) == ((3,), 9, "tx")
    (group,) = one.groups
    assert (group.key, value(group.size_bytes), value(group.xoff_bytes)) == (3, 360_000, 288_000)
    zero, three, six = one.queues
    assert (value(zero.weight), value(three.weight), value(six.schedule)) == (50, 40, "strict")
    assert three.marks is not None
    assert [value(three.marks.min_bytes), value(three.marks.is_marking)] == [160_000, True]
    assert zero.marks is not None
    assert [value(zero.marks.min_bytes), value(zero.marks.percent)] == [150_000, 100]
    assert [value(said) for said in (one.watched, one.mtu, one.rate_gbps, one.is_up, one.vrf, one.number)] == [
        (3,), 9216, 400.0, True, "TEN_A", 1,
    ]  # fmt: skip


def test_a_port_has_profiles_of_its_own(device: ObservedDevice) -> None:
    one = port(device, "swp3")
    assert one.class_of_dscp is not None
    assert (value(one.trust), one.class_of_dscp.value[24], one.class_of_dscp.value[26]) == ("dscp", 4, 3)
    assert (value(one.dscp_of_class), value(one.link_pause), value(one.bundle), value(one.vrf)) == (
        {3: 24}, "rx", "bond1", "TEN_B",
    )  # fmt: skip
    assert [said.value for said in one.vlans] == [10]
    two = port(device, "swp2")
    assert (value(two.peer), two.addresses[0].value, two.addresses[0].where.line) == (
        "host-0001/nic2", "198.51.100.0/31", 24,
    )  # fmt: skip
    assert value(port(device, "vlan10").routes_vlan) == 10


def test_a_preset_that_is_lossy_pauses_nothing() -> None:
    for text in (b"qos: {roce: {enable: on, mode: lossy}}", b"qos: {roce: {mode: lossy}}"):
        (read,) = configure([("x", text + b"\ninterface: {swp1: {}}\n")])
        assert value(read.ports[0].pauses) == ()
    (read,) = configure([("x", b"qos: {roce: {enable: off}}\ninterface: {swp1: {}}\n")])
    assert read.ports[0].pauses is None


def test_tenancy(device: ObservedDevice) -> None:
    assert [(vrf.name, value(vrf.vni)) for vrf in device.vrfs] == [("TEN_A", 10001), ("TEN_B", 10002)]
    assert [said.value for said in device.vrfs[1].static_routes] == ["0.0.0.0/0 via 192.0.2.9"]
    fabric, first, second = device.routers
    assert [value(said) for said in (fabric.number, fabric.router_id, fabric.width)] == [65101, "192.0.2.1", 64]
    assert [said.value for said in fabric.redistributed] == ["connected via OWN"]
    up, other = fabric.neighbours
    assert (up.name, value(up.is_external), value(up.has_bfd)) == ("swp51", True, True)
    assert [said.value for said in up.families] == ["evpn", "ipv4"]
    assert (value(other.number), [said.value for said in other.families]) == (65200, ["ipv4"])
    assert ([said.value for said in first.imported_vrfs], value(first.rd)) == (["TEN_B"], "192.0.2.1:10001")
    assert [said.value for said in (*first.imports, *second.imports, *second.exports)] == [
        "auto",
        "65101:10001",
        "auto",
    ]
    assert device.tunnel is not None
    assert [value(device.tunnel.source), value(device.tunnel.dscp_out), value(device.tunnel.dscp_in)] == [
        "192.0.2.101", "copy", "preserve",
    ]  # fmt: skip
    assert [(vlan, said.value) for vlan, said in device.tunnel.vni_of_vlan] == [(10, 10010)]


def test_the_rest(device: ObservedDevice) -> None:
    (edge,) = device.filters
    assert [(rule.action, rule.protocol, rule.target_port) for rule in edge.rules] == [("deny", "udp", "4789")]
    assert (value(edge.stage), [said.value for said in edge.ports]) == ("in", ["swp2"])
    assert (device.name, value(device.platform), value(device.release)) == ("leaf-01", "MSN4600", "5.15")
    assert device.watchdog is not None
    assert [value(device.watchdog.poll_ms), value(device.watchdog.detect_ms)] == [200, 1000]
    assert (value(device.hash_fields), value(device.hash_seed), value(device.adaptive_routing)) == (
        ("source-ip",), 10, True,
    )  # fmt: skip
    assert device.problems == ()
    assert device.unread == (("qos.egress-shaper", 1),)
    assert [pool.name for pool in device.pools] == ["roce-lossless"]


@pytest.mark.parametrize(
    ("text", "code", "path"),
    [
        ("qos: {pfc: {default-global: {switch-priority: {'9': {}}}}}", "artifact.out-of-range", "switch-priority.9"),
        ("qos: {mapping: {default-global: {dscp: {'64': {switch-priority: 3}}}}}", "artifact.out-of-range", "dscp.64"),
        ("qos: {mapping: {default-global: {trust: some}}}", "artifact.out-of-range", "trust"),
        ("interface: {swp1: {link: {mtu: big}}}", "artifact.out-of-range", "link.mtu"),
        ("interface: {swp1: {link: {speed: fast}}}", "artifact.out-of-range", "link.speed"),
        ("interface: {swp1: {qos: {pfc: {profile: GONE}}}}", "artifact.dangling", "pfc.profile"),
        ("interface: {swp1: {acl: {GONE: {inbound: {}}}}}", "artifact.dangling", "acl.GONE"),
        ("vrf: {A: {evpn: {vni: {'99999999': {}}}}}", "artifact.out-of-range", "vni.99999999"),
        ("qos: {roce: {enable: perhaps}}", "artifact.out-of-range", "roce.enable"),
    ],
)
def test_what_cannot_be_is_named(text: str, code: str, path: str) -> None:
    (read,) = configure(
        [("x.yaml", f"interface: {{swp1: {{}}}}\n{text}\n".encode().replace(b"interface: {swp1: {}}\ninter", b"inter"))]
    )
    (problem,) = read.problems
    assert problem.where is not None
    assert (problem.code, problem.severity) == (code, "warning")
    assert problem.where.path.endswith(path)


@given(st.integers(0, len(SAMPLE)), st.binary(max_size=5), st.integers(0, 60))
def test_damage_never_raises(place: int, junk: bytes, gone: int) -> None:
    configure([("x.yaml", SAMPLE[:place] + junk + SAMPLE[place + gone :])])


WORDS = ["set", "interface", "swp1", "qos", "pfc", "default-global", "switch-priority", "3", "roce", "vrf", "router",
         "bgp", "neighbor", "address-family", "link", "address", "mapping", "trust", "acl", "rule"]  # fmt: skip
TREES = st.recursive(
    st.sampled_from(["on", "3", "x", "", "9999999"]) | st.none() | st.integers() | st.lists(st.text("ab", max_size=2)),
    lambda below: st.dictionaries(st.sampled_from(WORDS), below, max_size=4),
    max_leaves=30,
)


@given(TREES)
def test_any_tree_is_read(tree: object) -> None:
    configure([("x.yaml", yaml.safe_dump(tree).encode())])
