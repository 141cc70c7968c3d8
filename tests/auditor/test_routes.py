"""Files of routers that lead to the tables of their bundle, and files that somebody changed."""
# ruff: noqa: E501  (one way per line)

from __future__ import annotations

import hashlib
import json
import random
import re
from pathlib import Path

import pytest

from tests.auditor.bundles import ROOT, Files, audit, audit_routes, edit, make_bundle, read_files, write_files
from tests.lab.netns.conftest import SMALL
from tests.unit.prove.test_converge import SYSTEM, TENANTS

PLAIN, SHARED = "plain", "tenants"
GENERATED = 48


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Files]:
    """Make the good bundles that are tampered with."""
    found: dict[str, Files] = {}
    for name, text in ((PLAIN, SMALL), (SHARED, SMALL + TENANTS)):
        folder = tmp_path_factory.mktemp(name)
        make_bundle(folder, text)
        found[name] = read_files(folder / "bundle")
    return found


@pytest.mark.parametrize("name", [PLAIN, SHARED])
def test_rendered_files_lead_to_the_tables(bundles: dict[str, Files], tmp_path: Path, name: str) -> None:
    folder = write_files(tmp_path / "bundle", bundles[name])
    found = audit_routes(folder)
    assert (found.status, found.verdict["verdict"], found.stderr) == (0, "holds", ""), found.verdict
    assert found.verdict["converge"] == (
        "The files of 6 switches bring up 8 sessions; what these tell of the networks of 8 endpoints settles on the "
        "ports of the tables, 20 entries in 4 columns."
    )
    assert audit(folder).status == 0
    digest = hashlib.sha256((folder / "manifest.json").read_bytes()).hexdigest()
    assert audit_routes(folder, "--expect", digest).status == 0
    assert audit_routes(folder, "--expect", "0" * 64).status == 2


def test_three_tiers_and_an_example_hold(tmp_path: Path) -> None:
    text = (ROOT / "examples" / "two-tenants-roce.yaml").read_text(encoding="utf-8")
    make_bundle(tmp_path, text)
    assert audit_routes(tmp_path / "bundle").status == 0
    three = tmp_path / "three"
    three.mkdir()
    make_bundle(three, "fabric: {name: three}\ntechnology: roce\nhosts: {count: 16, gpus: 8, rails: 8, rate_gbps: 400}\ntopology: {kind: fat-tree, tiers: 3}\n")
    found = audit_routes(three / "bundle")
    assert found.status == 0, found.verdict


def test_other_bundles_are_not_judged(tmp_path: Path) -> None:
    make_bundle(tmp_path, "fabric: {name: ib}\ntechnology: infiniband\nhosts: {count: 4, gpus: 8, rails: 8, rate_gbps: 400}\ntopology: {kind: fat-tree}\n")
    found = audit_routes(tmp_path / "bundle")
    assert (found.status, found.verdict["verdict"]) == (1, "unreadable")
    assert audit_routes(tmp_path / "nothing").status == 1


def test_systems_without_frr_are_refused_and_not_passed(tmp_path: Path) -> None:
    make_bundle(tmp_path, SMALL + SYSTEM % "eos")
    assert audit(tmp_path / "bundle").status == 0
    found = audit_routes(tmp_path / "bundle")
    assert (found.status, found.verdict["verdict"]) == (2, "rejected")


LEAF, SPINE, TABLES = "switches/leaf-001/", "switches/spine-01/", "fabric/tables.txt"
FRR, DB = "frr.conf", "config_db.json"
FORM = "is not of the form that is understood"
WRONG = [
    (PLAIN, LEAF + FRR, "  maximum-paths 2", "  maximum-paths 1", "leaf-001 has other ways to leaf-00"),
    (PLAIN, LEAF + FRR, "remote-as 4200000004", "remote-as 4200000009", "has other ways"),
    (PLAIN, LEAF + FRR, " neighbor FABRIC bfd\n", " neighbor FABRIC bfd\n neighbor FABRIC allowas-in\n", FORM),
    (PLAIN, LEAF + FRR, " bgp bestpath as-path multipath-relax\n", "", FORM),
    (PLAIN, LEAF + FRR, "router bgp", "ip route 10.128.0.4/30 10.0.0.2\nrouter bgp", FORM),
    (PLAIN, LEAF + FRR, "hostname leaf-001", "hostname leaf-002", FORM),
    (PLAIN, LEAF + FRR, "permit 10.128.0.0/30 le 32", "permit 10.128.0.0/30", "tells nobody of the network of host-0001"),
    (PLAIN, LEAF + FRR, "aggregate-address 10.128.0.0/30", "aggregate-address 10.128.0.0/29", "and another of"),
    (PLAIN, LEAF + FRR, "10.128.0.0/30", "10.128.0.4/30", "tells nobody of the network"),
    (PLAIN, LEAF + FRR, "to spine-01/1", "to spine-02/1", "is not at"),
    (PLAIN, LEAF + DB, '"Ethernet0|10.128.0.0/31"', '"Ethernet0|10.128.0.8/31"', "tells nobody of the network of host-0001"),
    (PLAIN, LEAF + DB, '"CABLE_LENGTH": {', '"STATIC_ROUTE": {}, "CABLE_LENGTH": {', "nothing here knows what"),
    (PLAIN, LEAF + DB, '"bgp_asn": "4200000000"', '"bgp_asn": "4200000001"', "two numbers"),
    (PLAIN, LEAF + DB, '"admin_status": "up"', '"admin_status": "down"', "tells nobody of the network of host-0001"),
    (PLAIN, TABLES, "column leaf-001", "column leaf-002", "does not hand over"),
    (PLAIN, TABLES, "weftline-tables 1", "weftline-tables 2", "is cut off or no"),
    (SHARED, LEAF + FRR, "route-target import 64512:10001", "route-target import 64512:10009", "VRF Vrfred does not take what leaf-001 gives"),
    (SHARED, LEAF + FRR, " address-family l2vpn evpn\n  neighbor FABRIC activate\n  advertise-all-vni\n exit-address-family\nexit", "exit", FORM),
    (SHARED, SPINE + FRR, " !\n address-family l2vpn evpn\n  neighbor FABRIC activate\n exit-address-family\n", "", "not all switches carry"),
    (SHARED, LEAF + DB, '"src_ip": "10.0.0.1"', '"src_ip": "10.0.0.9"', "tells nobody of the network"),
    (SHARED, LEAF + FRR, "permit 10.0.0.1/32", "permit 10.0.0.2/32", "tells nobody of the network"),
]  # fmt: skip


