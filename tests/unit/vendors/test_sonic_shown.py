"""Outputs of show commands beside configuration: evidence with its place, and what runs against what is written."""

from __future__ import annotations

import json

import pytest

from tests.unit.formats.test_sonic_show import BUFFERS, COUNTERS, HEADROOM, HISTORY
from tests.unit.vendors.test_sonic_configured import FILE, LEAF, changed, read
from weftline.model.observed import Evidence, ObservedDevice
from weftline.vendors.sonic.configured import configure, recognise

CONFIG = (FILE, json.dumps(LEAF).encode())
STORMS = b"""\
      QUEUE       STATUS    STORM DETECTED/RESTORED    TX OK/DROP    RX OK/DROP    TX LAST OK/DROP    RX LAST OK/DROP
-----------  -----------  -------------------------  ------------  ------------  -----------------  -----------------
Ethernet0:3      stormed                        3/2       100/300         10/20              0/200              0/200
Ethernet4:3          N/A                        0/0           0/0           0/0                0/0                0/0
"""
QUEUES = b"""\
     Port    TxQ    Counter/pkts    Counter/bytes    Drop/pkts    Drop/bytes    EcnMarked/pkts    EcnMarked/bytes
---------  -----  --------------  ---------------  -----------  ------------  ----------------  -----------------
Ethernet0    UC3           1,000            9,000           56            74                 9                900
Ethernet0    MC3               0                0            1             0                 0                  0
"""
UNICAST = b"""\
Egress shared pool occupancy per unicast queue:
     Port    UC0    UC3
---------  -----  -----
Ethernet0      0   7000
"""
PORTS = b"""\
      IFACE    STATE    RX_OK    RX_ERR    RX_DRP    RX_OVR    TX_OK    TX_ERR    TX_DRP    TX_OVR
-----------  -------  -------  --------  --------  --------  -------  --------  --------  --------
  Ethernet0        U      100         0     1,234         0      100         0         0         0
"""
STATUS = b"""\
  Interface    Lanes    Speed    MTU    FEC    Alias    Vlan    Oper    Admin    Type    Asym PFC
-----------  -------  -------  -----  -----  -------  ------  ------  -------  ------  ----------
  Ethernet0  0,1,2,3     400G   9216     rs   etp1a   routed      up       up     N/A         off
  Ethernet4  4,5,6,7     100G   9216    N/A   etp1b   routed    down     down     N/A          on
"""
WATCHDOG = b"""\
Changed polling interval to 400ms
     PORT    ACTION    DETECTION TIME    RESTORATION TIME
---------  --------  ----------------  ------------------
Ethernet0      drop               400                2000
"""


def beside(content: bytes, file: str = "leaf-003/output.txt") -> ObservedDevice:
    (device,) = configure([CONFIG, (file, content)])
    return device


