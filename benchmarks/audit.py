"""How long an audit of a large real fabric takes; nothing where the corpus of real dumps is absent."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.measure import ROOT, Figure

CORPUS = ROOT.parent / "shared" / "corpus" / "infiniband" / "ufm_sdk"
DUMP = "plugins_UFM_NDT_Plugin_tests_positive_flow_ibnetdiscover_ibnetdiscover_director.txt"
PLAN = "plugins_UFM_NDT_Plugin_tests_positive_flow_ndts_switch_to_host_topo1.ndt"
MUST_S = 10.0


def run() -> list[Figure]:
    """Audit 400 switches and 2,328 adapters as a person does: the dump alone, and with tables and a plan."""
    if not (CORPUS / DUMP).is_file():
        return []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        place = folder / "dumps"
        place.mkdir()
        shutil.copyfile(CORPUS / DUMP, place / "ibnetdiscover.txt")
        audit(place, folder)  # also fills the cache of compiled kernels
        alone = audit(place, folder)
        (place / "dump_fts.txt").write_bytes(write_tables(place / "ibnetdiscover.txt"))
        shutil.copyfile(CORPUS / PLAN, place / "plan.ndt")
        whole = audit(place, folder)
    return [
        Figure("audit of 400 switches and 2,328 adapters, topology alone", alone, "s", must=MUST_S),
        Figure("audit of 400 switches and 2,328 adapters, tables and plan too", whole, "s", must=MUST_S),
    ]


def audit(place: Path, out: Path) -> float:
    """Run the command in a process of its own."""
    command = [sys.executable, "-m", "weftline", "audit-fabric", str(place), "--out", str(out), "--quiet", "--json"]
    start = time.perf_counter()
    done = subprocess.run(command, check=False, capture_output=True, cwd=ROOT, text=True)
    if done.returncode not in {0, 2}:
        raise SystemExit(done.stderr[-2000:] + done.stdout[:2000])
    return time.perf_counter() - start


def write_tables(dump: Path) -> bytes:
    """Write the tables that an engine of ours makes for a dump, as dump_fts prints them."""
    from weftline.adopt import build_fabric, read_discovery
    from weftline.kernels.column import NIL
    from weftline.model.routes import no_route
    from weftline.route import compute_routes

    discovery = read_discovery(dump.read_bytes(), dump.name)
    adoption = () if isinstance(discovery, tuple) else build_fabric(discovery)
    if isinstance(adoption, tuple):
        raise SystemExit(f"{dump.name} was not adopted")
    fabric, ids = adoption.fabric, adoption.addresses
    routes = compute_routes(fabric, "updown", to_switches=True)
    is_port = routes.destination_port != NIL
    lids = [
        int(ids.port_address[port] if port != NIL else ids.node_address[node])
        for port, node in zip(routes.destination_port.tolist(), routes.destination_node.tolist(), strict=True)
    ]
    lines: list[str] = []
    for row, node in enumerate(fabric.switch_node.tolist()):
        lines.append(f"Unicast lids [0x0-0xbfff] of switch Lid {int(ids.node_address[node])} guid "
                     f"0x{int(ids.node_id[node]):016x} ({fabric.node_name[node]}):")  # fmt: skip
        lines += ["  Lid  Out   Destination", "       Port     Info"]
        for column, lid in enumerate(lids):
            entry = int(routes.group[row, column])
            if not 0 < lid < 0xC000 or entry == no_route(routes.group):
                continue
            port = 0
            if int(fabric.switch_row[routes.destination_node[column]]) != row or is_port[column]:
                member = routes.member_ptr[routes.group_ptr[row] + entry]
                port = int(fabric.port_number[routes.member_port[member]])
            lines.append(f"0x{lid:04x} {port:03d} : (Channel Adapter portguid 0x0: 'x')")
    return ("\n".join(lines) + "\n").encode()
