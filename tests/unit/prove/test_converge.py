"""What routers make of the files of a design, and files that lead to other tables."""
# ruff: noqa: E501  (one way per line)

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from tests.lab.netns.conftest import SMALL
from weftline.app.devices import observe_devices, render_devices
from weftline.app.pipeline import Routed, run_to_routes
from weftline.errors import Place
from weftline.model.artifact import ArtifactSet
from weftline.model.proof import Proof, Verdict
from weftline.prove.check import check_certificate
from weftline.prove.converge import CLAIM, check_converge, prove_converge
from weftline.prove.speakers import read_speakers

TENANTS = "tenants:\n  - {name: red, hosts: 1-2}\n  - {name: blue, hosts: 3-4}\n"
SYSTEM = "roce:\n  platform: {system: %s}\n"
FRR, NVUE, EOS = "frr.conf", "startup.yaml", "running-config"


@dataclass(frozen=True)
class Design:
    """A design with the files of its devices."""

    routed: Routed
    artifacts: ArtifactSet

    def change(self, path: str, old: str, new: str, count: int = 1) -> ArtifactSet:
        """Change text in one file."""
        artifacts = tuple(
            replace(one, content=one.content.replace(old.encode(), new.encode(), count)) if one.path == path else one
            for one in self.artifacts.artifacts
        )
        assert artifacts != self.artifacts.artifacts, (path, old)
        return ArtifactSet(self.artifacts.of, artifacts)

    def prove(self, artifacts: ArtifactSet | None = None) -> Proof:
        """Prove the claim on files."""
        built = self.routed.built
        names = built.checked.technology.design.list_vendors(built.checked.design)
        devices = observe_devices(artifacts or self.artifacts, names)
        return prove_converge(built.fabric, self.routed.routes, devices, "of", required=True)


@pytest.fixture(scope="module")
def designs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Design]:
    """Make small fabrics of each system, with tenants and without."""
    folder = tmp_path_factory.mktemp("converge")
    texts = {"sonic": SMALL, "sonic-tenants": SMALL + TENANTS}
    texts |= {
        f"{name}{kind}": SMALL + more + SYSTEM % name
        for name in ("nvue", "eos")
        for kind, more in (("", ""), ("-tenants", TENANTS))
    }
    texts["sonic-weighted"] = SMALL + "routing: {engine: weighted-ecmp}\n"
    found: dict[str, Design] = {}
    for name, text in texts.items():
        place = folder / f"{name}.yaml"
        place.write_text(text, encoding="utf-8")
        routed = run_to_routes(place)
        found[name] = Design(routed, render_devices(routed.built, routed.addresses, routed.routes).artifacts)
    return found


@pytest.mark.parametrize(
    "name", ["sonic", "sonic-tenants", "sonic-weighted", "nvue", "nvue-tenants", "eos", "eos-tenants"]
)
def test_rendered_files_lead_to_the_routes(designs: dict[str, Design], name: str) -> None:
    design = designs[name]
    proof = design.prove()
    assert (proof.verdict, proof.detail["sessions"], proof.detail["origins"]) == (Verdict.PROVED, 8, 4)
    assert "settles" in proof.statement
    fabric, routes = design.routed.built.fabric, design.routed.routes
    assert check_certificate(fabric, routes, proof)
    wider = replace(routes, group=np.where(routes.group == 0, 1, routes.group).astype(routes.group.dtype))
    assert not check_converge(fabric, wider, proof)
    assert proof.certificate is not None
    forged = replace(proof.certificate, columns={**proof.certificate.columns, "origin": np.zeros(1, dtype=np.int32)})
    assert not check_converge(fabric, routes, replace(proof, certificate=forged))
    assert not check_converge(fabric, routes, replace(proof, claim="reach"))


