from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.auditor.bundles import Files, audit, read_files, sign, write_files
from tests.auditor.tamperings import FIXED, IB, RING, ROCE, Tampering, make_random
from tests.auditor.test_good import copy_examples
from weftline.app.certify import certify

RANDOM = 60


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Files]:
    """Make the good bundles that are tampered with; device files of switches are short here, as nobody reads them."""
    folder = tmp_path_factory.mktemp("tampered")
    places = copy_examples(folder)
    found: dict[str, Files] = {}
    for name in (IB, ROCE, RING):
        certify(places / f"{name}.yaml", folder / name)
        files = read_files(folder / name)
        found[name] = {path: content for path, content in files.items() if not path.startswith("switches/")}
    return found


def test_untouched_bundles_hold(bundles: dict[str, Files], tmp_path: Path) -> None:
    for name, files in bundles.items():
        found = audit(write_files(tmp_path / name, files))
        assert found.status == 0, found.words


def reject(tampering: Tampering, files: Files, folder: Path) -> None:
    """Tamper, sign again, and expect a refusal for the right reason."""
    changed = tampering.change(files)
    assert changed != files, tampering.name
    found = audit(write_files(folder, changed))
    assert (found.status, found.verdict["verdict"], found.stderr) == (2, "rejected", ""), (tampering.name, found.words)
    assert tampering.reason in found.words, (tampering.name, found.words)


@pytest.mark.parametrize("tampering", FIXED, ids=lambda one: one.name.replace(" ", "-"))
def test_signed_tamperings_are_rejected_with_the_reason(
    bundles: dict[str, Files], tmp_path: Path, tampering: Tampering
) -> None:
    reject(tampering, bundles[tampering.base], tmp_path / "bundle")


def test_random_tamperings_are_rejected(bundles: dict[str, Files], tmp_path: Path) -> None:
    """Any rank, any distance, any owner and any entry of a leaf, changed to anything wrong."""
    for at, tampering in enumerate(make_random(bundles[IB], RANDOM, seed=7)):
        reject(tampering, bundles[IB], tmp_path / str(at))


def test_there_are_over_a_hundred() -> None:
    assert len(FIXED) + RANDOM >= 100
    assert len({(one.base, one.name) for one in FIXED}) == len(FIXED)


def test_unsigned_changes_of_every_file_are_rejected(bundles: dict[str, Files], tmp_path: Path) -> None:
    files = bundles[IB]
    for at, path in enumerate(files):
        for kind, content in (
            ("flipped", files[path][:-1] + bytes([files[path][-1] ^ 1])),
            ("longer", files[path] + b"\n"),
            ("shorter", files[path][:-1]),
            ("empty", b""),
        ):
            folder = write_files(tmp_path / f"{at}-{kind}", {**files, path: content}, sign(files))
            found = audit(folder)
            assert found.status == 2, (path, kind)
            assert path in found.words


def edit_manifest(files: Files, old: bytes, new: bytes) -> bytes:
    manifest = sign(files)
    assert old in manifest
    return manifest.replace(old, new, 1)


