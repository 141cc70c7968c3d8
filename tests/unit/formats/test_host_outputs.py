"""Outputs of a host's tools are read value by value, with their lines; what is damaged is named, never dropped."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import host_texts as texts
from tests.host_texts import only, read
from weftline.formats import (
    dcb,
    ethtool,
    ibv_devinfo,
    ip_json,
    mlnx_qos,
    mlxconfig,
    nccl_conf,
    rdma_devices,
    show_gids,
    sysctl,
    sysfs,
    tcpdump,
)
from weftline.formats.transcript import Told, expand_braces, name_in_file


def test_a_text_is_split_at_its_prompts() -> None:
    text = (
        "$ mlnx_qos -i eth2\nCable len: 7\n"
        "[root@gpu-17 ~]# sudo ethtool -a eth3 | grep RX\nRX: on\n"
        "root@gpu-17:~# cat /sys/class/net/eth2/mtu\n4200\n"
        "==> /sys/class/net/eth3/mtu <==\n9000\n"
        "# a remark, no command\n"
    )
    outputs, log = read(text)
    assert [(output.program, output.host, output.path, output.first) for output in outputs] == [
        ("mlnx_qos", "", "", 2),
        ("ethtool", "gpu-17", "", 4),
        ("cat", "gpu-17", "/sys/class/net/eth2/mtu", 6),
        ("", "", "/sys/class/net/eth3/mtu", 8),
    ]
    assert outputs[0].option("-i") == "eth2"
    assert log.close() == ()


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("host-0001/mlnx_qos-eth2.txt", "eth2"),
        ("ethtool-S-enp1s0f0np0.txt", "enp1s0f0np0"),
        ("ethtool_a_eth2.log", "eth2"),
        ("mlnx_qos.txt", ""),
    ],
)
def test_a_file_name_says_whose_output_it_is(file: str, name: str) -> None:
    assert name_in_file(file, frozenset({"mlnx_qos", "ethtool"})) == name


def test_mlnx_qos_is_read_whole() -> None:
    output, log = only(texts.QOS)
    record = mlnx_qos.parse(output, log)
    assert log.close() == ()
    assert record.dcbx == Told("OS controlled", 3)
    assert record.trust == Told("dscp", 4)
    assert {(entry.dscp, entry.priority) for entry in record.dscps} == {
        *((code, 0) for code in range(8)),
        *((code, 3) for code in range(24, 32)),
        (59, 3),
        (48, 6),
    }
    assert record.default_priority == Told(0, 11)
    assert record.buffer_bytes == Told((20352, 156096, 0, 0, 0, 0, 0, 0), 12)
    assert record.buffer_total == Told(1027728, 12)
    assert record.cable_m == Told(7, 13)
    assert record.pause == Told((3,), 16)
    assert record.buffers == Told((0, 0, 0, 1, 0, 0, 0, 0), 17)
    assert [(entry.number, entry.algorithm, entry.percent, entry.priorities) for entry in record.classes] == [
        (0, "ets", 50, (0, 1)),
        (3, "ets", 50, (3,)),
        (6, "strict", None, (6,)),
    ]
    assert record.overseen is not None


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("\tprio:3 dscp:64,", "artifact.host-value"),
        ("\tprio:8 dscp:26,", "artifact.host-value"),
        ("\tenabled     0   0   0   1", "artifact.host-value"),
        ("\tenabled     0   0   0   2   0   0   0   0", "artifact.host-value"),
        ("Cable len: seven", "artifact.host-value"),
        ("Receive buffer size (bytes): 1,2,3", "artifact.host-value"),
        ("tc: 9 ratelimit: unlimited, tsa: ets, bw: 1%", "artifact.host-value"),
        ("Flux capacitor: on", "artifact.host-line"),
        ("Cable len: 8", "artifact.host-twice"),
        ("\tprio:5 dscp:47,...,40", "artifact.host-shortened"),
    ],
)
def test_what_mlnx_qos_cannot_print_is_named(line: str, code: str) -> None:
    output, log = only("DCBX mode: OS controlled\nCable len: 7\n" + line + "\n")
    mlnx_qos.parse(output, log)
    (problem,) = log.close()
    assert (problem.code, problem.severity) == (code, "warning")
    assert problem.where is not None
    assert problem.where.line == 3


def test_a_dscp_that_cannot_be_is_kept() -> None:
    output, log = only("Priority trust state: dscp\n\tprio:3 dscp:64,26,\n")
    assert [entry.dscp for entry in mlnx_qos.parse(output, log).dscps] == [64, 26]


def test_ethtool_says_pauses_and_counters() -> None:
    outputs, log = read("# ethtool -a eth2\n" + texts.PAUSE + "# ethtool -S eth2\n" + texts.COUNTERS)
    pause, counters = (ethtool.parse(output, log) for output in outputs)
    assert (pause.kind, pause.interface) == ("pause", "eth2")
    assert [pause.value(name) for name in ("RX", "TX")] == [
        ethtool.Field("RX", "on", 4),
        ethtool.Field("TX", "off", 5),
    ]
    assert (counters.kind, counters.interface) == ("counters", "eth2")
    assert {counter.name: counter.value for counter in counters.counters}["tx_prio3_pause_duration"] == 2**64 - 1
    assert log.close() == ()


def test_a_counter_that_cannot_be_is_named() -> None:
    output, log = only("NIC statistics:\n     rx_packets: many\n     tx_packets: 18446744073709551616\n")
    assert ethtool.parse(output, log).counters == ()
    assert [problem.code for problem in log.close()] == ["artifact.host-value"] * 2


def test_files_below_sys_are_told_apart() -> None:
    text = (
        "# grep . /sys/class/net/eth2/ecn/roce_np/enable/*\n"
        "/sys/class/net/eth2/ecn/roce_np/enable/3:1\n/sys/class/net/eth2/ecn/roce_np/enable/4:0\n"
        "# cat /sys/class/infiniband/mlx5_{0,1}/tc/1/traffic_class\nGlobal tclass=106\nGlobal tclass=104\n"
        "# cat /sys/class/infiniband/mlx5_{0..7}/tc/1/traffic_class\nGlobal tclass=106\n"
        "# cat /sys/class/net/eth{2,3}/mtu\n1\n2\n3\n"
    )
    outputs, log = read(text)
    facts = [fact for output in outputs for fact in sysfs.parse(output, log)]
    assert [(fact.path, fact.value, fact.line) for fact in facts[:4]] == [
        ("/sys/class/net/eth2/ecn/roce_np/enable/3", "1", 2),
        ("/sys/class/net/eth2/ecn/roce_np/enable/4", "0", 3),
        ("/sys/class/infiniband/mlx5_0/tc/1/traffic_class", "Global tclass=106", 5),
        ("/sys/class/infiniband/mlx5_1/tc/1/traffic_class", "Global tclass=104", 6),
    ]
    assert len(facts) == 4 + 8
    assert [problem.code for problem in log.close()] == ["artifact.host-shortened", "artifact.host-line"]


def test_braces_are_bounded() -> None:
    assert expand_braces("a{1..3}b") == ("a1b", "a2b", "a3b")
    assert expand_braces("{x}") == ("{x}",)
    assert len(expand_braces("{1..9999}{1..9999}")) == 256


def test_gids_have_version_and_index() -> None:
    output, log = only(texts.GIDS)
    entries = show_gids.parse(output, log)
    assert log.close() == ()
    assert [(entry.index, entry.address, entry.version, entry.interface) for entry in entries] == [
        (0, "fe80::a00:ff:fe00:1", "v1", "eth2"),
        (1, "fe80::a00:ff:fe00:1", "v2", "eth2"),
        (2, "10.0.1.2", "v1", "eth2"),
        (3, "10.0.1.2", "v2", "eth2"),
        (4, "fd00::102", "v2", ""),
    ]
    assert [entry.is_link_local for entry in entries] == [True, True, False, False, False]


def test_a_table_of_gids_that_is_cut_off_is_named() -> None:
    output, log = only(texts.GIDS.replace("mlx5_0\t1\t3", "mlx5_0\t1", 1))
    assert len(show_gids.parse(output, log)) == 4
    assert [problem.code for problem in log.close()] == ["artifact.host-line", "artifact.host-value"]


def test_ports_of_rdma_devices() -> None:
    output, log = only(texts.DEVINFO)
    first, bond = ibv_devinfo.parse(output, log)
    assert log.close() == ()
    assert (first.device, first.number, first.number_of("active_mtu")) == ("mlx5_0", 1, Told(1024, 9))
    assert first.fields["fw_ver"].value == "28.40.1000"
    assert [(gid.index, gid.address, gid.version) for gid in first.gids] == [
        (0, "fe80::a00:ff:fe00:1", "v1"),
        (3, "10.0.1.2", "v2"),
    ]
    assert (bond.device, bond.fields.get("fw_ver")) == ("mlx5_bond_0", None)


def test_variables_of_libraries_and_no_secret() -> None:
    text = "export NCCL_IB_TC='106'\nAWS_SECRET=abc\nUCX_IB_TRAFFIC_CLASS=106\n"
    text += "mpirun -x NCCL_IB_GID_INDEX=3 -x LOG=x a\n"
    output, log = only(text)
    found = nccl_conf.parse(output, log)
    assert [(variable.name, variable.value, variable.line) for variable in found] == [
        ("NCCL_IB_TC", "106", 1),
        ("UCX_IB_TRAFFIC_CLASS", "106", 3),
        ("NCCL_IB_GID_INDEX", "3", 4),
    ]
    assert log.close() == ()
    nccl_conf.parse(output, log, is_conf=True)
    assert [problem.where.line for problem in log.close() if problem.where] == [2, 4]
    assert "abc" not in str(log.close())


def test_kernel_settings() -> None:
    output, log = only("# ours\nnet.ipv4.conf.all.rp_filter = 2\n-net/core/rmem_max=\t1 2\nnonsense\n")
    assert [(setting.key, setting.value) for setting in sysctl.parse(output, log)] == [
        ("net.ipv4.conf.all.rp_filter", "2"),
        ("net.core.rmem_max", "1 2"),
    ]
    assert [problem.code for problem in log.close()] == ["artifact.host-line"]


def test_devices_and_their_interfaces() -> None:
    text = (
        "mlx5_0 port 1 ==> eth2 (Up)\n"
        "0000:17:00.0 mlx5_1 (MT4129 - MADE-UP     ) a NIC that nobody sells fw 28.40.1000 port 1 (ACTIVE)"
        " ==> eth3 (Down)\n"
    )
    output, log = only(text)
    assert [(link.device, link.port, link.interface, link.state) for link in rdma_devices.parse(output, log)] == [
        ("mlx5_0", 1, "eth2", "Up"),
        ("mlx5_1", 1, "eth3", "Down"),
    ]
    assert log.close() == ()


def test_default_marks() -> None:
    text = "# cma_roce_tos -d mlx5_1 -p 1\n106\n# cma_roce_mode -d mlx5_1 -p 1\nRoCE v2\n"
    outputs, log = read(text + "# cma_roce_tos\n300\nwhat\n")
    tos, mode, odd = (rdma_devices.parse_mark(output, log) for output in outputs)
    assert (tos.device, tos.port, tos.tos) == ("mlx5_1", 1, Told(106, 2))
    assert mode.mode == Told("RoCE v2", 4)
    assert (odd.device, odd.tos) == ("", Told(300, 6))
    assert [problem.code for problem in log.close()] == ["artifact.host-value", "artifact.host-line"]


def test_json_of_ip() -> None:
    addresses: list[object] = [
        {
            "ifindex": 4,
            "ifname": "eth2",
            "flags": ["BROADCAST", "UP"],
            "mtu": 4200,
            "master": "bond0",
            "addr_info": [
                {"family": "inet", "local": "10.0.1.2", "prefixlen": 31, "scope": "global"},
                {"family": "inet6", "local": "fe80::1", "prefixlen": 64, "scope": "link"},
            ],
        },
        {},
    ]
    routes: list[object] = [{"dst": "default", "gateway": "10.0.1.3", "dev": "eth2", "table": 101}, 7]
    rules: list[object] = [{"priority": 100, "src": "10.0.1.2", "table": "101"}]
    text = (
        "".join(f"# ip -j x\n{json.dumps(part)}\n" for part in (addresses, routes, rules, "[", 1))
        + "# ip -j addr\n[{\n"
    )
    outputs, log = read(text)
    records = [ip_json.parse(output, log) for output in outputs]
    assert records[0].interfaces == (ip_json.Interface("eth2", 4200, "bond0", True, ("10.0.1.2/31",), "[0]"),)
    assert records[1].routes == (ip_json.Route("default", "10.0.1.3", "eth2", "101", "[0]"),)
    assert records[2].rules == (ip_json.Rule(100, "10.0.1.2", "101", "[0]"),)
    codes = [problem.code for problem in log.close()]
    assert codes == ["artifact.host-value", "artifact.host-value", "artifact.host-value", "artifact.not-json"]


def test_packets_of_roce() -> None:
    text = (
        "1.0 IP (tos 0x6a,ECT(0), ttl 64, proto UDP (17), length 128)\n    10.0.0.1.49152 > 10.0.0.3.4791: UDP\n"
        "1.1 IP 10.0.0.1.53 > 10.0.0.3.5353: UDP\n1.2 IP 10.0.0.1.70000 > 10.0.0.3.4791: UDP\n"
        "1.3 IP6 fd00::1.7 > fd00::2.4791: UDP, length 100\n3 packets captured\n"
    )
    output, log = only(text)
    assert [(one.source, one.source_port, one.tos, one.line) for one in tcpdump.parse(output, log)] == [
        ("10.0.0.1", 49152, 0x6A, 2),
        ("10.0.0.1", 70000, None, 4),
        ("fd00::1", 7, None, 5),
    ]
    assert [problem.code for problem in log.close()] == ["artifact.host-value"]


@pytest.mark.skipif(shutil.which("tcpdump") is None, reason="there is no tcpdump")
def test_packets_as_tcpdump_prints_them(tmp_path: Path) -> None:
    script = tmp_path / "capture.sh"
    script.write_text(CAPTURE)
    command = ["unshare", *([] if os.geteuid() == 0 else ["-r"]), "-n", "bash", str(script), sys.executable]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    output, log = only(done.stdout)
    packets = tcpdump.parse(output, log)
    assert [(packet.source, packet.source_port, packet.tos) for packet in packets] == [("127.0.0.1", 49152, 106)] * 3
    assert {packet.destination for packet in packets} == {"127.0.0.2", "127.0.0.3", "127.0.0.4"}


CAPTURE = """
set -e
ip link set lo up
tcpdump -nnv -i lo -c 3 udp port 4791 2>$0.said &
until grep -q listening $0.said; do sleep 0.1; done
"$1" -c '
import socket
for last in (2, 3, 4):
    one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    one.bind(("127.0.0.1", 49152))
    one.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 106)
    one.sendto(bytes(100), (f"127.0.0.{last}", 4791))
    one.close()
