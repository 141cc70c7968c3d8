"""Tenants of a declared RoCE fabric, kept apart by the rendered files, and joined by one change of one file."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from weftline.app.devices import observe_devices
from weftline.app.pipeline import run_to_proofs, run_to_routes
from weftline.app.render import render_proved
from weftline.model.artifact import ArtifactSet
from weftline.model.fabric import Fabric
from weftline.model.isolation import Owners
from weftline.model.proof import Proof, Verdict
from weftline.prove.separate import check_separation, prove_separation
from weftline.prove.tenancy.cabling import bind_files
from weftline.render import render
from weftline.technologies.roce.owners import list_owners
from weftline.vendors import VENDORS

Tables = dict[str, dict[str, dict[str, Any]]]
SWITCH = ("sonic", "frr")


@dataclass(frozen=True)
class Made:
    """The rendered files of the switches, and who owns what."""

    fabric: Fabric
    owners: Owners
    artifacts: ArtifactSet

    def prove(self) -> Proof:
        """Prove isolation on the files."""
        devices = observe_devices(self.artifacts, SWITCH)
        return prove_separation(bind_files(self.fabric, self.owners, devices, source="the files"), required=True)

    def edit(self, path: str, how: Callable[[str], str]) -> Proof:
        """Prove isolation with one file changed."""
        changed = tuple(
            replace(one, content=how(one.content.decode()).encode()) if one.path.endswith(path) else one
            for one in self.artifacts.artifacts
        )
        assert changed != self.artifacts.artifacts
        return replace(self, artifacts=ArtifactSet("", changed)).prove()


@pytest.fixture(scope="module")
def made(root: Path) -> Made:
    """The example of two tenants."""
    routed = run_to_routes(root / "examples" / "two-tenants-roce.yaml")
    design, fabric = routed.built.checked.design, routed.built.fabric
    intents = routed.built.checked.technology.design.intents(design, fabric, routed.addresses, routed.routes)
    switches = tuple(intent for intent in intents if intent.role == "switch")
    return Made(fabric, list_owners(design, fabric), render(switches, tuple(VENDORS[name] for name in SWITCH), of=""))


def test_rendered_files_keep_tenants_apart(made: Made) -> None:
    proof = made.prove()
    assert proof.verdict is Verdict.PROVED, proof.statement
    assert check_separation(proof)
    assert proof.detail["open_sources"] == 0


OWN = "vrf Vrfred\n bgp router-id 10.0.0.1\n !\n address-family ipv4 unicast"
VRF = "vrf Vrfred\n vni 10001"
SPY = {"type": "ERSPAN", "src_port": "Ethernet32", "dst_ip": "192.0.2.1", "src_ip": "10.0.0.1"}


def insert(after: str, line: str) -> Callable[[str], str]:
    """Put a line behind the first one of some text."""

    def change(text: str) -> str:
        assert after in text
        return text.replace(after, f"{after}\n{line}", 1)

    return change


ROUTING: dict[str, tuple[str, Callable[[str], str]]] = {
    "an import of another": ("path", insert("  route-target import 64512:10001", "  route-target import 64512:10002")),
    "an export under another": (
        "path", insert("  route-target export 64512:10001", "  route-target export 64512:10002")),
    "a VRF that is taken over": (
        "path", insert(OWN, "  import vrf Vrfblue")),
    "a static default route": ("outside", insert(VRF, " ip route 0.0.0.0/0 10.128.0.1")),
    "a static route to tunnel ends": (
        "underlay", insert(VRF, " ip route 10.0.0.0/12 Ethernet32 nexthop-vrf default")),
    "a static route to a gateway": (
        "path", insert(VRF, " ip route 10.128.0.8/31 Ethernet16 nexthop-vrf Vrfblue")),
    "a default route that is announced": (
        "outside",
        insert(OWN, "  network 0.0.0.0/0")),
}  # fmt: skip


@pytest.mark.parametrize("fault", ROUTING)
def test_a_change_of_routing_is_found(made: Made, fault: str) -> None:
    kind, change = ROUTING[fault]
    proof = made.edit("leaf-001/frr.conf", change)
    assert proof.verdict is Verdict.REFUTED, proof.statement
    assert kind in proof.detail["kinds"]
    places = {step["file"] for one in proof.detail["meetings"] for step in one["path"]}
    assert any(place.endswith("leaf-001/frr.conf") for place in places)


def put(table: str, key: str, **fields: Any) -> Callable[[Tables], None]:
    """Put a row into a table."""
    return lambda tables: tables.setdefault(table, {}).__setitem__(key, fields)


def shorten(tables: Tables) -> None:
    tables["ACL_TABLE"]["EDGE"]["ports"].remove("Ethernet0")


def set_rule(name: str, **fields: str | None) -> Callable[[Tables], None]:
    """Change fields of a rule of the filter, or take them away."""

    def change(tables: Tables) -> None:
        row = tables["ACL_RULE"][f"EDGE|{name}"]
        row |= {key: value for key, value in fields.items() if value is not None}
        for key, value in fields.items():
            if value is None:
                del row[key]

    return change


TABLES: dict[str, tuple[str, Callable[[Tables], Any]]] = {
    "a port in the VRF of another": ("path", put("INTERFACE", "Ethernet0", vrf_name="Vrfblue")),
    "a port in the default VRF": ("underlay", put("INTERFACE", "Ethernet0")),
    "a filter without a drop of the rest": ("source", lambda tables: tables["ACL_RULE"].pop("EDGE|REST")),
    "a filter that lets all in": ("source", set_rule("EDGE_1_1", SRC_IP="0.0.0.0/0")),
    "a filter for the addresses of another": ("source", set_rule("EDGE_1_1", SRC_IP="10.128.0.9/32")),
    "a rule of another's port": ("source", set_rule("EDGE_5_1", IN_PORTS="Ethernet0")),
    "a filter that leaves a port out": ("source", shorten),
    "a filter that lets tunnels of one port in": ("tunnel", shorten),
    "no drop of tunnels": ("tunnel", lambda tables: tables["ACL_RULE"].pop("EDGE|TUNNEL_4789")),
    "a drop of another UDP port": ("tunnel", set_rule("TUNNEL_4789", L4_DST_PORT="8472")),
    "a drop of TCP": ("tunnel", set_rule("TUNNEL_4789", IP_PROTOCOL="6")),
    "a drop behind what comes in": ("tunnel", set_rule("TUNNEL_4789", PRIORITY="2")),
    "a drop at another port": ("tunnel", set_rule("TUNNEL_4789", IN_PORTS="Ethernet16")),
    "a drop of some targets": ("tunnel", set_rule("TUNNEL_4789", DST_IP="10.0.0.1/32")),
    "a drop of some sources": ("tunnel", set_rule("TUNNEL_4789", SRC_IP="10.128.0.1/32")),
    "a drop that forwards": ("tunnel", set_rule("TUNNEL_4789", PACKET_ACTION="FORWARD")),
    "no filter in force": ("tunnel", lambda tables: tables["ACL_TABLE"]["EDGE"].__setitem__("ports", [])),
    "a filter on the way out": ("tunnel", lambda tables: tables["ACL_TABLE"]["EDGE"].__setitem__("stage", "egress")),
    "a mirror of a port": (
        "mirror", put("MIRROR_SESSION", "spy", type="SPAN", src_port="Ethernet0", dst_port="Ethernet64")),
    "a mirror of an uplink": (
        "mirror", put("MIRROR_SESSION", "spy", **SPY)),
    "samples of all ports": ("mirror", put("SFLOW", "global", admin_state="up")),
    "a drop that the switch does not take": (
        "tunnel", lambda tables: tables["ACL_TABLE_TYPE"]["EDGE"]["MATCHES"].remove("L4_DST_PORT")),
    "the tunnel's address in a VRF": ("underlay", put("LOOPBACK_INTERFACE", "Loopback0", vrf_name="Vrfred")),
    "a network number of another": (
        "network", put("VXLAN_TUNNEL_MAP", "vtep|map_10002_Vlan1001", vlan="Vlan1001", vni="10002")),
}  # fmt: skip


def edit_tables(made: Made, change: Callable[[Tables], Any]) -> Proof:
    """Prove isolation with one table of leaf-001 changed."""

    def how(text: str) -> str:
        tables = json.loads(text)
        change(tables)
        return json.dumps(tables, indent=2)

    return made.edit("leaf-001/config_db.json", how)


@pytest.mark.parametrize("fault", TABLES)
def test_a_change_of_tables_is_found(made: Made, fault: str) -> None:
    kind, change = TABLES[fault]
    proof = edit_tables(made, change)
    assert proof.verdict is Verdict.REFUTED, proof.statement
    assert kind in proof.detail["kinds"]
    assert any("leaf-001" in step["says"] for one in proof.detail["meetings"] for step in one["path"])


def test_a_hole_for_tunnels_names_the_device_and_the_table(made: Made) -> None:
    """Only the one port is blamed where the one port is not bound, and every port where the drop is missing."""
    one, everyone = (edit_tables(made, TABLES[name][1]) for name in
                     ("a filter that lets tunnels of one port in", "no drop of tunnels"))  # fmt: skip
    assert (one.detail["open_tunnels"], everyone.detail["open_tunnels"]) == (1, 9)
    (meeting,) = [one for one in one.detail["meetings"] if one["kind"] == "tunnel"]
    assert "leaf-001/1 has no filter on the way in (leaf-001, ACL_RULE)" in meeting["summary"]
    assert meeting["b_owner"] == "the underlay"
    first = next(one for one in everyone.detail["meetings"] if one["kind"] == "tunnel")
    assert "of filter EDGE lets UDP 4789 in before a rule drops it (leaf-001, ACL_RULE)" in first["summary"]
    assert first["path"][-1]["path"].startswith("ACL_RULE.EDGE|EDGE_1_1")


def test_all_ends_of_tunnels_are_targets_enough(made: Made) -> None:
    def change(tables: Tables) -> None:
        tables["ACL_TABLE_TYPE"]["EDGE"]["MATCHES"].append("DST_IP")
        set_rule("TUNNEL_4789", DST_IP="10.0.0.0/12")(tables)

    proof = edit_tables(made, change)
    assert proof.verdict is Verdict.PROVED, proof.statement


def test_hosts_that_may_send_as_others_of_their_tenant_are_a_risk_in_words(made: Made) -> None:
    proof = edit_tables(made, set_rule("EDGE_1_1", SRC_IP="10.128.0.2/31"))
    assert proof.verdict is Verdict.PROVED, proof.statement
    assert proof.detail["own_sources"] == proof.detail["checked_sources"] - 1
    assert any("1 edge ports, leaf-001/1 first, let in sources" in risk for risk in proof.detail["residual_risks"])
    assert not any("let in sources" in risk for risk in made.prove().detail["residual_risks"])


def drop_by_port(tables: Tables) -> None:
    tables["ACL_TABLE"]["EDGE"]["type"] = "L3"
    set_rule("TUNNEL_4789", IN_PORTS="Ethernet0,Ethernet4")(tables)


UNKNOWN: dict[str, Callable[[Tables], Any]] = {
    "a table that nobody knows": put("TENANT_GLUE", "x", a="b"),
    "another number than the routing daemon has": put("VRF", "Vrfred", vni="10009"),
    "a VRF that is nowhere": put("INTERFACE", "Ethernet0", vrf_name="Vrfgone"),
    "a match that nobody knows": set_rule("EDGE_1_1", SRC_IP=None, BTH_OPCODE="3"),
    "a port of a drop that the built-in type may not match": drop_by_port,
}  # fmt: skip


@pytest.mark.parametrize("case", UNKNOWN)
def test_tables_that_are_not_understood_prove_nothing(made: Made, case: str) -> None:
    assert edit_tables(made, UNKNOWN[case]).verdict is Verdict.UNKNOWN


def test_tenants_that_nothing_shall_keep_apart_are_judged_and_stop_nothing(tmp_path: Path, root: Path) -> None:
    text = (root / "examples" / "two-tenants-roce.yaml").read_text().replace(", isolate]", "]")
    place = tmp_path / "open.yaml"
    place.write_text(f"{text}\nroce: {{tenancy: {{kind: none}}}}\n")
    report = run_to_proofs(place).report
    (proof,) = (proof for proof in report.proofs if proof.claim == "isolate")
    assert proof.verdict is Verdict.REFUTED
    assert not proof.required
    assert report.is_accepted
    place.write_text(f"{text.replace('balance]', 'balance, isolate]')}\nroce: {{tenancy: {{kind: none}}}}\n")
    assert not run_to_proofs(place).report.is_accepted


def test_tenants_are_kept_apart_by_default(root: Path) -> None:
    report = run_to_proofs(root / "examples" / "two-tenants-roce.yaml").report
    (proof,) = (proof for proof in report.proofs if proof.claim == "isolate")
    assert proof.verdict is Verdict.PROVED
    assert proof.required
    assert report.is_accepted


def test_the_files_that_isolation_was_proved_on_are_the_ones_that_are_rendered(root: Path) -> None:
    proved = run_to_proofs(root / "examples" / "two-tenants-roce.yaml")
    assert proved.files is not None
    rendered = render_proved(proved, None, to_disk=False)
    assert rendered.artifacts is proved.files.artifacts
    assert rendered.proved.files is None
    alone = render_proved(replace(proved, files=None), None, to_disk=False)
    assert alone.artifacts == rendered.artifacts
    told = [(proof.claim, proof.verdict, proof.statement, proof.of) for proof in rendered.proved.report.proofs]
    assert told == [(proof.claim, proof.verdict, proof.statement, proof.of) for proof in alone.proved.report.proofs]
    assert [claim for claim, *_ in told][-4:] == ["isolate", "lossless", "deadlock-in-failures", "converge"]


def test_a_file_that_was_cut_or_is_missing_proves_nothing(made: Made) -> None:
    assert made.edit("leaf-001/config_db.json", lambda text: text[: len(text) // 2]).verdict is not Verdict.PROVED
    assert made.edit("leaf-001/frr.conf", lambda text: text[: len(text) // 2]).verdict is not Verdict.PROVED
    kept = tuple(one for one in made.artifacts.artifacts if not one.path.endswith("leaf-001/frr.conf"))
    assert replace(made, artifacts=ArtifactSet("", kept)).prove().verdict is Verdict.UNKNOWN