def listed(evidence: tuple[Evidence, ...]) -> list[tuple[str, str, int, int]]:
    return [(item.kind, item.port, item.key, item.value) for item in evidence]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (COUNTERS, [("pause-received", "Ethernet0", 0, 0), ("pause-received", "Ethernet0", 3, 1200),
                    ("pause-received", "Ethernet4", 3, 17), ("pause-sent", "Ethernet0", 0, 0),
                    ("pause-sent", "Ethernet0", 3, 5)]),
        (HEADROOM, [("headroom-watermark", "Ethernet0", 0, 0), ("headroom-watermark", "Ethernet0", 3, 104448),
                    ("headroom-pool-watermark", "ingress_lossless_pool", -1, 98304)]),
        (STORMS, [("storms-detected", "Ethernet0", 3, 3), ("storms-restored", "Ethernet0", 3, 2),
                  ("storm-drops", "Ethernet0", 3, 320), ("storms-detected", "Ethernet4", 3, 0),
                  ("storms-restored", "Ethernet4", 3, 0), ("storm-drops", "Ethernet4", 3, 0)]),
        (QUEUES, [("queue-drops", "Ethernet0", 3, 56), ("marked", "Ethernet0", 3, 9)]),
        (UNICAST, [("queue-watermark", "Ethernet0", 0, 0), ("queue-watermark", "Ethernet0", 3, 7000)]),
        (PORTS, [("port-drops", "Ethernet0", -1, 1234)]),
        (UNICAST.replace(b"Egress shared pool occupancy per unicast queue", b"Ingress PG dropped packets")
         .replace(b"UC", b"PG"), [("group-drops", "Ethernet0", 0, 0), ("group-drops", "Ethernet0", 3, 7000)]),
        (UNICAST.replace(b"Egress shared pool occupancy per unicast queue",
                         b"Ingress shared pool occupancy per PG: (Namespace asic0)").replace(b"UC", b"PG"),
         [("group-watermark", "Ethernet0", 0, 0), ("group-watermark", "Ethernet0", 3, 7000)]),
        (COUNTERS.replace(b"Ethernet0", b"etp1a    "), [("pause-received", "Ethernet0", 0, 0),
         ("pause-received", "Ethernet0", 3, 1200), ("pause-received", "Ethernet4", 3, 17),
         ("pause-sent", "Ethernet0", 0, 0), ("pause-sent", "Ethernet0", 3, 5)]),
    ],
)  # fmt: skip
def test_counters_and_watermarks_are_evidence(content: bytes, expected: list[tuple[str, str, int, int]]) -> None:
    device = beside(content)
    assert listed(device.evidence) == expected
    assert device.problems == ()
    for item in device.evidence:
        assert item.where.file == "leaf-003/output.txt"
        assert item.where.line is not None
        line = content.decode().splitlines()[item.where.line - 1].replace(",", "")
        assert item.kind == "storm-drops" or str(item.value) in line


def test_time_in_pause_is_in_microseconds() -> None:
    text = HISTORY.replace(b"RX Pause Transitions    ", b"RX Pause Transitions    Total RX Pause Time US    ")
    lines = [
        b"     Port    Priority    RX Pause Transitions    Total RX Pause Time MS",
        b"---------  ----------  ----------------------  ------------------------",
        b"Ethernet0        PFC3                      12                    12,000",
    ]
    assert listed(beside(b"\n".join(lines)).evidence) == [("pause-received-time", "Ethernet0", 3, 12_000_000)]
    exact = b"\n".join(lines).replace(b"MS", b"US")
    assert listed(beside(exact).evidence) == [("pause-received-time", "Ethernet0", 3, 12_000)]
    assert recognise("x.txt", text) == "sonic-show"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (STATUS, "speed of Ethernet4 is '100000' on the running switch and '400000' in its file"),
        (WATCHDOG, "POLL_INTERVAL of GLOBAL is '400' on the running switch and '200'"),
        (WATCHDOG.replace(b"400ms", b"200ms").replace(b"2000", b"4000"), "restoration_time of Ethernet0 is '4000'"),
        (b"Interface    Asymmetric\n-----------  ------------\nEthernet0    on\n", "pfc_asym of Ethernet0 is 'on'"),
        (b"Profile: ROCE\n-------------------  ----\ngreen_max_threshold  5000\n-------------------  ----\n",
         "green_max_threshold of ROCE is '5000'"),
        (b"Profile: egress\n----  ----\npool  [BUFFER_POOL:other]\n----  ----\n", "pool of egress is 'other'"),
    ],
)  # fmt: skip
def test_a_running_switch_that_does_something_else_is_named(content: bytes, words: str) -> None:
    problems = beside(content).problems
    assert [(p.code, p.severity) for p in problems] == [("artifact.said-twice", "warning")]
    assert words in problems[0].message


def test_a_running_switch_that_does_what_its_file_says_is_silent() -> None:
    same = b"Profile: ROCE\n-------------------  ------\ngreen_min_threshold  166912\necn                  ecn_all\n"
    for content in (
        same + b"-------------------  ------\n",
        BUFFERS.replace(b"17170432", b"30000000").replace(b"2097152", b"2000000"),
        STATUS.replace(b"100G", b"400G"),
    ):
        assert beside(content).problems == ()


