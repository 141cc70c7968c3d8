from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from tests.architecture import source
from tests.properties.broken import BASE
from weftline.declare import STARTERS, Declaration, load_catalog, parse_spec, resolve_spec, spec_schema, starter
from weftline.declare.tree import plain, read_tree
from weftline.model.design import ResolvedSpec

EXAMPLES = sorted((source.ROOT / "examples").glob("*.yaml"))
SCHEMA = spec_schema()


def data(text: str) -> Any:
    tree = read_tree(text, "x")
    assert tree.root is not None
    return plain(tree.root)


def is_valid(text: str) -> bool:
    return not list(jsonschema.Draft202012Validator(SCHEMA).iter_errors(data(text)))  # pyright: ignore[reportUnknownMemberType]


def test_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"].endswith("2020-12/schema")
    assert json.dumps(SCHEMA) == json.dumps(spec_schema())


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_examples_are_valid(example: Path) -> None:
    assert is_valid(example.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("count: 64", "count: many"), ("count: 64", "count: 0"), ("count: 64", "cuont: 64"), ("hosts: 33-64", "x: 1"),
        ("technology: infiniband", ""), ("technology: infiniband", "technology: ethernet"),
        ("kind: rail-optimised", "kind: tree"),
        ("utilisation: 0.4", "utilisation: 4"), ("name: broken", "name: two words"), ("tiers: 2", "tiers: 4"),
        ("technology: infiniband", "technology: roce\nparts: {switches: {X: {watts: 3}}}"),
        ("technology: infiniband", "technology: roce\nparts: {switch: {}}"),
    ],
)  # fmt: skip
def test_broken_ones_are_not(old: str, new: str) -> None:
    assert is_valid(BASE)
    assert not is_valid(BASE.replace(old, new, 1))


def test_parts_of_ones_own_are_valid() -> None:
    assert is_valid(BASE + "parts: {switches: {mine: {base: QM9700, power_w: 900}}}\n")


def test_every_key_is_described() -> None:
    def walk(shape: dict[str, Any], where: str) -> list[str]:
        return [f"{where}.{key}" for key, value in shape.get("properties", {}).items() if not describes(value)]

    def describes(value: dict[str, Any]) -> bool:
        """A section may be described where it is defined."""
        named = SCHEMA["$defs"].get(value.get("$ref", "").removeprefix("#/$defs/"), {})
        return bool(value.get("description") or named.get("description"))

    missing = walk(SCHEMA, "")
    for name, shape in SCHEMA["$defs"].items():
        missing += walk(shape, name)
    assert missing == []


@pytest.mark.parametrize("kind", STARTERS)
def test_the_starter_is_whole(kind: str) -> None:
    text = starter(kind)
    found = parse_spec(text.encode(), Path("starter.yaml"))
    assert isinstance(found, Declaration), found
    assert found.spec.topology.kind == kind
    assert isinstance(resolve_spec(found, load_catalog()), ResolvedSpec)
    assert is_valid(text)
    assert text.count("#") > 20
    if kind != STARTERS[0]:
        # words of what is commented out are read too
        dark = r"^( *)# (- \{ name: storage|routing:|  engine:|local_links:|global_links:)"
        more = re.sub(dark, r"\1\2", text, flags=re.MULTILINE)
        assert more != text or kind == "torus"
        assert is_valid(more)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_examples_resolve(example: Path) -> None:
    found = parse_spec(example.read_bytes(), example)
    assert isinstance(found, Declaration), found
    assert isinstance(resolve_spec(found, load_catalog()), ResolvedSpec)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_other_yaml_readers_read_examples_alike(example: Path) -> None:
    text = example.read_text(encoding="utf-8")
    ours, theirs = data(text), yaml.safe_load(text)

    def numbers(value: object) -> object:
        return {"70e9": 70e9, "8e9": 8e9}.get(value, value) if isinstance(value, str) else value

    assert json.dumps(ours, sort_keys=True) == json.dumps(
        json.loads(json.dumps(theirs), object_hook=lambda pairs: {key: numbers(value) for key, value in pairs.items()}),
        sort_keys=True,
    )


@pytest.mark.parametrize("name", ["sovereign-512", "two-tenants"])
def test_two_examples_differ_in_the_technology_line_only(name: str) -> None:
    one = (source.ROOT / "examples" / f"{name}.yaml").read_bytes().splitlines(keepends=True)
    other = (source.ROOT / "examples" / f"{name}-roce.yaml").read_bytes().splitlines(keepends=True)
    assert len(one) == len(other)
    different = [(left, right) for left, right in zip(one, other, strict=True) if left != right]
    assert different == [(b"technology: infiniband\n", b"technology: roce\n")]
