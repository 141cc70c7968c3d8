"""Fabrics that lock up under OpenSM's minimal hops: refuted with the loop named, and healed by tables of ours.

For each, OpenSM programs its tables in ibsim. Our proof refutes them and names the channels of the loop by port;
ibdmchk, which walks OpenSM's own dumps, finds a credit loop as well. Then the tables that we propose are proved, loaded
into the same OpenSM as a file, read back entry by entry, proved again, and ibdmchk finds no loop and every path.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest

from tests.tables import ring
from weftline.adopt import build_fabric, place_states, read_discovery
from weftline.app import engines
from weftline.app.adopt import choose_routes
from weftline.app.audit import audit
from weftline.app.ibnl import read_systems
from weftline.drivers import DRIVERS
from weftline.enact import order_change
from weftline.formats.eui import format_guid
from weftline.kernels.column import NIL
from weftline.labs import LABS
from weftline.labs.ibsim import opensm
from weftline.model.addresses import Addresses
from weftline.model.adoption import Adoption, Tables
from weftline.model.discovery import Discovery
from weftline.model.driver import Access, SubnetState
from weftline.model.fabric import Fabric, NodeKind
from weftline.model.lab import EngineTrial, LabDesign, LabSubnet
from weftline.model.proof import Proof, Verdict
from weftline.model.routes import Routes
from weftline.prove import prove
from weftline.technologies.infiniband.addresses import number
from weftline.technologies.infiniband.tables import make_table
from weftline.vendors.opensm.tables import write_table

PROGRAMS = ("opensm", "ibsim", "ibdmchk")
DGX = "topograph/tests_output_ibnetdiscover_example.out"
DEMO = "nmorey_ibutils/ibdiag_demo_credit-loops.topo"
RHINO = "nmorey_ibutils/ibdm_Clusters_RhinoBased512.topo"
RING = "a ring of five"
LIMIT_S = 120.0
SMALL = 40
"""Switches of a fabric up to which the way from those tables to ours is looked for as well."""
FILES = "file"
"""The engine of OpenSM that takes tables as they are."""

pytestmark = [
    pytest.mark.lab,
    pytest.mark.skipif(
        not opensm.find_library() or any(shutil.which(name) is None for name in PROGRAMS),
        reason="opensm, ibsim-utils or ibutils is not installed",
    ),
]


@dataclass
class Bench:
    """A fabric under OpenSM in ibsim, and what ibdmchk says each time."""

    fabric: Fabric
    addresses: Addresses
    folder: Path
    said: list[str] = field(default_factory=list[str])

    def run(self, trial: EngineTrial) -> Tables:
        """Let OpenSM program the fabric; returns the tables that the switches then hold."""
        lab = LABS["ibsim"]
        design = LabDesign("", self.fabric, self.addresses, (LabSubnet("subnet-1", 0, {}),))
        assert lab.try_engine is not None
        done = lab.try_engine(design, trial, self.folder, self.read, lambda _words, _share: None)
        assert (done.outcome, done.programmed) == ("ran", trial.engine), done.reason
        tables = place_states(done.states, self.fabric, self.addresses)
        assert isinstance(tables, Tables)
        return tables

    def read(self, access: Access) -> SubnetState:
        """Have ibdmchk walk the dumps, then ask every switch."""
        command = ("ibdmchk", "-s", "opensm-subnet.lst", "-f", "opensm.fdbs", "-m", "opensm.mcfdbs")
        # Its status says nothing: it may crash when it is done.
        done = subprocess.run(command, cwd=access.folder, capture_output=True, text=True, timeout=180, check=False)
        self.said.append(done.stdout)
        return DRIVERS["opensm"].read_state(access, False)

    def judge(self, tables: Tables) -> dict[str, Proof]:
        """Prove what the switches hold."""
        return {proof.claim: proof for proof in prove(self.fabric, tables.routes, engines.RULES).proofs}

    @property
    def pairs(self) -> int:
        """Ordered pairs of endpoints with a cable."""
        fabric = self.fabric
        ends = int(np.count_nonzero(fabric.port_peer[fabric.endpoint_port] != NIL))
        return ends * (ends - 1)


def load(name: str, corpus: Path) -> tuple[Fabric, Addresses]:
    """Read a fabric; where it has no addresses, it is given some."""
    if name == RING:
        fabric = ring(5)
        return fabric, number(fabric)
    systems = None
    if name.endswith(".topo"):
        systems = read_systems(None)
        if not systems.netlists:
            pytest.skip("the IBNL files of ibutils (libibdm1) are not installed")
    discovery = read_discovery((corpus / "infiniband" / name).read_bytes(), name, systems)
    assert isinstance(discovery, Discovery)
    adoption = build_fabric(discovery)
    assert isinstance(adoption, Adoption)
    has_guids = bool(adoption.addresses.node_id.any())
    return adoption.fabric, adoption.addresses if has_guids else number(adoption.fabric)


def propose(fabric: Fabric, addresses: Addresses, engine: str) -> tuple[EngineTrial, np.ndarray]:  # type: ignore[type-arg]
    """Compute tables, and hold that they are proved; returns them for OpenSM, and as they must be read back."""
    routes = choose_routes(fabric, engine).routes
    verdicts = {proof.claim: proof.verdict for proof in prove(fabric, routes, engines.RULES).proofs}
    assert (verdicts["reach"], verdicts["deadlock"]) == (Verdict.PROVED, Verdict.PROVED)
    table = make_table(fabric, addresses, routes, 0)
    ids = [*addresses.node_id[fabric.switch_node].tolist(), *addresses.port_id[fabric.endpoint_port].tolist()]
    lids = [
        *addresses.node_address[fabric.switch_node].tolist(),
        *addresses.port_address[fabric.endpoint_port].tolist(),
    ]
    lines = (f"{format_guid(guid)} {lid:#06x} {lid:#06x}\n\n" for guid, lid in zip(ids, lids, strict=True))
    files = {"lfts.conf": write_table(table), "guid2lid": "".join(lines).encode()}
    return EngineTrial("ours", FILES, {"lfts_file": "lfts.conf"}, files, LIMIT_S), table.port


@pytest.mark.parametrize("engine", ["updown", "auto"])
@pytest.mark.parametrize("name", [DEMO, RING, DGX, RHINO])
def test_a_loop_is_named_and_our_tables_have_none(
    name: str, engine: str, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opensm, "LOG_FLAGS", "0x43")  # OpenSM then writes the dumps that ibdmchk reads
    bench = Bench(*load(name, corpus), tmp_path / "lab")
    fabric = bench.fabric
    if engine == "updown":  # the first half is the same for all engines of ours
        hold_refuted(bench)
    trial, expected = propose(fabric, bench.addresses, engine)
    tables = bench.run(trial)
    assert np.array_equal(make_table(fabric, bench.addresses, tables.routes, 0).port, expected)
    proofs = bench.judge(tables)
    assert (proofs["reach"].verdict, proofs["deadlock"].verdict) == (Verdict.PROVED, Verdict.PROVED)
    said = bench.said[-1]
    assert re.search(rf"-I- Scanned:\s*{bench.pairs} CA to CA paths", said), said[-2000:]
    assert "-I- no credit loops found" in said
    assert not re.search(r"^-E-", said, flags=re.MULTILINE)


def hold_refuted(bench: Bench) -> None:
    """Let OpenSM take minimal hops: every pair is reached, and channels that carry endpoints' packets form a loop."""
    fabric = bench.fabric
    tables = bench.run(EngineTrial("minhop", "minhop", {}, {}, LIMIT_S))
    assert bench.judge(tables)["reach"].verdict is Verdict.PROVED
    kept = tables.routes.destination_port != NIL
    routes = replace(
        tables.routes,
        destination_node=tables.routes.destination_node[kept],
        destination_port=tables.routes.destination_port[kept],
        group=tables.routes.group[:, kept],
    )
    (proof,) = [proof for proof in prove(fabric, routes, engines.ONLY_DEADLOCK).proofs if proof.claim == "deadlock"]
    assert proof.verdict is Verdict.REFUTED
    assert proof.witness is not None
    hold_cycle(fabric, proof.witness.detail["cycle"])
    assert "-E- credit loops in routing" in bench.said[-1], bench.said[-1][-2000:]
    if len(fabric.switch_node) <= SMALL:
        hold_left(fabric, tables.routes)


