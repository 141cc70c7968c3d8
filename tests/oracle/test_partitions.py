"""What we predict of a partition file is what the real OpenSM programs, entry by entry."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

import pytest

from tests.oracle.partition_lab import NEEDED, Lab, make_fabric, simulate
from weftline.formats import opensm_conf, partitions_conf
from weftline.model.driver import SubnetState
from weftline.model.lint import LintInput
from weftline.model.partitions import End, KeySubnet
from weftline.vendors.opensm.linting import lint
from weftline.vendors.opensm.prediction import PartitionOptions, Prediction, predict

pytestmark = [pytest.mark.lab, NEEDED]


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """One simulator for all files: what one left behind is what the next one finds."""
    with simulate(tmp_path_factory.mktemp("partitions"), make_fabric()) as made:
        yield made


def describe(state: SubnetState, manager: int) -> KeySubnet:
    """Describe the subnet as it stands, with what its tables hold."""
    ends = [
        End(guid, place, "adapter", state.key_capacity[place[0]], _facing(state, place))
        for guid, place in state.endpoints.items()
    ]
    ends += [End(guid, (guid, 0), "switch", state.key_capacity[guid]) for guid in state.tables]
    nodes = frozenset(guid for guid, node in state.nodes.items() if not node.is_switch)
    return KeySubnet(tuple(ends), manager, dict(state.switch_key_capacity), nodes, dict(state.key_tables))


def _facing(state: SubnetState, place: tuple[int, int]) -> tuple[int, int] | None:
    return next((near for near, far in state.links.items() if far == place and near[0] in state.tables), None)


def check(lab: Lab, text: bytes | None, options: dict[str, str]) -> Prediction:
    """Program a file and hold every table against the prediction; ports between switches stay as they were."""
    before = lab.last()
    subnet = describe(before, lab.access.entry)
    file = None if text is None else partitions_conf.parse(text, "partitions.conf")
    predicted = predict(file, subnet, PartitionOptions.read(options))
    done = lab.program(text, options)
    wanted = {place: predicted.tables[place].keys if place in predicted.tables else keys
              for place, keys in before.key_tables.items()}  # fmt: skip
    held = done.state.key_tables
    wrong = {place: (wanted[place], held[place]) for place in wanted if wanted[place] != held[place]}
    assert not wrong, (text, options, done.log)
    assert set(predicted.tables) <= set(wanted)
    assert ("retrying with default config" in done.log) == (text is not None and predicted.is_default)
    assert done.log.count("ERR 0512") == sum(len(one.lost) for one in predicted.overflows)
    return predicted


WORDS = ["ALL", "ALL_CAS", "ALL_SWITCHES", "ALL_ROUTERS", "SELF", "NONE", "A", "ALL_", "S", "N", ""]
VALUES = ["", "=full", "=limited", "=both", "=", "=f", "=Full", "=li", " = full "]
FLAGS = ["", ", indx0", ", ipoib", ", defmember=full", ", defmember=both", ", defmember=", ",ipoib, rate=7,mtu=5,sl=1",
         ", INDX0", ", d=l", ",,"]  # fmt: skip
KEYS = ["=0x1", "=0x2", "=0x8003", "=4", "=0x7fff", "=0x100", "=0x0201", "", "=0xffff", "=0x8000", " = 0x11"]
FAULTS = ["broken\n", "A=0x1 0x5;\n", "X=zz : ALL;\n", "X=0x1 : 0x0;\n", "X=0x5 : defmember=limited : 0x12;\n",
          "\r\n", "X=0x9 : xyz=full;\n", "X= : ALL ;\n", "X=0x4, indx0 : ALL=full, ALL_VCAS=full;\n"]  # fmt: skip


def generate(lab: Lab, draw: random.Random) -> bytes:
    """Make a file of a few rules, some of them odd."""
    guids = [f"0x{guid:016x}" for guid in lab.last().endpoints]
    lines: list[str] = []
    for _ in range(draw.randint(0, 6)):
        members: list[str] = []
        for _ in range(draw.randint(0, 5)):
            odd = draw.random()
            if odd < 0.15:
                name = draw.choice(WORDS)
            elif odd < 0.2:
                name = f"0x{draw.getrandbits(60):x}"
            else:
                name = draw.choice(guids)
                name = str(int(name, 16)) if draw.random() < 0.1 else name
            members.append(name + draw.choice([*[""] * 6, *VALUES]))
        separator = draw.choice([", ", ",", " ,\n  "])
        name = draw.choice(["red", "blue", "Default", "", "x"])
        end = draw.choice([" ;\n", ";", " ; # words ; more\n"])
        lines.append(f"{name}{draw.choice(KEYS)}{draw.choice([*[''] * 5, *FLAGS])} : {separator.join(members)}{end}")
    if draw.random() < 0.2:
        lines.insert(draw.randint(0, len(lines)), draw.choice(FAULTS))
    if draw.random() < 0.3:
        lines.insert(0, "# a comment\n\n")
    if draw.random() < 0.1 and lines:
        lines[-1] = lines[-1].replace(";", "")
    return "".join(lines).encode()


@pytest.mark.parametrize("seed", range(40))
def test_generated_files(lab: Lab, seed: int) -> None:
    draw = random.Random(seed)
    options = {
        "part_enforce": draw.choice(["both", "both", "in", "out", "off"]),
        "allow_both_pkeys": draw.choice(["FALSE", "FALSE", "TRUE"]),
    }
    check(lab, generate(lab, draw), options)


def many(lab: Lab, count: int, start: int = 1) -> bytes:
    """Make many partitions of one port and the manager's."""
    guid = next(guid for guid in lab.last().endpoints if guid != lab.access.entry)
    return "".join(f"p{n}=0x{n:x} : 0x{guid:016x}=full ;\n" for n in range(start, start + count)).encode()


