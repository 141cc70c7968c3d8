"""The real OpenSM on ibsim takes our files as they are, and what it programs is what we meant."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.designs import Rendered, render_design
from weftline.adopt import build_fabric, read_discovery, read_programmed
from weftline.formats import lft, mcfdbs, opensm_conf, slvl, topology
from weftline.kernels.column import NIL
from weftline.model.adoption import Adoption, Tables
from weftline.model.discovery import Discovery
from weftline.model.fabric import NodeKind
from weftline.model.intent import NO_PORT
from weftline.model.parameters import Figure
from weftline.model.proof import ProofRules
from weftline.model.spec import RoutingSection
from weftline.prove import prove
from weftline.technologies.infiniband.congestion import SETS, make_marking, read_options

PRELOAD = Path("/usr/lib/x86_64-linux-gnu/umad2sim/libumad2sim.so")
PROGRAMS = ("opensm", "ibsim", "dump_fts", "smpquery")

pytestmark = [
    pytest.mark.lab,
    pytest.mark.skipif(
        not PRELOAD.exists() or any(shutil.which(name) is None for name in PROGRAMS),
        reason="opensm, ibsim-utils or infiniband-diags is not installed",
    ),
]


@dataclass(frozen=True)
class Lab:
    """A fabric in ibsim; programs are run to their end, only the simulator stays."""

    made: Rendered
    folder: Path
    environment: dict[str, str]

    def run(self, *command: str) -> str:
        """Run one program against the simulator."""
        done = subprocess.run(
            command, env=self.environment, cwd=self.folder, capture_output=True, text=True, timeout=60, check=True
        )
        return done.stdout


def write_topology(made: Rendered) -> str:
    """Write the fabric for ibsim, which makes a port's GUID from its adapter's and knows no NDR."""
    text = topology.write(made.fabric, made.addresses).replace("4xNDR", "4xHDR")

    def to_adapter(match: re.Match[str]) -> str:
        guid = int(match[1], 16)
        return f"caguid=0x{guid - guid % 2**16:016x}"

    return re.sub(r"caguid=0x([0-9a-f]+)\b", to_adapter, text)


@pytest.fixture(
    params=[
        {},
        {"routing": RoutingSection(lmc=1), "extras": (("ufm", 2, "auto"),)},
        {"kind": "fat-tree"},
        {"tenants": (("Default", "1-2"), ("ALL", "3-4"), ("7", "5"), ("a" * 63, "6"))},
        {"hosts": 64, "rails": 8, "unit_size": 32, "ports": 64},
    ],
    ids=["rails", "extras", "tree", "names", "sovereign"],
)
def lab(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Lab]:
    """Simulate a small fabric of two tenants, and stop the simulator afterwards."""
    options: dict[str, Any] = {"hosts": 7, "rails": 2, "unit_size": 4, "tenants": (("red", "1-3"), ("blue", "4-5"))}
    if "kind" in request.param:
        options = {"hosts": 16, "tenants": (("red", "1-9"), ("blue", "10-16"))}
    made = render_design("infiniband", **{**options, **request.param})
    for artifact in made.artifacts.artifacts:
        if artifact.vendor == "opensm":
            content = artifact.content.replace(b"/etc/opensm", str(tmp_path).encode())
            (tmp_path / artifact.path.rsplit("/", 1)[-1]).write_bytes(content)
    text = write_topology(made)
    (tmp_path / "fabric.topo").write_text(text)
    node = re.search(r'^Ca\t\d+ "(H-[0-9a-f]+)"', text, flags=re.MULTILINE)
    assert node is not None
    environment = {
        **os.environ,
        "IBSIM_SOCKNAME": f"weftline-{os.getpid()}-{len(request.param)}-{tmp_path.name[-12:]}",
        "OSM_CACHE_DIR": str(tmp_path),
        "OSM_TMP_DIR": str(tmp_path),
        "SIM_HOST": node[1],
    }
    # The console must stay open: at its end ibsim would spin for ever.
    with subprocess.Popen(
        ["ibsim", "-s", "-N", "1000", "-S", "100", "-P", "9000", str(tmp_path / "fabric.topo")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        cwd=tmp_path,
        text=True,
    ) as simulator:
        try:
            assert simulator.stdout is not None
            for line in simulator.stdout:
                if line.startswith("Network simulator ready"):
                    break
            yield Lab(made, tmp_path, {**environment, "LD_PRELOAD": str(PRELOAD)})
        finally:
            simulator.kill()


def test_opensm_programs_what_was_rendered(lab: Lab) -> None:
    lab.run("opensm", "-F", "opensm.conf", "-o", "-f", "osm.log", "-e", "-D", "0x43")
    log = (lab.folder / "osm.log").read_text()
    assert "file tables configured on all switches" in log
    assert "SUBNET UP" in log
    assert "Partition configuration in error" not in log
    assert "PARSE ERROR" not in log
    assert not re.search(r"ERR [0-9A-F]{4}", log)
    check_tables(lab)
    check_keys(lab)
    if shutil.which("ibdmchk") is not None and lab.made.addresses.multipath_bits == 0:
        check_dumps(lab)


def test_every_form_of_its_dumps_says_the_same(lab: Lab) -> None:
    """Let an engine of OpenSM's route, and read what it did in all the forms that it prints."""
    lab.run("opensm", "-F", "opensm.conf", "-R", "updn", "-Q", "-o", "-f", "osm.log", "-e", "-D", "0x43")
    discovery = read_discovery(lab.run("ibnetdiscover").encode(), "ibnetdiscover")
    assert isinstance(discovery, Discovery)
    found = build_fabric(discovery)
    assert isinstance(found, Adoption)
    files = [(name, (lab.folder / name).read_bytes()) for name in ("opensm.fdbs", "opensm-lfts.dump")]
    files.append(("dump_fts.txt", lab.run("dump_fts").encode()))
    read = [read_programmed(some, found.fabric, found.addresses) for some in (*([file] for file in files), files)]
    tables = [item for item in read if isinstance(item, Tables)]
    assert len(tables) == len(read)
    assert not [problem for item in tables for problem in item.problems if problem.is_error]
    assert len({item.routes.digest for item in tables}) == 1
    routes = tables[0].routes
    assert routes.paths == 2**lab.made.addresses.multipath_bits
    report = prove(found.fabric, routes, ProofRules(required=("reach", "deadlock"), balance_threshold=99.0))
    assert report.is_accepted, [proof.statement for proof in report.proofs]
    lanes = slvl.parse((lab.folder / "opensm-sl2vl.dump").read_bytes(), "opensm-sl2vl.dump")
    groups = mcfdbs.parse((lab.folder / "opensm.mcfdbs").read_bytes(), "opensm.mcfdbs")
    assert not lanes.problems
    assert not groups.problems
    is_switch = found.fabric.node_kind == NodeKind.SWITCH
    assert {int(guid) for guid in found.addresses.node_id[is_switch]} <= {fact.node for fact in lanes.lanes}


