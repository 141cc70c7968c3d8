from __future__ import annotations

import dataclasses
from typing import Any, cast

import numpy as np
import pytest

from tests.fabrics import make_fabric
from weftline.kernels.column import F64, NIL, digest_parts
from weftline.model.artifact import Artifact
from weftline.model.fabric import Fabric, NodeKind
from weftline.model.routes import local_delivery, no_route
from weftline.route import compute_routes


@pytest.fixture(scope="module")
def fabric() -> Fabric:
    """A small fat tree."""
    return make_fabric()


def test_columns_cannot_be_written(fabric: Fabric) -> None:
    values: list[Any] = [getattr(fabric, field.name) for field in dataclasses.fields(fabric)]
    columns: list[Any] = [value for value in values if hasattr(value, "flags")]
    assert len(columns) > 10
    assert not any(column.flags.writeable for column in columns)
    assert not fabric.endpoint_port.flags.writeable
    assert not fabric.switch_row.flags.writeable


def test_a_noun_cannot_be_changed(fabric: Fabric) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        fabric.name = "other"  # pyright: ignore[reportAttributeAccessIssue]


def test_peers_are_mutual(fabric: Fabric) -> None:
    lit = np.flatnonzero(fabric.port_peer != NIL)
    assert len(lit)
    assert np.array_equal(fabric.port_peer[fabric.port_peer[lit]], lit)


def test_equal_fabrics_have_one_digest(fabric: Fabric) -> None:
    assert make_fabric().digest == fabric.digest


def change_value(value: Any) -> Any:
    """Change one value a little; None where there is nothing to change."""
    if isinstance(value, tuple):
        return ("changed", *cast("tuple[str, ...]", value)[1:])
    if isinstance(value, str):
        return value + "x"
    if isinstance(value, int):
        return value + 1
    column = cast("F64", value).copy()
    if len(column) == 0:
        return None
    column[0] = column[0] + 1 if np.isfinite(column[0]) else 1
    return column


def test_every_field_is_in_the_digest(fabric: Fabric) -> None:
    for field in dataclasses.fields(fabric):
        value = getattr(fabric, field.name)
        changed = np.zeros((fabric.node_count, 2), dtype=np.int32) if value is None else change_value(value)
        if changed is None:
            continue
        assert dataclasses.replace(fabric, **{field.name: changed}).digest != fabric.digest, field.name


def test_names_follow_the_grammar(fabric: Fabric) -> None:
    first = int(fabric.endpoint_port[0])
    assert fabric.port_name(first).startswith("host-")
    assert "/nic1" in fabric.port_name(first)
    assert fabric.link_name(first) == f"{fabric.port_name(first)}~{fabric.port_name(int(fabric.port_peer[first]))}"


def test_switch_rows_count_switches_only(fabric: Fabric) -> None:
    hosts = np.flatnonzero(fabric.node_kind != NodeKind.SWITCH)
    assert np.all(fabric.switch_row[hosts] == NIL)
    assert np.array_equal(fabric.switch_row[fabric.switch_node], np.arange(len(fabric.switch_node)))


def test_routes_say_of_what_they_are(fabric: Fabric) -> None:
    routes = compute_routes(fabric, "updown", to_switches=False)
    assert routes.fabric_digest == fabric.digest
    other = dataclasses.replace(routes, fabric_digest="other")
    assert other.digest != routes.digest
    assert routes.entries == np.count_nonzero(routes.group != no_route(routes.group))
    assert local_delivery(routes.group) == no_route(routes.group) - 1


def test_an_artifact_is_known_by_its_bytes() -> None:
    one, two = (Artifact("a.conf", content, "leaf-001", "x") for content in (b"one", b"two"))
    assert one.digest != two.digest
    assert one.digest == Artifact("b.conf", b"one", "leaf-002", "y").digest


def test_a_digest_tells_types_and_lengths_apart() -> None:
    parts = [
        ("ab", "c"),
        ("a", "bc"),
        (b"ab", "c"),
        (("a", "b"), "c"),
        (np.array([1], dtype=np.int32),),
        (np.array([1], dtype=np.int64),),
        (np.array([[1]], dtype=np.int32),),
    ]
    assert len({digest_parts(part) for part in parts}) == len(parts)
