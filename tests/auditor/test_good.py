from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.auditor.bundles import ROOT, Audited, audit, edit, make_bundle, read_files, write_files
from weftline.app.certify import _list_files, certify
from weftline.app.pipeline import run_to_proofs
from weftline.app.render import render
from weftline.cli.main import call
from weftline.errors import ArtifactError, CapabilityError
from weftline.formats import certificates
from weftline.model.artifact import ArtifactSet
from weftline.model.isolation import Owners
from weftline.model.lanes import Lanes, LaneSteps
from weftline.prove.certify import certify_tables, derive_tables
from weftline.prove.check import check_certificate

EXAMPLES = ROOT / "examples"
GOOD = ("two-tenants", "two-tenants-roce", "ring-of-five", "rail-only", "small-fat-tree", "hall-2", "lab-8")


def copy_examples(folder: Path) -> Path:
    """Copy the examples, so that no workspace appears beside them."""
    return Path(shutil.copytree(EXAMPLES, folder / "examples", ignore=shutil.ignore_patterns(".weftline")))


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_examples(tmp_path_factory.mktemp("examples"))


@pytest.mark.parametrize("name", GOOD)
def test_bundles_of_examples_hold(examples: Path, tmp_path: Path, name: str) -> None:
    certified = certify(examples / f"{name}.yaml", tmp_path / "bundle")
    found = audit(tmp_path / "bundle")
    assert (found.status, found.verdict["verdict"], found.stderr) == (0, "holds", ""), found.words
    assert found.verdict["files"] == certified.files
    is_judged = "isolate" in {proof.claim for proof in certified.report.proofs}
    assert found.verdict["claims"]["isolate"].startswith("holds" if is_judged else "not claimed")


def test_auditor_and_weftline_agree_in_words(examples: Path, tmp_path: Path) -> None:
    """The counts come from the proofs on one side and from the tables on the other."""
    certify(examples / "rail-only.yaml", tmp_path / "bundle")
    said = json.loads((tmp_path / "bundle" / "claims.json").read_bytes())["claims"]
    claims = audit(tmp_path / "bundle").verdict["claims"]
    assert {one["claim"]: f"holds: {one['statement']}" for one in said} == {
        claim: words for claim, words in claims.items() if not words.startswith("not claimed")
    }
    assert "130048 ordered pairs" in claims["reach"]
    assert "none of 917504 pairs of different networks is delivered" in claims["reach"]


def test_what_the_bundle_shows_is_what_check_shows(examples: Path, tmp_path: Path) -> None:
    for name in ("ring-of-five", "two-tenants"):
        proved = run_to_proofs(examples / f"{name}.yaml")
        fabric, routes = proved.routed.built.fabric, proved.routed.routes
        proofs = {proof.claim: proof for proof in proved.report.proofs}
        certify(examples / f"{name}.yaml", tmp_path / name)
        claims = audit(tmp_path / name).verdict["claims"]
        for claim in ("reach", "deadlock"):
            assert check_certificate(fabric, routes, proofs[claim]) is claims[claim].startswith("holds")


def test_same_input_same_bytes(examples: Path, tmp_path: Path) -> None:
    certify(examples / "two-tenants.yaml", tmp_path / "a")
    certify(examples / "two-tenants.yaml", tmp_path / "b")
    assert read_files(tmp_path / "a") == read_files(tmp_path / "b")
    assert (tmp_path / "a" / "manifest.json").read_bytes() == (tmp_path / "b" / "manifest.json").read_bytes()


def test_bundle_holds_the_very_files_that_are_rendered(examples: Path, tmp_path: Path) -> None:
    place = examples / "two-tenants.yaml"
    render(place, tmp_path)
    certify(place, tmp_path / "bundle")
    files = read_files(tmp_path / "bundle")
    rendered = {path: content for path, content in files.items() if path.startswith("opensm/")}
    assert "opensm/subnet-1/lfts.conf" in rendered
    assert all((tmp_path / "artifacts" / path).read_bytes() == content for path, content in rendered.items())
    assert audit(tmp_path / "bundle", "--deployed", str(tmp_path / "artifacts")).status == 0
    table = tmp_path / "artifacts" / "opensm" / "subnet-1" / "lfts.conf"
    table.write_bytes(table.read_bytes().replace(b"0x0002 009", b"0x0002 010", 1))
    found = audit(tmp_path / "bundle", "--deployed", str(tmp_path / "artifacts"))
    assert (found.status, found.verdict["verdict"]) == (2, "rejected")


