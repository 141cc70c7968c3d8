"""Copies that share pages are copies, and digests per row are those of hashlib."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fabrics import make_fabric
from weftline.kernels import sheet
from weftline.kernels.column import digest_rows, renew_digests
from weftline.kernels.sheet import share
from weftline.model.routes import vary_rows
from weftline.route import compute_routes

writes = st.lists(st.tuples(st.integers(0, 39), st.integers(0, 999), st.integers(0, 255)), max_size=30)


@pytest.fixture(params=[0, sheet.LEAST_BYTES], ids=["pages", "plain"])
def least(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Share pages of small tables too, or of none."""
    monkeypatch.setattr(sheet, "LEAST_BYTES", request.param)
    return int(request.param)


@pytest.mark.usefixtures("least")
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(writes, writes)
def test_what_is_written_to_one_copy_is_seen_in_no_other(
    first: list[tuple[int, int, int]], then: list[tuple[int, int, int]]
) -> None:
    table = (np.arange(40 * 1000) % 251).reshape(40, 1000).astype(np.uint8)
    kept = table.copy()
    shared = share(table)
    copies = [shared.fork(), shared.fork()]
    wanted = [kept.copy(), kept.copy()]
    for copy, want, entries in zip(copies, wanted, (first, then), strict=True):
        for row, column, value in entries:
            copy[row, column] = want[row, column] = value
    for copy, want in zip(copies, wanted, strict=True):
        assert copy.dtype == np.uint8
        assert np.array_equal(copy, want)
    assert np.array_equal(shared.table, kept)
    assert np.array_equal(shared.fork(), kept)


def test_the_shared_table_becomes_read_only(least: int) -> None:
    table = np.zeros((3, 5), dtype=np.uint8)
    shared = share(table)
    with pytest.raises(ValueError, match="read-only"):
        table[0, 0] = 1
    shared.fork()[0, 0] = 1
    assert shared.file is None or least == 0


def count_open() -> int:
    """Count the files that this process holds open; 0 where the system does not say."""
    listed = Path("/proc/self/fd")
    return len(list(listed.iterdir())) if listed.exists() else 0


def test_a_copy_outlives_its_sheet_and_no_file_stays_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sheet, "LEAST_BYTES", 0)
    before = count_open()
    shared = share(np.arange(10_000, dtype=np.uint16).reshape(100, 100))
    copy = shared.fork()
    del shared
    copy[99, 99] = 7
    assert copy[0, 99] == 99
    assert copy[99, 99] == 7
    del copy
    assert count_open() == before


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 600), st.integers(0, 40), st.integers(0, 2**32), st.sets(st.integers(0, 599), max_size=5))
def test_digests_of_rows_are_those_of_hashlib(rows: int, columns: int, seed: int, changed: set[int]) -> None:
    table = np.random.default_rng(seed).integers(0, 2**16, (rows, columns), dtype=np.uint16)
    digests = digest_rows(table)
    assert [bytes(one) for one in digests] == [hashlib.sha256(row.tobytes()).digest() for row in table]
    picked = np.array(sorted(at for at in changed if at < rows), dtype=np.int32)
    table[picked] += 1
    assert np.array_equal(renew_digests(digests, table, picked), digest_rows(table))


def test_routes_that_vary_in_some_rows_have_the_digest_that_they_have_from_scratch() -> None:
    fabric = make_fabric("fat-tree", hosts=128, ports=8, tiers=3)
    routes = compute_routes(fabric, "fat-tree", to_switches=False)
    for is_digested in (False, True):
        if is_digested:
            assert routes.digest
        table = routes.group.copy()
        table[[2, 5], 7] ^= 1
        varied = vary_rows(
            routes, table, np.array([2, 5], dtype=np.int32), fabric_digest=fabric.digest, guarantee="Other."
        )
        assert ("row_digests" in varied.__dict__) == is_digested
        assert varied.digest == replace(routes, group=table).digest
        assert varied.digest != routes.digest