LEAF, SPINE = "switches/leaf-001/", "switches/spine-01/"
WRONG = [
    ("sonic", LEAF + FRR, " neighbor Ethernet16 interface remote-as 4200000004\n neighbor Ethernet16 peer-group FABRIC\n", "", "there is no neighbour on Ethernet16", "leaf-001/frr.conf"),
    ("sonic", SPINE + FRR, " neighbor Ethernet0 interface remote-as 4200000000\n neighbor Ethernet0 peer-group FABRIC\n", "", "there is no neighbour on Ethernet0", "spine-01/frr.conf"),
    ("sonic", LEAF + FRR, "maximum-paths 2", "maximum-paths 1", "leaf-001 uses 1 of 2 equal ways to 10.128.0.4/30", "leaf-001/frr.conf:"),
    ("sonic", LEAF + FRR, "  maximum-paths 2\n", "", "leaf-001 uses 1 of 2 equal ways", "leaf-001/frr.conf:"),
    ("sonic", LEAF + FRR, "remote-as 4200000004", "remote-as 4200000009", "expects 4200000009, not 4200000004", "leaf-001/frr.conf:"),
    ("sonic", LEAF + FRR, "10.128.0.0/30 le 32", "10.128.0.0/32", "leaf-001 does not tell of 10.128.0.0/31", "frr.conf:"),
    ("sonic", LEAF + FRR, "  redistribute connected route-map OWN\n", "", "does not tell of", "frr.conf:"),
    ("sonic", LEAF + FRR, "10.128.0.0/30", "10.128.0.4/30", "leaf-001 does not tell of 10.128.0.0/31", "frr.conf:"),
    ("sonic", LEAF + FRR, "aggregate-address 10.128.0.0/30", "aggregate-address 10.128.0.0/9", "leaf-001 of 10.128.0.0/9", "frr.conf:"),
    ("sonic", LEAF + FRR, "neighbor FABRIC activate", "no neighbor FABRIC activate", "carries nothing only", "leaf-001/frr.conf:"),
    ("sonic", LEAF + "config_db.json", '"admin_status": "up"', '"admin_status": "down"', "is shut", "config_db.json:"),
    ("sonic-tenants", LEAF + FRR, "  redistribute connected\n", "", "does not tell of its networks", "frr.conf:"),
    ("sonic-tenants", LEAF + FRR, "route-target import 64512:10001", "route-target import 64512:10009", "does not take 64512:10001", "frr.conf:"),
    ("sonic-tenants", SPINE + FRR, " address-family l2vpn evpn\n  neighbor FABRIC activate\n exit-address-family\n", "", "carries ipv4 only", "spine-01/frr.conf:"),
    ("sonic-tenants", LEAF + FRR, "seq 5 permit 10.0.0.1/32", "seq 5 permit 10.0.0.9/32", "does not tell of 10.0.0.1/32", "frr.conf:"),
    ("nvue", LEAF + NVUE, "ebgp: 2", "ebgp: 1", "leaf-001 uses 1 of 2 equal ways", "leaf-001/startup.yaml:"),
    ("nvue", LEAF + NVUE, "remote-as: 4200000004", "remote-as: 4200000009", "expects 4200000009", "leaf-001/startup.yaml:"),
    ("eos", LEAF + EOS, "maximum-paths 2", "maximum-paths 1", "leaf-001 uses 1 of 2 equal ways", "leaf-001/running-config:"),
    ("eos", LEAF + EOS, "remote-as 4200000004", "remote-as 4200000009", "expects 4200000009", "leaf-001/running-config:"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "path", "old", "new", "words", "where"), WRONG)
def test_files_that_lead_elsewhere_are_refuted(
    designs: dict[str, Design], name: str, path: str, old: str, new: str, words: str, where: str
) -> None:
    design = designs[name]
    proof = design.prove(design.change(path, old, new))
    assert proof.verdict is Verdict.REFUTED
    assert proof.witness is not None
    assert words in proof.witness.summary
    assert where in str(proof.witness.detail["where"])
    assert not check_converge(design.routed.built.fabric, design.routed.routes, proof)


OPEN = [
    ("neighbor FABRIC bfd\n", "neighbor FABRIC bfd\n neighbor FABRIC allowas-in\n", "takes routes with its own number"),
    ("  neighbor FABRIC activate\n", "  neighbor FABRIC activate\n  neighbor FABRIC route-map X in\n", "sifts the routes"),
    ("router bgp ", "ip route 10.128.0.4/30 10.0.0.2\nrouter bgp ", "has a static route"),
    ("router bgp ", "router ospf\n ospf router-id 1.1.1.1\nrouter bgp ", "lines that nobody here follows"),
    (" match ip address prefix-list OWN\n", " match ip address prefix-list OWN\n set metric 5\n", "routes that no file lists"),
    ("redistribute connected route-map OWN", "redistribute kernel", "routes that no file lists"),
    (" timers bgp 3 9\n", " timers bgp 3 9\n neighbor 10.1.1.1 remote-as 7\n", "is on no cable between switches"),
    ("  neighbor FABRIC activate\n", "  neighbor FABRIC activate\n  neighbor FABRIC default-originate\n", "originates a default route"),
    ("  neighbor FABRIC activate\n", "  neighbor FABRIC activate\n  import vrf red\n", "takes routes of another VRF"),
    ("router bgp 4200000000", "router bgp", "by which number leaf-001 routes"),
    ("router bgp 4200000000", "router bgp 4200000077", "by which number leaf-001 routes"),
    ("neighbor FABRIC bfd\n", "neighbor FABRIC bfd\n neighbor FABRIC shutdown\n", "lines that nobody here follows"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "words"), OPEN)
