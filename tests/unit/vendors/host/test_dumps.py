"""Outputs of hosts become devices: whose each is, what it says of which port, and where two disagree."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import host_texts as texts
from weftline.model.observed import ObservedDevice
from weftline.model.observed_port import ObservedPort
from weftline.vendors.host import HOST
from weftline.vendors.host.dumps import read_hosts
from weftline.vendors.host.script import RULES, SCRIPT, UNIT

SYSTEM = (
    b"# grep . /sys/class/net/eth2/ecn/roce_np/enable/*\n"
    b"/sys/class/net/eth2/ecn/roce_np/enable/2:0\n/sys/class/net/eth2/ecn/roce_np/enable/3:1\n"
    b"/sys/class/net/eth2/ecn/roce_rp/enable/3:1\n"
    b"/sys/class/net/eth2/ecn/roce_np/cnp_dscp:48\n/sys/class/net/eth2/ecn/roce_np/cnp_802p_prio:6\n"
    b"/sys/class/infiniband/mlx5_0/tc/1/traffic_class:Global tclass=106\n"
    b"/sys/class/infiniband/mlx5_0/ports/1/hw_counters/np_cnp_sent:17\n"
)
FOLDER = (
    ("dumps/gpu-17/ibdev2netdev.txt", b"mlx5_0 port 1 ==> eth2 (Up)\n"),
    ("dumps/gpu-17/mlnx_qos-eth2.txt", texts.QOS.encode()),
    ("dumps/gpu-17/ethtool-a.txt", texts.PAUSE.encode()),
    ("dumps/gpu-17/ethtool-S-eth2.txt", texts.COUNTERS.encode()),
    ("dumps/gpu-17/show_gids.txt", texts.GIDS.encode()),
    ("dumps/gpu-17/ibv_devinfo.txt", texts.DEVINFO.encode()),
    ("dumps/gpu-17/nccl.conf", b"NCCL_IB_TC=106\nNCCL_IB_GID_INDEX=3\n"),
    ("dumps/gpu-17/cma_roce_tos.txt", b"# cma_roce_tos -d mlx5_0 -p 1\n106\n"),
    ("dumps/gpu-17/sys.txt", SYSTEM),
    ("dumps/gpu-18/mlnx_qos-eth2.txt", b"Priority trust state: pcp\n"),
)


def only(device: ObservedDevice) -> ObservedPort:
    """The one port of a device."""
    (port,) = device.ports
    return port


def value(said: object) -> object:
    """What is said."""
    return getattr(said, "value", None)


def test_a_folder_is_a_host() -> None:
    first, second = read_hosts(FOLDER)
    assert (first.name, first.role, first.vendor, second.name) == ("gpu-17", "host", "host", "gpu-18")
    assert len(first.files) == 9
    assert value(only(second).trust) == "pcp"
    assert only(second).pauses is None


def test_everything_of_a_port_comes_together() -> None:
    device = read_hosts(FOLDER)[0]
    port = next(port for port in device.ports if port.name == "eth2")
    nic = port.nic
    assert nic is not None
    assert value(nic.device) == "mlx5_0"
    assert [value(said) for said in (port.trust, port.pauses, port.link_pause)] == ["dscp", (3,), "rx"]
    assert port.class_of_dscp is not None
    assert port.class_of_dscp.value[59] == 3
    assert port.class_of_dscp.where.line == 6
    assert value(port.group_of_class) == dict(enumerate((0, 0, 0, 1, 0, 0, 0, 0)))
    assert [(group.key, value(group.size_bytes)) for group in port.groups[:2]] == [(0, 20352), (1, 156096)]
    assert [(queue.key, value(queue.schedule), value(queue.weight)) for queue in port.queues] == [
        (0, "weighted", 50),
        (3, "weighted", 50),
        (6, "strict", None),
    ]
    assert value(nic.rdma_mtu) == 1024
    assert [(gid.index, gid.gid, gid.version) for gid in nic.gids][3] == (3, "10.0.1.2", "v2")
    assert [value(said) for said in (nic.traffic_class, nic.notify_dscp, nic.notify_priority)] == [106, 48, 6]
    assert [value(said) for said in (nic.marking_priorities, nic.reacting_priorities)] == [(3,), (3,)]
    assert [value(said) for said in (nic.is_willing, nic.cable_m)] == [False, 7.0]
    assert {setting.name: setting.value.value for setting in device.settings}["NCCL_IB_TC"] == "106"
    counted = {(item.kind, item.port, item.key): item.value for item in device.evidence}
    assert counted[("pause-received", "eth2", 3)] == 41
    assert counted[("group-drops", "eth2", 1)] == 7
    assert counted[("out-of-buffer", "eth2", -1)] == 3
    assert counted[("notifications-sent", "eth2", -1)] == 17
    assert {"nics", "classes", "pauses", "buffers", "host"} <= device.covers
    assert [port.name for port in device.ports] == ["eth2", "mlx5_bond_0"]
    assert device.problems == ()


@pytest.mark.parametrize(
    ("files", "names"),
    [
        ([("gpu-1.txt", b"$ mlnx_qos -i eth1\nCable len: 7\n$ ethtool -a eth1\nRX: on\nTX: on\n")], ["gpu-1"]),
        ([("x.txt", b"root@gpu-2:~# mlnx_qos -i eth1\nCable len: 7\n")], ["gpu-2"]),
        ([("a/mlnx_qos.txt", b"Cable len: 7\n"), ("b/mlnx_qos.txt", b"Cable len: 7\n")], ["a", "b"]),
        ([("mlnx_qos-eth2.txt", b"Cable len: 7\nPFC configuration:\n")], ["mlnx_qos-eth2"]),
    ],
)
def test_whose_a_file_is(files: list[tuple[str, bytes]], names: list[str]) -> None:
    assert [device.name for device in read_hosts(files)] == names


def test_an_output_of_nobody_is_a_port_of_its_own() -> None:
    (device,) = read_hosts([("h/qos.txt", b"Priority trust state: dscp\n")])
    assert only(device).name == "unknown-1"
    assert [(problem.code, problem.severity) for problem in device.problems] == [("artifact.host-owner", "warning")]


def test_two_outputs_that_disagree_are_named() -> None:
    files = [("h/one.txt", b"# mlnx_qos -i e\nCable len: 7\n"), ("h/two.txt", b"# mlnx_qos -i e\nCable len: 30\n")]
    (device,) = read_hosts(files)
    (problem,) = device.problems
    assert problem.code == "artifact.host-disagrees"
    assert problem.message == "e: cable m is 30.0, and 7.0 in h/one.txt:2:1"
    nic = only(device).nic
    assert nic is not None
    assert value(nic.cable_m) == 30.0


def test_a_command_that_nobody_reads_is_named_and_counted() -> None:
    (device,) = read_hosts([("h/all.txt", b"# lspci\n17:00.0 Ethernet controller: made up\n# ip -j addr\n[]\n")])
    assert device.unread == (("lspci", 1),)
    assert [problem.code for problem in device.problems] == ["artifact.host-unread"]


def test_what_cannot_be_is_kept_with_its_problem() -> None:
    (device,) = read_hosts([("h/q.txt", b"# mlnx_qos -i e\nPriority trust state: dscp\n\tprio:9 dscp:64,\n")])
    assert value(only(device).class_of_dscp) == {64: 9}
    assert {problem.code for problem in device.problems} == {"artifact.host-value"}


def test_routes_and_addresses_of_ip() -> None:
    addresses: list[object] = [
        {"ifname": "eth2", "mtu": 4200, "flags": ["UP"], "addr_info": [{"local": "10.0.1.2", "prefixlen": 31}]},
        {"ifname": "eth3", "mtu": 4200, "master": "bond0", "addr_info": []},
    ]
    rules = [{"priority": 100, "src": "10.0.1.2", "table": "101"}]
    text = f"# ip -j addr\n{json.dumps(addresses)}\n# ip -j rule\n{json.dumps(rules)}\n"
    (device,) = read_hosts([("h/ip.txt", text.encode())])
    first, second = device.ports
    assert ([value(address) for address in first.addresses], value(first.mtu)) == (["10.0.1.2/31"], 4200)
    assert first.addresses[0].where.path == "[0]"
    assert value(second.bundle) == "bond0"
    assert {setting.name: setting.value.value for setting in device.settings} == {"rule.100.10.0.1.2": "101"}


def test_gids_below_sys() -> None:
    text = (
        "# grep . /sys/class/infiniband/mlx5_0/ports/1/gids/*\n"
        "/sys/class/infiniband/mlx5_0/ports/1/gids/3:0000:0000:0000:0000:0000:ffff:0a00:0102\n"
        "/sys/class/infiniband/mlx5_0/ports/1/gids/4:0000:0000:0000:0000:0000:0000:0000:0000\n"
        "/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/types/3:RoCE v2\n"
        "/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/3:eth2\n"
        "/sys/class/net/eth2/device/nothing:1\n"
    )
    (device,) = read_hosts([("h/sys.txt", text.encode())])
    port = only(device)
    assert port.name == "eth2"
    assert port.nic is not None
    assert [(gid.index, gid.gid, gid.version) for gid in port.nic.gids] == [(3, "10.0.1.2", "v2")]
    assert device.unread == (("/sys/class/net/ethN/device/nothing", 1),)


def test_dcb_says_what_mlnx_qos_would() -> None:
    text = (
        f"# dcb pfc show dev eth2\n{texts.DCB}# dcb app show dev eth2\ndscp-prio AF31:3 48:6\n"
        "# dcb buffer show dev eth2\nprio-buffer 0:0 3:1 buffer-size 0:20352b 1:156096b total-size 1027728b\n"
    )
    (device,) = read_hosts([("h/dcb.txt", text.encode())])
    port = only(device)
    assert [value(said) for said in (port.pauses, port.trust)] == [(3,), "dscp"]
    assert [value(said) for said in (port.class_of_dscp, port.group_of_class)] == [{26: 3, 48: 6}, {0: 0, 3: 1}]


@pytest.mark.parametrize(
    ("name", "content", "form"),
    [
        ("x", b"$ mlnx_qos -i eth1\n", "mlnx_qos"),
        ("x", texts.PAUSE.encode(), "ethtool"),
        ("x", b"$ cat /sys/class/infiniband/mlx5_0/tc/1/traffic_class\nGlobal tclass=106\n", "sysfs"),
        ("nccl.conf", b"# nothing\n", "nccl"),
        ("x", b"nic  device  state  gbps  mtu\n", "weftline-list"),
        ("x", b"priority  dscps  buffer  tc  schedule\n", "weftline-list"),
        ("apply-nics.sh", SCRIPT.encode(), None),
        ("90-weftline-nics.rules", RULES.encode(), "weftline-script"),
        ("config_db.json", b'{"PORT": {}}', None),
        ("x.conf", b"hostname leaf-001\nrouter bgp 1\n", None),
        ("x", b"\x7fELF\0", None),
        ("x", b"", None),
    ],
)
def test_files_of_hosts_are_recognised(name: str, content: bytes, form: str | None) -> None:
    assert HOST.recognise is not None
    assert HOST.recognise(name, content) == form


CAPTURE = (
    "# tcpdump -nnv -i eth2 udp port 4791\n"
    "19:30:27.775074 IP (tos 0x6a,ECT(0), ttl 64, id 64520, offset 0, flags [DF], proto UDP (17), length 128)\n"
    "    10.0.1.2.{0} > 10.0.9.2.4791: UDP, length 100\n"
    "19:30:27.775276 IP (tos 0x6a,ECT(0), ttl 64, id 59384, offset 0, flags [DF], proto UDP (17), length 128)\n"
    "    10.0.1.2.{1} > 10.0.9.4.4791: UDP, length 100\n"
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (CAPTURE.format(49152, 49152), "fixed"),
        (CAPTURE.format(49152, 60001), "varying"),
        (CAPTURE.format(49152, 49152).replace("10.0.9.4", "10.0.9.2"), None),
    ],
)
def test_packets_show_whether_source_ports_vary(text: str, said: str | None) -> None:
    devices = read_hosts([("h/capture.txt", text.encode())])
    found = [value(port.nic.source_port) for device in devices for port in device.ports if port.nic]
    assert found == ([] if said is None else [said])
    assert [port.name for device in devices for port in device.ports] == ([] if said is None else ["eth2"])


def test_a_capture_of_both_ways_is_judged_for_the_own_address() -> None:
    addresses = '[{"ifname": "eth2", "mtu": 4200, "addr_info": [{"local": "10.0.1.2", "prefixlen": 31}]}]'
    back = "19:30:28.0 IP 10.0.9.2.1 > 10.0.1.2.4791: UDP, length 1\n19:30:28.1 IP 10.0.9.2.2 > 10.0.1.2.4791: UDP\n"
    text = f"# ip -j addr\n{addresses}\n" + CAPTURE.format(49152, 49152) + back
    (device,) = read_hosts([("h/all.txt", text.encode())])
    nic = only(device).nic
    assert nic is not None
    assert value(nic.source_port) == "fixed"


def test_an_interface_for_management_is_no_nic_of_the_fabric() -> None:
    text = b'# ip -j addr\n[{"ifname": "eno1", "mtu": 1500, "addr_info": []}]\n# ethtool -a eno1\nRX: on\nTX: on\n'
    (device,) = read_hosts([("h/all.txt", text)])
    assert only(device).nic is None


def test_files_that_all_hosts_share_are_of_no_host() -> None:
    assert read_hosts([("hosts/apply-nics.sh", SCRIPT.encode()), ("hosts/x.service", UNIT.encode())]) == ()


def test_a_virtual_function_and_a_second_master_are_seen() -> None:
    text = b"# grep . /sys/class/net/eth9/device/physfn/vendor\n/sys/class/net/eth9/device/physfn/vendor:0x15b3\n"
    (device,) = read_hosts([("h/sys.txt", text), ("h/mlnx_qos-eth9.txt", texts.QOS.encode())])
    nic = only(device).nic
    assert nic is not None
    assert value(nic.is_virtual) is True
    assert {setting.name: setting.value.value for setting in device.settings} == {"lldpad": "running"}


@given(st.lists(st.tuples(st.sampled_from(["a/qos.txt", "nccl.conf", "b"]), st.binary(max_size=300)), max_size=3))
def test_any_bytes_give_devices_and_problems(files: list[tuple[str, bytes]]) -> None:
    for device in read_hosts(files):
        assert device.role == "host"


def test_the_corpus(corpus: Path) -> None:
    folder = corpus / "roce/mlx5_host"
    files = [(f"site/{path.name}", path.read_bytes()) for path in sorted(folder.iterdir())]
    devices = read_hosts(files)
    tagged = next(device for device in devices if any(port.name == "eth1" for port in device.ports))
    eth1 = next(port for port in tagged.ports if port.name == "eth1")
    assert eth1.class_of_dscp is not None
    assert (eth1.class_of_dscp.value[59], value(eth1.pauses), value(eth1.trust)) == (5, (5,), "dscp")
    classes = {port.name: value(port.nic.traffic_class) for port in tagged.ports if port.nic and port.name != "eth1"}
    assert classes == {f"mlx5_{number}": 236 for number in range(1, 9)}
    evidence = [item for device in devices for item in device.evidence]
    assert {item.key for item in evidence if item.kind.startswith("bytes-") and item.value} == {0}
    assert {item.value for item in evidence if item.kind == "retries"} == {2705}