def test_more_keys_than_a_port_holds(lab: Lab) -> None:
    predicted = check(lab, many(lab, 70), {})
    (overflow,) = predicted.overflows
    assert (overflow.wanted, overflow.capacity, len(overflow.lost)) == (71, 64, 7)
    check(lab, many(lab, 10), {})
    predicted = check(lab, many(lab, 60, start=200), {})
    assert not predicted.overflows


@pytest.mark.parametrize("count", [30, 31, 32, 33, 62, 63])
def test_enforcement_stops_without_a_word_where_the_table_of_the_switch_is_full(lab: Lab, count: int) -> None:
    """The bit is not kept by the simulator; the log at its loudest says which ports it was asked for."""
    predicted = check(lab, many(lab, count), {})
    again = lab.program(many(lab, count), {}, verbosity="0x0b")
    asked = {
        (int(match[1], 16), int(match[2]))
        for match in re.finditer(r"enforce_partition: Set PortInfo for node 0x([0-9a-f]{16}) port (\d+)", again.log)
    }
    enforcing = {place for place, table in predicted.tables.items() if table.enforces_in and table.enforces_out}
    assert enforcing == asked
    assert len(enforcing) == (8 if count < 63 else 7)
    assert bool(predicted.cleared) == (count >= 63)
    assert not re.search("ERR 05", again.log)


@pytest.mark.parametrize("word", ["both", "in", "out", "off", "On", "BOTH", "none"])
@pytest.mark.parametrize("disabled", ["FALSE", "TRUE", "true"])
def test_what_the_options_ask_for(lab: Lab, word: str, disabled: str) -> None:
    options = {"part_enforce": word, "no_partition_enforcement": disabled}
    predicted = check(lab, b"Default=0x7fff : ALL=full ;\n", options)
    log = lab.program(b"Default=0x7fff : ALL=full ;\n", options, verbosity="0x0b").log
    enforcing = [table for table in predicted.tables.values() if table.enforces_in or table.enforces_out]
    assert log.count("enforce_partition: Set PortInfo") == len(enforcing)