def test_what_nobody_can_follow_leaves_it_open(designs: dict[str, Design], old: str, new: str, words: str) -> None:
    design = designs["sonic"]
    proof = design.prove(design.change(LEAF + FRR, old, new))
    assert proof.verdict is Verdict.UNKNOWN
    assert words in proof.statement


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("permit 20", "deny 20"),
        (" permit 20\nexit\n", " permit 20\n match tag 7\nexit\n"),
        (" set extcommunity bandwidth", " set as-path prepend 4200000000\n set extcommunity bandwidth"),
        (" set extcommunity bandwidth", " on-match goto 30\n set extcommunity bandwidth"),
        ("route-map TELL-1 out", "route-map TELL-2 out"),
        ("route-map TELL-1 out", "route-map TELL-1 in"),
    ],
)
def test_a_map_of_weights_that_may_do_more_leaves_it_open(designs: dict[str, Design], old: str, new: str) -> None:
    design = designs["sonic-weighted"]
    text = next(one.content.decode() for one in design.artifacts.artifacts if one.path == LEAF + FRR)
    assert old in text, text
    proof = design.prove(design.change(LEAF + FRR, old, new))
    assert proof.verdict is Verdict.UNKNOWN
    assert "sifts the routes of" in proof.statement


def test_a_switch_without_files_leaves_it_open(designs: dict[str, Design]) -> None:
    design = designs["sonic"]
    kept = tuple(one for one in design.artifacts.artifacts if one.device != "spine-02")
    assert design.prove(ArtifactSet("", kept)).verdict is Verdict.UNKNOWN


def test_places_are_those_of_the_lines(designs: dict[str, Design]) -> None:
    design = designs["sonic"]
    proof = design.prove(design.change(LEAF + FRR, "maximum-paths 2", "maximum-paths 1"))
    (frr,) = [one for one in design.artifacts.artifacts if one.path == LEAF + FRR]
    line = next(n for n, text in enumerate(frr.content.decode().split("\n"), 1) if "maximum-paths" in text)
    assert proof.witness is not None
    assert proof.witness.detail["where"] == str(Place(LEAF + FRR, line, 3))
    assert proof.claim == CLAIM


def test_lists_of_prefixes_are_followed(designs: dict[str, Design]) -> None:
    """What a list denies, what another permits, and lengths."""
    design = designs["sonic"]
    names = ("sonic", "frr")
    cases = {
        "10.128.0.0/30 le 31": {"10.0.0.1/32", "10.128.0.0/31", "10.128.0.2/31", "10.128.0.0/30"},
        "10.128.0.0/30 ge 31": {"10.0.0.1/32", "10.128.0.0/31", "10.128.0.2/31", "10.128.0.0/30"},
        "10.128.0.0/30 le 30": {"10.0.0.1/32"},
        "10.128.0.0/30 ge 32": {"10.0.0.1/32"},
        "10.128.0.2/31": {"10.0.0.1/32", "10.128.0.2/31", "10.128.0.0/30"},
    }
    for text, wanted in cases.items():
        changed = design.change(LEAF + FRR, "permit 10.128.0.0/30 le 32", f"permit {text}")
        speakers = read_speakers(design.routed.built.fabric, observe_devices(changed, names))
        leaf = next(one for one in speakers.by_row if one is not None and one.device.name == "leaf-001")
        sizes = {
            f"10.{one.prefix[1] >> 16 & 255}.0.{one.prefix[1] & 255}/{32 - (one.prefix[2] - one.prefix[1]).bit_length()}"
            for one in leaf.told
        }
        assert sizes == wanted, text


def test_the_example_of_the_lab_is_proved() -> None:
    routed = run_to_routes(Path(__file__).parents[3] / "examples" / "roce-lab.yaml")
    files = render_devices(routed.built, routed.addresses, routed.routes)
    proof = prove_converge(routed.built.fabric, routed.routes, files.observed, "of", required=False)
    assert (proof.verdict, proof.detail["sessions"]) == (Verdict.PROVED, 32)
