from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from weftline.declare.places import Places
from weftline.declare.tree import MAX_DEPTH, MAX_NODES, MAX_NOTED, plain, read_tree, show_path


def codes(text: str) -> list[str]:
    return [problem.code for problem in read_tree(text, "x.yaml").problems]


def value(text: str) -> object:
    tree = read_tree(text, "x.yaml")
    assert tree.problems == []
    assert tree.root is not None
    return plain(tree.root)


def test_reads_maps_lists_and_scalars() -> None:
    assert value("a: 1\nb: [x, 'no', no, \"1\"]\nc: {d: ~}\n") == {
        "a": 1,
        "b": ["x", "no", "no", "1"],
        "c": {"d": None},
    }


def test_keys_are_text_as_written() -> None:
    assert value("1: a\ntrue: b\n012: c\n") == {"1": "a", "true": "b", "012": "c"}


def test_aliases_stand_for_their_values() -> None:
    assert value("a: &x {k: 1}\nb: *x\nc: [*x, *x]\n") == {"a": {"k": 1}, "b": {"k": 1}, "c": [{"k": 1}, {"k": 1}]}


def test_an_anchor_may_be_named_anew() -> None:
    assert value("a: &x 1\nb: *x\nc: &x 2\nd: *x\n") == {"a": 1, "b": 1, "c": 2, "d": 2}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a: 1\na: 2\n", "spec.duplicate-key"),
        ("a: !!int 1\n", "spec.tag"),
        ("a: !mine {b: 1}\n", "spec.tag"),
        ("a: &x {}\nb: {<<: *x}\n", "spec.merge-key"),
        ("? [1]\n: 2\n", "spec.complex-key"),
        ("? {a: 1}\n: 2\n", "spec.complex-key"),
        ("a: &x k\n*x : 2\n", "spec.complex-key"),
        ("a: *x\n", "spec.unknown-alias"),
        ("a: &x [*x]\n", "spec.alias-cycle"),
        ("a: 1\n---\nb: 1\n", "spec.several-documents"),
        ("a: 1e999\n", "spec.number"),
        ("a: [1\n", "spec.syntax"),
        ('a: "\\ud800"\n', "spec.syntax"),
        ("\ta: 1\n", "spec.syntax"),
        ("[" * (MAX_DEPTH + 2), "spec.too-deep"),
        ("[" * 100_000, "spec.too-deep"),
        ("[" + "1," * (MAX_NODES + 2) + "]", "spec.too-many-values"),
    ],
)  # fmt: skip
def test_refuses(text: str, code: str) -> None:
    assert codes(text) == [code]


def test_a_quoted_merge_sign_is_a_key() -> None:
    assert value("'<<': 1\n") == {"<<": 1}


def test_a_deep_alias_counts_where_it_stands() -> None:
    half = MAX_DEPTH // 2 + 1
    text = "a: &x " + "[" * half + "]" * half + "\nb: " + "[" * half + "*x" + "]" * half + "\n"
    assert codes(text) == ["spec.too-deep"]


def test_depth_up_to_the_bound_is_read() -> None:
    depth = MAX_DEPTH - 1
    assert codes("[" * depth + "]" * depth) == []


def test_many_problems_stop_the_reading() -> None:
    assert len(codes("".join(f"k{n}: !!int 1\n" for n in range(3 * MAX_NOTED)))) == MAX_NOTED


def test_places_count_from_one() -> None:
    tree = read_tree("a:\n  - b: 1\n    c: {d: 2}\n", "x.yaml")
    places = Places("x.yaml", tree.root)
    assert str(places.value("a", 0, "c", "d")) == "x.yaml:3:12"
    assert str(places.key("a", 0, "c")) == "x.yaml:3:5"
    assert str(places.key("a", 0)) == "x.yaml:2:5"
    assert places.value("a", 0, "c", "d").path == "a[0].c.d"
    assert places.has("a", 0, "b")
    assert not places.has("a", 1)


def test_what_is_not_written_down_stands_at_its_parent() -> None:
    places = Places("x.yaml", read_tree("a:\n  b: 1\n", "x.yaml").root)
    assert str(places.value("a", "c", "d")) == "x.yaml:2:3"
    assert str(places.value("z")) == "x.yaml:1:1"
    assert places.all()["a.b"].line == 2
    assert places.all()[""].line == 1


def test_places_of_nothing() -> None:
    places = Places("x.yaml", None)
    assert str(places.value("a")) == "x.yaml"
    assert places.all() == {}


def test_paths_are_cut() -> None:
    assert show_path(("a", 0, "b")) == "a[0].b"
    assert len(show_path(("k",) * 500)) <= 160


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text("abc xyz:#-'\"\n", max_size=12),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text("abcdef", min_size=1, max_size=4), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(PLAIN)
def test_reads_what_yaml_writes(data: object) -> None:
    assert value(yaml.safe_dump(data, explicit_start=True)) == data