def hold_left(fabric: Fabric, running: Routes) -> None:
    """Leave tables that can stop for ours: no order keeps all, and while little is drained every stage is proved."""
    ordering = order_change(fabric, running, choose_routes(fabric, "updown").routes)
    assert ordering.verdict is Verdict.UNKNOWN
    assert ordering.drain is not None
    assert 0 < len(ordering.drain.destinations) <= len(running.destination_node) // 2
    assert [stage.proof.verdict for stage in ordering.stages] == [Verdict.PROVED] * len(ordering.stages)
    assert np.array_equal(ordering.stages[-1].routes.group, ordering.new.group)


def hold_cycle(fabric: Fabric, cycle: list[str]) -> None:
    """Hold a witness against the cabling: each is a link from switch to switch that begins where the last ended."""
    links = {fabric.link_name(port): port for port in range(fabric.port_count) if fabric.port_peer[port] != NIL}
    assert len(cycle) >= 2
    ports = [links[name] for name in cycle]
    for port, following in zip(ports, [*ports[1:], ports[0]], strict=True):
        far = int(fabric.port_node[fabric.port_peer[port]])
        assert fabric.node_kind[far] == NodeKind.SWITCH
        assert far == fabric.port_node[following]


def test_the_loop_of_the_demo_is_told_to_a_user(corpus: Path, tmp_path: Path) -> None:
    """A plan of systems has no GUIDs; the lab gives it some, and the verdict is that of a dump."""
    plan = tmp_path / "credit-loops.topo"
    plan.write_bytes((corpus / "infiniband" / DEMO).read_bytes())
    found = engines.judge_engines(plan, engines.Wanted(("minhop", "updn")))
    minhop, updn = found.engines
    assert minhop.between_endpoints is not None
    assert minhop.between_endpoints.verdict is Verdict.REFUTED
    assert minhop.between_endpoints.witness is not None
    hold_cycle(found.fabric, minhop.between_endpoints.witness.detail["cycle"])
    for one in (updn, found.own):
        deadlock = one.find("deadlock")
        assert deadlock is not None
        assert deadlock.verdict is Verdict.PROVED


def test_the_loop_of_the_demo_is_found_by_the_audit(corpus: Path, tmp_path: Path) -> None:
    """The plan alone is given; what OpenSM's engines would make of it is run and proved."""
    plan = tmp_path / "credit-loops.topo"
    plan.write_bytes((corpus / "infiniband" / DEMO).read_bytes())
    audited = audit(plan, None, engines="minhop,updn")
    fabric = next(topic for topic in audited.topics if topic.key == "fabric")
    assert fabric.summary.startswith("as planned, not as discovered")
    minhop, updn = audited.engines
    assert minhop.between_endpoints is not None
    assert minhop.between_endpoints.verdict is Verdict.REFUTED
    assert minhop.between_endpoints.witness is not None
    assert audited.source.adoption is not None
    hold_cycle(audited.source.adoption.fabric, minhop.between_endpoints.witness.detail["cycle"])
    deadlock = updn.find("deadlock")
    assert deadlock is not None
    assert deadlock.verdict is Verdict.PROVED
