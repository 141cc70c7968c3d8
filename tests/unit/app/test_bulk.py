"""The collector rests during bulk steps, and works again after them."""

from __future__ import annotations

import gc

import pytest

from weftline.app.bulk import without_collector


def test_the_collector_rests_and_comes_back() -> None:
    assert gc.isenabled()
    with without_collector():
        assert not gc.isenabled()
        with without_collector():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_it_comes_back_after_an_error_and_stays_off_where_it_was_off() -> None:
    @without_collector()
    def fail() -> None:
        assert not gc.isenabled()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert gc.isenabled()
    gc.disable()
    try:
        with without_collector():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