def test_manifests_that_lie_are_rejected(bundles: dict[str, Files], tmp_path: Path) -> None:
    files = bundles[IB]
    first = sign(files).split(b'"digest": "')[1][:64]
    entry = sign(files).split(b'"files": [')[1].split(b"}, ")[0] + b"}, "
    cases = {
        "digest": (edit_manifest(files, first, b"0" * 64), 2, "size or digest"),
        "entry removed": (edit_manifest(files, entry, b""), 2, "missing or in no manifest"),
        "entry twice": (edit_manifest(files, entry, entry * 2), 1, "said twice"),
        "leaves": (edit_manifest(files, b'"path": "links.txt"', b'"path": "../links.txt"'), 1, "outside the bundle"),
        "absolute": (edit_manifest(files, b'"path": "links.txt"', b'"path": "/etc/passwd"'), 1, "outside the bundle"),
        "hidden": (edit_manifest(files, b'"path": "links.txt"', b'"path": ".links"'), 1, "outside the bundle"),
        "inside out": (edit_manifest(files, b'"path": "links.txt"', b'"path": "a/../../b"'), 1, "outside the bundle"),
        "huge": (edit_manifest(files, b'"size": ', b'"size": 1000000000000'), 1, "more than any bundle has"),
        "negative": (edit_manifest(files, b'"size": ', b'"size": -'), 1, "more than any bundle has"),
        "no number": (edit_manifest(files, b'"size": ', b'"size": null, "x": '), 1, "not understood"),
        "no JSON": (b"{", 1, "not understood"),
        "no object": (b"[]", 1, "not understood"),
        "deep": (b"[" * 200_000, 1, "not understood"),
        "empty": (b"", 1, "not understood"),
        "other": (edit_manifest(files, b"manifest/1", b"manifest/9"), 1, "no manifest of a bundle"),
        "binary": (bytes(range(256)), 1, "not understood"),
    }
    for at, (name, (manifest, status, reason)) in enumerate(cases.items()):
        found = audit(write_files(tmp_path / str(at), files, manifest))
        assert (found.status, found.stderr) == (status, ""), (name, found.words)
        assert reason in found.words, (name, found.words)


def test_links_and_odd_files_are_rejected(bundles: dict[str, Files], tmp_path: Path) -> None:
    files = bundles[RING]

    def fresh(name: str) -> Path:
        return write_files(tmp_path / name, files)

    extra = fresh("extra")
    (extra / "notes.txt").write_text("x")
    linked = fresh("linked")
    (tmp_path / "links.txt").write_bytes(files["links.txt"])
    (linked / "links.txt").unlink()
    (linked / "links.txt").symlink_to(tmp_path / "links.txt")
    folder = fresh("folder")
    (folder / "subnet-1").rename(tmp_path / "elsewhere")
    (folder / "subnet-1").symlink_to(tmp_path / "elsewhere")
    pipe = fresh("pipe")
    (pipe / "links.txt").unlink()
    os.mkfifo(pipe / "links.txt")
    missing = fresh("missing")
    (missing / "links.txt").unlink()
    sparse = fresh("sparse")
    with (sparse / "links.txt").open("r+b") as file:
        file.truncate(1 << 40)
    for place, reason in (
        (extra, "notes.txt"),
        (linked, "links.txt"),
        (folder, "holds a link"),
        (pipe, "links.txt"),
        (missing, "missing or in no manifest: links.txt"),
        (sparse, "another size or digest"),
    ):
        found = audit(place)
        assert (found.status, found.stderr) == (2, ""), (place.name, found.words)
        assert reason in found.words, (place.name, found.words)
    manifest = fresh("manifest")
    (manifest / "manifest.json").rename(tmp_path / "manifest.json")
    (manifest / "manifest.json").symlink_to(tmp_path / "manifest.json")
    assert audit(manifest).status == 1


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_no_edit_makes_it_fall_over(bundles: dict[str, Files], tmp_path: Path, data: st.DataObject) -> None:
    """Whatever bytes stand in a signed file, there is a verdict and no traceback."""
    files = bundles[data.draw(st.sampled_from((IB, ROCE, RING)))]
    path = data.draw(st.sampled_from(sorted(files)))
    content = files[path]
    start = data.draw(st.integers(0, len(content)))
    end = data.draw(st.integers(start, min(len(content), start + 40)))
    new = data.draw(st.one_of(st.binary(max_size=12), st.sampled_from([b"\n", b"\t", b" ", b"\xff", b"9" * 5000])))
    folder = tmp_path / f"{path.replace('/', '-')}-{start}-{end}-{new.hex()[:40]}"
    found = audit(write_files(folder, {**files, path: content[:start] + new + content[end:]}))
    assert found.status in {0, 2}, found.words
    assert found.stderr == ""