def check_dumps(lab: Lab) -> None:
    """Have a program of others walk what OpenSM programmed: all pairs delivered, and no credits that wait in a ring."""
    command = ("ibdmchk", "-s", "opensm-subnet.lst", "-f", "opensm.fdbs", "-m", "opensm.mcfdbs")
    # Its status says nothing: it may crash when it is done.
    done = subprocess.run(command, cwd=lab.folder, capture_output=True, text=True, timeout=60, check=False)
    fabric = lab.made.fabric
    ends = int(np.count_nonzero(fabric.port_peer[fabric.endpoint_port] != NIL))
    assert f"-I- Scanned:{ends * (ends - 1)} CA to CA paths" in done.stdout, done.stdout
    assert "no credit loops found" in done.stdout
    assert not re.search(r"^-[EW]-", done.stdout, flags=re.MULTILINE), done.stdout


def test_opensm_knows_every_option(lab: Lab) -> None:
    """OpenSM passes over an option that it does not know, so its own full list is the judge."""
    lab.run("opensm", "-c", "all.conf")

    def options(name: str) -> set[str]:
        lines = (lab.folder / name).read_text().splitlines()
        return {line.split()[0] for line in lines if line and not line.startswith("#")}

    assert options("opensm.conf") - options("all.conf") == set()