def test_expected_digest_is_compared(examples: Path, tmp_path: Path) -> None:
    certify(examples / "ring-of-five.yaml", tmp_path / "bundle")
    digest = hashlib.sha256((tmp_path / "bundle" / "manifest.json").read_bytes()).hexdigest()
    assert audit(tmp_path / "bundle").verdict["manifest_sha256"] == digest
    assert audit(tmp_path / "bundle", "--expect", digest).status == 0
    found = audit(tmp_path / "bundle", "--expect", "0" * 64)
    assert found.status == 2
    assert "another digest than the one expected" in found.words


def test_command_writes_and_says_where(
    examples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place, folder = str(examples / "ring-of-five.yaml"), tmp_path / "bundle"
    assert call(["prove", place, "--certificates", str(folder), "--quiet"]) == 0
    assert "bytes of certificates in" in capsys.readouterr().out
    assert call(["prove", place, "--certificates", str(folder), "--quiet", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["certificates"]["folder"] == str(folder)
    assert (said["schema"], said["certificates"]["unproved"]) == ("weftline/proof-report/1", [])
    assert audit(folder).status == 0


def test_up_writes_the_same_bundle_where_it_is_asked_to(
    examples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place, folder = str(examples / "ring-of-five.yaml"), tmp_path / "bundle"
    out = ("--out", str(tmp_path / "out"), "--quiet")
    assert call(["up", place, "--certificates", str(folder), *out]) == 0
    assert f"files of certificates in {folder}" in capsys.readouterr().out.replace("\n", "")
    assert audit(folder).status == 0
    certify(examples / "ring-of-five.yaml", tmp_path / "again")
    assert read_files(folder) == read_files(tmp_path / "again")
    assert call(["up", place, "--certificates", str(folder), *out, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["certificates"]["folder"], said["certificates"]["unproved"]) == (str(folder), [])


def test_up_says_why_there_is_no_bundle(
    examples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = examples / "few-hops.yaml"
    text = (examples / "ring-of-five.yaml").read_text().replace("deadlock]", "deadlock]\n  max_hops: 1")
    other.write_text(text)
    folder = tmp_path / "bundle"
    assert call(["up", str(other), "--certificates", str(folder), "--out", str(tmp_path / "out"), "--quiet"]) == 2
    assert "bundle   none: not proved: reach" in capsys.readouterr().out
    assert not folder.exists()


def test_nothing_is_written_of_what_is_not_proved(
    examples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = examples / "ring-of-five.yaml"
    other = examples / "one-lane.yaml"
    text = place.read_text().replace("engine: layered", "engine: updown")
    other.write_text(text.replace("deadlock]", "deadlock]\n  max_hops: 2"))
    folder = tmp_path / "bundle"
    assert call(["prove", str(other), "--certificates", str(folder), "--quiet"]) == 2
    assert "no certificates were written: not proved: reach" in capsys.readouterr().out
    assert not folder.exists()


def test_lanes_that_change_are_refused(examples: Path) -> None:
    proved = run_to_proofs(examples / "ring-of-five.yaml")
    fabric, routes = proved.routed.built.fabric, proved.routed.routes
    classes = np.zeros((1, len(routes.destination_node)), dtype=np.int8)
    steps = LaneSteps(classes, np.zeros(fabric.port_count, dtype=np.int8), np.zeros((1, 1, 1), dtype=np.int8))
    stepped = replace(routes, lanes=Lanes(1, classes[0].copy(), with_answers=False, steps=steps))
    proofs = {proof.claim: proof for proof in proved.report.proofs}
    with pytest.raises(CapabilityError) as error:
        certify_tables(fabric, stepped, (proofs["reach"], proofs["deadlock"]), "fabric", None, lambda _: ())
    assert error.value.code == "capability.certificate-lanes"


def test_owner_of_nobody_has_a_word() -> None:
    assert certificates.write_endpoints([("a/1", "0", "")]) == b"weftline-endpoints 1\na/1\t0\t/nobody\n"


def test_no_folder_is_no_verdict(tmp_path: Path) -> None:
    found: Audited = audit(tmp_path / "missing")
    assert (found.status, found.verdict["verdict"]) == (1, "unreadable")


def test_more_groups_than_codes_are_refused(examples: Path) -> None:
    proved = run_to_proofs(examples / "ring-of-five.yaml")
    fabric, routes = proved.routed.built.fabric, proved.routed.routes
    many = 255
    widened = replace(
        routes,
        group=np.where(routes.group >= 254, routes.group.astype(np.uint16) + 65280, routes.group).astype(np.uint16),
        group_ptr=np.append(routes.group_ptr[:-1], routes.group_ptr[-1] + many).astype(np.int32),
        member_ptr=np.append(routes.member_ptr, np.full(many, routes.member_ptr[-1])).astype(np.int32),
    )
    with pytest.raises(CapabilityError) as error:
        derive_tables(fabric, widened)
    assert error.value.code == "capability.certificate-groups"


def test_names_that_are_no_word_are_refused(examples: Path) -> None:
    proved = run_to_proofs(examples / "ring-of-five.yaml")
    built = proved.routed.built
    named = replace(built.fabric, node_name=("two words", *built.fabric.node_name[1:]))
    routed = replace(proved.routed, built=replace(built, fabric=named))
    with pytest.raises(ArtifactError) as error:
        list(_list_files(routed, Owners({}, (), ""), {}, ArtifactSet("", ())))
    assert error.value.code == "artifact.certificate-name"


SHARED = """fabric:
  name: shared
technology: {technology}
hosts:
  count: 8
  gpus: 2
  rails: 2
  rate_gbps: 400
  extra_endpoints:
    - name: st
      ports: 2
    - name: ufm
      ports: 1
topology:
  kind: rail-optimised
  tiers: 2
tenants:
  - name: red
    hosts: 1-4
  - name: blue
    hosts: 5-8
shared:
  - name: storage
    endpoints: [st]
claims:
  required: [reach, deadlock, isolate]
"""


@pytest.mark.parametrize("technology", ["infiniband", "roce"])
def test_shared_storage_meets_tenants_that_do_not_meet(tmp_path: Path, technology: str) -> None:
    make_bundle(tmp_path, SHARED.format(technology=technology))
    found = audit(tmp_path / "bundle")
    assert found.status == 0, found.words
    assert "shared where that is declared: service storage" in found.words
    files = read_files(tmp_path / "bundle")
    alone = edit(files, "sharing.txt", "service storage\t*", "service storage\tblue")
    refused = audit(write_files(tmp_path / "alone", alone))
    assert refused.status == 2
    assert "(service storage)" in refused.words


def test_several_addresses_of_an_endpoint_are_counted(tmp_path: Path) -> None:
    text = SHARED.format(technology="infiniband").split("tenants:")[0]
    make_bundle(tmp_path, text + "routing:\n  engine: updown\n  lmc: 1\n")
    found = audit(tmp_path / "bundle")
    assert found.status == 0, found.words
    assert f"Each of {19 * 18 * 2} ordered pairs of an endpoint and an address of another" in found.words


def test_lanes_of_a_graph_without_tiers_hold(examples: Path, tmp_path: Path) -> None:
    certify(examples / "slim-fly-50.yaml", tmp_path / "bundle")
    found = audit(tmp_path / "bundle")
    assert found.status == 0, found.words
    assert "lanes; packets are on that of their destination" in found.words


@pytest.mark.parametrize("rank", range(4))
def test_a_real_circle_has_no_ranks(examples: Path, tmp_path: Path, rank: int) -> None:
    """Shortest ways around a ring wait in a circle on one lane; whatever ranks somebody writes, one does not grow."""
    certify(examples / "ring-of-five.yaml", tmp_path / "bundle")
    files = edit(read_files(tmp_path / "bundle"), "claims.json", '"lanes": 2', '"lanes": 1')
    head, *lines = files["subnet-1/ranks.txt"].decode().splitlines()
    ranks = [f"{line.split(' ')[0]} {(at * rank) % 5}" for at, line in enumerate(lines)]
    forged = {**files, "subnet-1/ranks.txt": "\n".join([head, *ranks, ""]).encode()}
    found = audit(write_files(tmp_path / "forged", forged))
    assert found.status == 2
    assert found.verdict["claims"]["deadlock"].startswith("rejected: deadlock: ")