'
wait
"""


def test_firmware_settings_after_the_next_boot() -> None:
    output, log = only(texts.FIRMWARE)
    settings = mlxconfig.parse(output, log)
    assert log.close() == ()
    assert [(setting.device, setting.name, setting.current, setting.number) for setting in settings] == [
        ("0000:17:00.0", "ROCE_CC_PRIO_MASK_P1", "255", 0),
        ("0000:17:00.0", "LLDP_NB_DCBX_P1", "False(0)", 1),
        ("0000:17:00.0", "HOST_CHAINING_DESCRIPTORS", "Array[0..7]", None),
    ]
    one, log = only("    CNP_DSCP_P1     48\n")
    assert mlxconfig.parse(one, log)[0].number == 48


def test_dcb_of_iproute2() -> None:
    text = (
        "# dcb pfc show dev eth2\n"
        + texts.DCB
        + "# dcb app show dev eth2\ndscp-prio CS3:3 26:3 EF:5\n# dcb dcbx show dev eth2\nhost ieee\n"
    )
    outputs, log = read(text)
    pfc, app, dcbx = (dcb.parse(output, log) for output in outputs)
    assert pfc.interface == "eth2"
    assert pfc.scalars["delay"] == Told("7", 2)
    assert [key for key, (is_on, _) in pfc.numbers("prio-pfc").items() if is_on] == [3]
    assert {key: value for key, (value, _) in app.numbers("dscp-prio").items()} == {24: 3, 26: 3, 46: 5}
    assert [flag.value for flag in dcbx.flags] == ["host", "ieee"]
    assert log.close() == ()


PARSERS = (
    dcb.parse,
    ethtool.parse,
    ibv_devinfo.parse,
    ip_json.parse,
    mlnx_qos.parse,
    mlxconfig.parse,
    nccl_conf.parse,
    rdma_devices.parse,
    rdma_devices.parse_mark,
    show_gids.parse,
    sysctl.parse,
    sysfs.parse,
    tcpdump.parse,
)
WHOLE = "\n".join(
    (
        *("# mlnx_qos -i eth2", texts.QOS, "# ethtool -a eth2", texts.PAUSE, texts.COUNTERS, texts.GIDS, texts.DEVINFO),
        *(texts.FIRMWARE, "# dcb pfc show dev eth2", texts.DCB, "NCCL_IB_TC=106", "# ip -j addr", '[{"ifname":"a"}]'),
    )
)


@given(st.binary(max_size=400) | st.text(max_size=400).map(str.encode))
def test_anything_is_read_or_named(content: bytes) -> None:
    log = texts.ProblemLog("x")
    for output in texts.split_outputs(content, "x", log):
        for parse in PARSERS:
            parse(output, log)
    assert all(problem.code.startswith("artifact.") for problem in log.close())


@given(st.lists(st.tuples(st.integers(0, len(WHOLE)), st.text("0123456789,.:={}[]- \n\tabz*", max_size=6)), max_size=8))
def test_damaged_outputs_are_read_or_named(damage: list[tuple[int, str]]) -> None:
    text = WHOLE
    for place, insertion in damage:
        text = text[:place] + insertion + text[place + len(insertion) // 2 :]
    outputs, log = read(text)
    for output in outputs:
        for parse in PARSERS:
            parse(output, log)


def test_long_lines_take_no_long_time() -> None:
    for piece in (
        "prio:3 dscp:",
        "a-x ",
        "mlx5_0 (",
        "{1..9}",
        "CNP_DSCP_P1 ",
        "1,",
        "root@a ",
        "[{",
        "dscp-prio 1:1 ",
    ):
        output, log = only("DCBX mode:\n" + piece * (200_000 // len(piece)))
        for parse in PARSERS:
            parse(output, log)
        expand_braces(piece * 1000)


def test_the_corpus_is_read(corpus: Path) -> None:
    folder = corpus / "roce"
    log = texts.ProblemLog("x")
    (first,) = texts.split_outputs((folder / "mlx5_host/ethtool_prio_all_on_prio0.txt").read_bytes(), "x", log)[:1]
    counters = {counter.name: counter.value for counter in ethtool.parse(first, log).counters}
    assert counters["rx_prio0_bytes"] == 88178050405854
    assert {name for name, value in counters.items() if value} == {
        *("rx_prio0_bytes", "rx_prio0_packets", "tx_prio0_bytes", "tx_prio0_packets"),
    }
    tclass, qos = texts.split_outputs((folder / "mlx5_host/tclass_override_dscp59_prio5.txt").read_bytes(), "x", log)
    facts = sysfs.parse(tclass, log)
    assert {fact.value for fact in facts} == {"Global tclass=236"}
    assert facts[7].path == "/sys/class/infiniband/mlx5_8/tc/1/traffic_class"
    record = mlnx_qos.parse(qos, log)
    assert record.interface == "eth1"
    assert {entry.dscp: entry.priority for entry in record.dscps} == {**dict.fromkeys(range(8), 0), 59: 5}
    assert record.pause is not None
    assert record.pause.value == (5,)
    assert {problem.code for problem in log.close()} == {"artifact.host-shortened"}
    for name, kind, count in (("driver", "driver", 10), ("settings", "link", 19), ("statistics", "counters", 16)):
        data = (folder / f"node_exporter/collector__fixtures__ethtool__eth0__{name}").read_bytes()
        (output,) = texts.split_outputs(data, "x", log)
        found = ethtool.parse(output, log)
        assert (found.kind, found.interface, len(found.fields) + len(found.counters)) == (kind, "eth0", count)


def test_hardware_counters_of_the_corpus(corpus: Path) -> None:
    log = texts.ProblemLog("x")
    content = (corpus / "roce/mlx5_host/ethtool_prio_all_on_prio0.txt").read_bytes()
    output = texts.split_outputs(content, "x", log)[1]
    facts = {fact.path: fact.value for fact in sysfs.parse(output, log)}
    assert facts["/sys/class/infiniband/mlx5_0/ports/1/hw_counters/local_ack_timeout_err"] == "2705"
    assert len(facts) == 6
    assert log.close() == ()


def test_what_is_no_text_is_refused_with_its_place() -> None:
    for content, code in (
        (b"Cable len: 7\n\0\0", "artifact.dump-binary"),
        (b"\n" * 1_000_002, "artifact.dump-too-large"),
    ):
        log = texts.ProblemLog("x")
        assert texts.split_outputs(content, "x", log) == ()
        assert [problem.code for problem in log.close()] == [code]


@pytest.mark.parametrize(
    ("text", "form"),
    [
        (texts.QOS, mlnx_qos),
        (texts.PAUSE, ethtool),
        (texts.COUNTERS, ethtool),
        (texts.GIDS, show_gids),
        (texts.DEVINFO, ibv_devinfo),
        (texts.FIRMWARE, mlxconfig),
        (texts.DCB, dcb),
        ("NCCL_IB_TC=106\n", nccl_conf),
        ("net.core.rmem_max = 1\n", sysctl),
        ("mlx5_0 port 1 ==> eth2 (Up)\n", rdma_devices),
        ("/sys/class/net/eth2/mtu:4200\n", sysfs),
        ("1.0 IP 10.0.0.1.5 > 10.0.0.3.4791: UDP, length 1\n", tcpdump),
        ('[{"ifindex":1,"ifname":"lo"}]', ip_json),
    ],
)
def test_each_form_is_told_by_its_content(text: str, form: object) -> None:
    forms = [
        tcpdump,
        dcb,
        ethtool,
        ibv_devinfo,
        ip_json,
        mlnx_qos,
        mlxconfig,
        nccl_conf,
        rdma_devices,
        show_gids,
        sysctl,
        sysfs,
    ]
    assert [each for each in forms if each.looks_like(text.encode())] == [form]