def test_opensm_reads_congestion_control_as_we_do(lab: Lab) -> None:
    """A published set as options: OpenSM reads them, writes what it understood, and that is the set again."""
    control = SETS["ofed"][0](Figure("ofed", "default", ""))
    assert control.table is not None
    table = ",".join(f"{shift}:{multiplier}" for shift, multiplier in control.table.entries)
    (lab.folder / "marks.conf").write_text(
        "congestion_control TRUE\ncc_sw_cong_setting_control_map 0x15\ncc_sw_cong_setting_victim_mask 0x2\n"
        "cc_sw_cong_setting_threshold 15\ncc_sw_cong_setting_packet_size 8\ncc_sw_cong_setting_marking_rate 10\n"
        "cc_ca_cong_setting_control_map 0x3\ncc_ca_cong_setting_ccti_timer 0 150\n"
        "cc_ca_cong_setting_ccti_increase 0 1\ncc_ca_cong_setting_ccti_timer 1 7\n"
        f"cc_ca_cong_setting_ccti_increase 1 9\ncc_cct {table}\n"
    )
    lab.run("opensm", "-F", "marks.conf", "-c", "understood.conf")
    written = (lab.folder / "understood.conf").read_bytes()
    assert b"cc_sw_cong_setting_threshold 0x0F" in written
    options = {one.name: one for one in opensm_conf.parse(written, "understood.conf").options}
    read = read_options(options, Figure("ofed", "file", ""))
    assert read.table == control.table
    assert make_marking(read, 2, 131_072)[0] == make_marking(control, 2, 131_072)[0]
    victim = make_marking(read, 1, 131_072)[0]
    assert victim is not None
    assert victim.marks_victims


def test_the_export_comes_up_with_the_engine_that_it_names(lab: Lab) -> None:
    folder = lab.folder / "exports"
    folder.mkdir()
    for artifact in lab.made.artifacts.artifacts:
        if "/exports/upstream/" in artifact.path:
            content = artifact.content.replace(b"/etc/opensm", str(folder).encode())
            (folder / artifact.path.rsplit("/", 1)[-1]).write_bytes(content)
    (lab.folder / "guid2lid").unlink()
    lab.run("opensm", "-F", str(folder / "opensm.conf"), "-o", "-f", "own.log", "-e", "-D", "0x03")
    log = (lab.folder / "own.log").read_text()
    engines = re.search(r"^routing_engine (\w+),", (folder / "opensm.conf").read_text(), flags=re.MULTILINE)
    assert engines is not None
    assert f"{engines[1]} tables configured on all switches" in log
    assert "SUBNET UP" in log
    assert "PARSE ERROR" not in log
    errors = [line for line in log.splitlines() if re.search(r"ERR [0-9A-F]{4}", line)]
    assert errors == []
    options = {line.split()[0] for line in (folder / "opensm.conf").read_text().splitlines() if line[:1] != "#"}
    lab.run("opensm", "-c", "all.conf")
    known = {
        line.split()[0] for line in (lab.folder / "all.conf").read_text().splitlines() if line[:1] not in {"#", ""}
    }
    assert options - known == set()


def check_tables(lab: Lab) -> None:
    """Hold every entry of every switch against the intent."""
    dump = lft.parse(lab.run("dump_fts").encode(), "dump")
    assert isinstance(dump, lft.LftDump)
    forwarding = lab.made.intent("subnet-1").forwarding
    assert forwarding is not None
    table = forwarding.table
    assert table is not None
    assert {record.guid for record in dump.tables} == set(table.switch_id.tolist())
    for index, record in enumerate(dump.tables):
        part = slice(int(dump.table_ptr[index]), int(dump.table_ptr[index + 1]))
        programmed = {
            int(lid): int(port)
            for lid, port in zip(dump.entry_lid[part], dump.entry_port[part], strict=True)
            if port != NO_PORT
        }
        row = table.switch_id.tolist().index(record.guid)
        meant = {int(lid): int(p) for lid, p in zip(table.address, table.port[row], strict=True) if p != NO_PORT}
        assert programmed == meant


def check_keys(lab: Lab) -> None:
    """Hold the first P_Keys of endpoints against the partitions; the manager's own host is a full member too.

    Of a large fabric about 64 are asked, one program each.
    """
    isolation = lab.made.intent("subnet-1").isolation
    keys = lab.made.intent("subnet-1").keys
    assert isolation is not None
    assert keys is not None
    node = int(lab.environment["SIM_HOST"].removeprefix("H-"), base=16)
    for endpoint in keys.endpoints[:: max(1, len(keys.endpoints) // 64)]:
        if "/" not in endpoint.name:
            continue
        number = endpoint.name.rpartition("/")[2]
        port = "1" if number.startswith("nic") else number
        said = lab.run("smpquery", "pkeys", str(endpoint.first), port)
        found = [int(word, 16) for word in re.findall(r"0x([0-9a-f]{4})", said)][:3]
        (partition,) = [item for item in isolation.partitions if endpoint.key in item.full]
        is_full = int(endpoint.key, base=16) >> 16 == node >> 16 or endpoint.key in isolation.default_full
        default = 0xFFFF if is_full else 0x7FFF
        assert found == [0x8000 | partition.key, default, 0], endpoint.name