def test_a_pool_without_a_size_has_that_of_the_running_switch() -> None:
    tables = changed(BUFFER_POOL={"lossless": {"type": "ingress", "mode": "dynamic"}})
    (device,) = configure([(FILE, json.dumps(tables).encode()), ("leaf-003/buffer.txt", BUFFERS)])
    size, headroom = device.pools[0].size_bytes, device.pools[0].headroom_bytes
    assert size is not None
    assert headroom is not None
    assert (headroom.value, headroom.where.line) == (2097152, 11)
    assert (size.value, size.where.file, size.where.line) == (17170432, "leaf-003/buffer.txt", 10)


@pytest.mark.parametrize(
    ("name", "is_found"),
    [
        ("pg_lossless_400000_40m_profile", True),
        ("pg_lossless_400000_40m_mtu9216_profile", True),
        ("pg_lossless_400000_5m_profile2", False),
        ("pg_lossless_100000_40m_profile", False),
    ],
)
def test_headroom_that_the_switch_computed_is_taken_from_what_it_shows(name: str, is_found: bool) -> None:
    content = f"Profile: {name}\n----------  ------\nxon         19456\nxoff        104448\nsize        19456\n"
    device = beside(f"{content}dynamic_th  0\n----------  ------\n".encode())
    group = next(port for port in device.ports if port.name == "Ethernet4").groups[0]
    assert group.is_computed is not None
    assert group.is_computed.value
    if is_found:
        assert group.xoff_bytes is not None
        assert (group.xoff_bytes.value, group.xoff_bytes.where.line) == (104448, 4)
    else:
        assert group.xoff_bytes is None


@pytest.mark.parametrize(
    "file",
    ["leaf-003/pfc-counters.txt", "leaf-003.pfc.txt", "outputs/leaf-003-show-pfc-counters.txt", "leaf-003/pfc.log"],
)
def test_the_file_or_its_folder_says_whose_outputs_they_are(file: str) -> None:
    assert len(beside(COUNTERS, file).evidence) == 5


def test_the_prompt_wins_over_the_file() -> None:
    devices = configure([CONFIG, ("leaf-009.txt", HEADROOM)])
    assert [(device.name, len(device.evidence)) for device in devices] == [("leaf-003", 3)]


def test_outputs_of_several_switches_in_one_file() -> None:
    content = HEADROOM + HEADROOM.replace(b"leaf-003", b"leaf-004")
    devices = configure([CONFIG, ("all.txt", content)])
    assert [(device.name, len(device.evidence), device.role) for device in devices] == [
        ("leaf-003", 3, "switch"),
        ("leaf-004", 3, "switch"),
    ]
    assert devices[1].covers == frozenset()


def test_the_only_switch_beside_is_meant() -> None:
    (device,) = configure([("config_db.json", CONFIG[1]), ("pfc-counters.txt", COUNTERS)])
    assert (device.name, len(device.evidence)) == ("leaf-003", 5)


DUMP = {
    "COUNTERS_PORT_NAME_MAP": {"Ethernet0": "oid:0x1"},
    "COUNTERS_QUEUE_NAME_MAP": {"Ethernet0:3": "oid:0x2", "Ethernet0:13": "oid:0x3", "Ethernet4:3": "oid:0x9"},
    "COUNTERS_QUEUE_TYPE_MAP": {"oid:0x2": "SAI_QUEUE_TYPE_UNICAST", "oid:0x3": "SAI_QUEUE_TYPE_MULTICAST"},
    "COUNTERS_PG_NAME_MAP": {"Ethernet0:3": "oid:0x4"},
    "COUNTERS_BUFFER_POOL_NAME_MAP": {"lossless": "oid:0x5"},
    "COUNTERS:oid:0x1": {"SAI_PORT_STAT_PFC_3_RX_PKTS": "17", "SAI_PORT_STAT_IF_IN_DISCARDS": "x", "OTHER": "1"},
    "COUNTERS:oid:0x2": {"SAI_QUEUE_STAT_DROPPED_PACKETS": "5", "PFC_WD_QUEUE_STATS_RX_DROPPED_PACKETS": "2"},
    "COUNTERS:oid:0x3": {"SAI_QUEUE_STAT_DROPPED_PACKETS": "9"},
    "USER_WATERMARKS:oid:0x4": {"SAI_INGRESS_PRIORITY_GROUP_STAT_XOFF_ROOM_WATERMARK_BYTES": "100"},
    "PERSISTENT_WATERMARKS:oid:0x4": {"SAI_INGRESS_PRIORITY_GROUP_STAT_XOFF_ROOM_WATERMARK_BYTES": "200"},
    "USER_WATERMARKS:oid:0x5": {"SAI_BUFFER_POOL_STAT_WATERMARK_BYTES": "300"},
}