def test_a_small_table_of_a_switch(lab: Lab) -> None:
    """The port 0 of a switch has eight places here."""
    text = b"".join(b"p%d=0x%x : ALL=full ;\n" % (n, n) for n in range(1, 12))
    predicted = check(lab, text, {})
    assert {overflow.capacity for overflow in predicted.overflows} == {8}


SAID = {
    "Default=0x7fff : ALL=full ;\r\n": "no ':'",
    "ShareIO = 0x80 : defmember=limited : 0x123456, 0x123457 ;": "no port GUID",
    "": "no rule",
    "# nothing\n\n": "no rule",
    "Default=0x7fff : ALL, ALL_VCAS=full ;": "no port GUID",
    "Default=0x7fff : 0002c90300800011=full ;": "no port GUID",
    "a=0x1 : SELF=full\nb=0x2 : SELF=full ;": "no port GUID",
    "a=0x1, SELF=full ;": "no ':'",
    "a=0x : SELF=full ;": "no P_Key",
    "a=0x1 : mgid=1::1,sl=1 ;\n": "no ':'",
}


@pytest.mark.parametrize("text", SAID)
def test_files_that_are_given_up(lab: Lab, text: str) -> None:
    """The eighth is from the manual page of OpenSM itself."""
    predicted = check(lab, text.encode(), {})
    assert predicted.is_default
    fault = partitions_conf.parse(text.encode(), "partitions.conf").fault
    assert fault is not None
    assert SAID[text] in fault.message
    assert all(0xFFFF in table.keys for table in predicted.tables.values())


GOOD = [
    "Default=0x7fff : ALL, SELF=full ;",
    "NewPartition , ipoib : SELF=full, 0x3456789034=limi,  0x2134af2306 ;",
    "YetAnotherOne = 0x300 : SELF=full ;\nYetAnotherOne = 0x300 : ALL=limited ;",
    "a=0x1 : SELF=full\nA=0x2 : SELF=full ;",
    "a=0x1 : mgid=1::1 ;\nb=0x2 : ALL ;",
    "a=0x1,ipoib : mgid=ff12:401b::0707,sl=1 # words\nmgid=ff12:601b::16\n ALL=full ; b=2 : SELF ;",
    "a : ALL ;\nb=0x1 : SELF=full ;",
    "a=0x1 : ALL",
    "a=-1 : SELF ;",
    "a=0x12345 : ALL=full ;",
    ": ALL=full ; : SELF=full ;",
    "# " + "x" * 5000 + "\na=0x1 : ALL ;",
    "a=0x1 : " + ",".join([" SELF=full"] * 300) + " ; b=0x2: ALL=full ;",
    "a=0x1 : ALL\0 SELF=full ;\n",
]


@pytest.mark.parametrize("text", GOOD)
def test_files_that_are_taken(lab: Lab, text: str) -> None:
    file = partitions_conf.parse(text.encode(), "partitions.conf")
    assert check(lab, text.encode(), {}).is_default == (file.fault is not None)


def test_no_file_at_all(lab: Lab) -> None:
    """OpenSM says SUBNET UP and nothing of the file, and every port holds 0xffff: the linter says so before."""
    assert check(lab, None, {}).is_default
    path = lab.folder / "partitions.conf"
    log = (lab.folder / "osm.log").read_text(errors="replace")
    assert "SUBNET UP" in log
    assert not re.search("ERR|[Pp]artition config", log)
    assert not path.exists()
    options = opensm_conf.parse((lab.folder / "osm.conf").read_bytes(), "opensm.conf").options
    made = lab.made
    linted = lint(LintInput(None, options, made.fabric, made.addresses, manager=lab.access.entry, has_all=True))
    assert [one.rule for one in linted.findings if one.rule.startswith("partition.")] == ["partition.no-file"]
    assert linted.predicted is not None
    ends = {one.guid: one.table.keys for one in linted.predicted if one.guid}
    state = lab.last()
    held = {guid: state.key_tables[place] for guid, place in state.endpoints.items() if guid in ends}
    assert len(held) == 8
    assert {keys for guid, keys in ends.items() if guid in held} == set(held.values()) == {(0xFFFF,)}