@pytest.mark.parametrize(("base", "path", "old", "new", "reason"), WRONG)
def test_signed_changes_are_rejected(
    bundles: dict[str, Files], tmp_path: Path, base: str, path: str, old: str, new: str, reason: str
) -> None:
    found = audit_routes(write_files(tmp_path / "bundle", edit(bundles[base], path, old, new)))
    assert (found.status, found.verdict["verdict"], found.stderr) == (2, "rejected", "")
    assert reason in found.verdict["reason"]


def change_at_random(files: Files, rng: random.Random) -> tuple[str, Files]:
    """Remove a neighbour, narrow the ways, exchange two files, change a number, or move an entry of the tables."""
    switches = sorted({path.split("/")[1] for path in files if path.startswith("switches/")})
    leaves = [one for one in switches if one.startswith("leaf")]
    kind = rng.choice(("neighbour", "width", "files", "number", "entry", "expects"))
    name = rng.choice(leaves if kind == "width" else switches)
    path = f"switches/{name}/{FRR}"
    text = files[path].decode()
    if kind == "neighbour":
        port = rng.choice(re.findall(r"neighbor (Ethernet\d+) interface", text))
        new = re.sub(rf" neighbor {port} .*\n", "", text)
    elif kind == "width":
        new = text.replace("maximum-paths 2", "maximum-paths 1")
    elif kind == "files":
        other = rng.choice([one for one in switches if one != name])
        swapped = {f"switches/{a}/{file}": files[f"switches/{b}/{file}"] for a, b in ((name, other), (other, name)) for file in (FRR, DB)}
        return kind, {**files, **swapped}
    elif kind == "number":
        new = re.sub(r"router bgp \d+", f"router bgp {rng.randrange(1, 4_000_000)}", text)
    elif kind == "expects":
        number = rng.choice(re.findall(r"remote-as (\d+)", text))
        new = text.replace(f"remote-as {number}", f"remote-as {rng.randrange(1, 4_000_000)}", 1)
    else:
        lines = files[TABLES].decode().split("\n")
        at = rng.choice([at for at, line in enumerate(lines) if line.startswith("switch ")])
        head, _, row = lines[at].rpartition(" ")
        place = 2 * rng.randrange(len(row) // 2)
        code = rng.choice([one for one in ("00", "01", "fe", "ff") if one != row[place : place + 2]])
        lines[at] = f"{head} {row[:place]}{code}{row[place + 2 :]}"
        return kind, {**files, TABLES: "\n".join(lines).encode()}
    assert new != text
    return kind, {**files, path: new.encode()}


def test_generated_changes_are_rejected(bundles: dict[str, Files], tmp_path: Path) -> None:
    rng = random.Random(11)
    kinds: set[str] = set()
    for at in range(GENERATED):
        kind, files = change_at_random(bundles[rng.choice((PLAIN, SHARED))], rng)
        found = audit_routes(write_files(tmp_path / str(at), files))
        assert (found.status, found.verdict["verdict"], found.stderr) == (2, "rejected", ""), (kind, found.verdict)
        kinds.add(kind)
    assert len(kinds) == 6


def test_unsigned_changes_are_rejected(bundles: dict[str, Files], tmp_path: Path) -> None:
    folder = write_files(tmp_path / "bundle", bundles[PLAIN])
    path = folder / LEAF / FRR
    path.write_bytes(path.read_bytes() + b"!\n")
    found = audit_routes(folder)
    assert (found.status, "another digest" in found.verdict["reason"]) == (2, True)
    path.unlink()
    path.symlink_to("/etc/hostname")
    assert audit_routes(folder).status == 2


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b"[" * 100_000, b'{"files": [{"path": "../x", "digest": ""}]}'])
def test_broken_manifests_are_no_verdict(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "manifest.json").write_bytes(content)
    found = audit_routes(tmp_path)
    assert (found.status, found.verdict["verdict"], found.stderr) == (1, "unreadable", "")


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"null", b'{"PORT": 1}', b"[" * 100_000])
def test_broken_files_are_rejected(bundles: dict[str, Files], tmp_path: Path, content: bytes) -> None:
    found = audit_routes(write_files(tmp_path / "bundle", {**bundles[PLAIN], LEAF + DB: content}))
    assert (found.status, found.verdict["verdict"], found.stderr) == (2, "rejected", "")
    assert json.dumps(found.verdict)