@pytest.mark.parametrize("is_wrapped", [False, True])
def test_a_dump_of_counters_is_evidence(is_wrapped: bool) -> None:
    dump = {key: {"type": "hash", "value": row, "ttl": -1} for key, row in DUMP.items()} if is_wrapped else DUMP
    content = json.dumps(dump, indent=1).encode()
    device = beside(content, "leaf-003/dump/COUNTERS_DB.json")
    assert device.problems == ()
    assert listed(device.evidence) == [
        ("pause-received", "Ethernet0", 3, 17),
        ("queue-drops", "Ethernet0", 3, 5),
        ("storm-drops", "Ethernet0", 3, 2),
        ("headroom-watermark", "Ethernet0", 3, 200),
        ("pool-watermark", "lossless", -1, 300),
    ]
    for item in device.evidence:
        assert item.where.line is not None
        assert f'"{item.value}"' in content.decode().splitlines()[item.where.line - 1]


@pytest.mark.parametrize(
    "content",
    [
        b'{"COUNTERS:oid:0x1": {"a": "1"}}',
        b'{"COUNTERS_PORT_NAME_MAP": {"Ethernet0": "oid:0x1"}, "COUNTERS:oid:0x1": []}',
        b'{"COUNTERS_PORT_NAME_MAP": [], "COUNTERS:oid:0x1": {"a": "1"}}',
        b'[{"COUNTERS:oid:0x1": {}}]',
    ],
)
def test_a_dump_of_counters_without_names_says_so(content: bytes) -> None:
    device = beside(content, "leaf-003/COUNTERS_DB.json")
    assert device.evidence == ()
    assert [problem.code for problem in device.problems] == ["artifact.not-config-db"]


def test_a_dump_of_counters_that_was_cut_says_so() -> None:
    device = beside(json.dumps(DUMP, indent=1).encode()[:600], "leaf-003/COUNTERS_DB.json")
    assert [problem.code for problem in device.problems] == ["artifact.not-json"]


def test_nobody_knows_whose_outputs_they_are() -> None:
    (device,) = configure([("pfc-counters.txt", COUNTERS)])
    assert (device.name, device.role) == ("pfc-counters.txt", "unknown")
    assert [(p.code, p.severity) for p in device.problems] == [("artifact.no-device", "warning")]
    assert len(device.evidence) == 5


def test_a_count_that_is_none_is_named() -> None:
    device = beside(COUNTERS.replace(b"   1,200", b"  1,20x0"))
    assert [(p.code, p.where and p.where.line) for p in device.problems] == [("artifact.out-of-range", 4)]
    device = beside(STORMS.replace(b"Ethernet0:3", b"Ethernet0-3"))
    assert [(p.code, p.where and p.where.line) for p in device.problems] == [("artifact.out-of-range", 3)]


def test_tables_that_nobody_reads_are_counted() -> None:
    other = b"$ show vrf\nVRF    Interfaces\n-----  ----------\nVrfA   Ethernet0\n"
    assert ("VRF Interfaces", 1) in beside(other).unread


def test_configuration_without_outputs_has_no_evidence() -> None:
    assert read(LEAF).evidence == ()
