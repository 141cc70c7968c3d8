"""The collector rests during bulk steps, and works again after them; work that is done beside comes to the same."""

from __future__ import annotations

import gc
import os
import signal
import time
from pathlib import Path

import pytest

from weftline.app.bulk import beside, without_collector

TWO = {0, 1}
OTHERS: set[int] = set()


def have(processors: set[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Run with these processors."""

    def list_allowed(_process: int) -> set[int]:
        return processors

    monkeypatch.setattr(os, "sched_getaffinity", list_allowed)


@pytest.fixture
def two(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two processors, whatever this machine has."""
    have(TWO, monkeypatch)


def list_children() -> set[int]:
    """List our processes, dead ones that nobody waited for too."""
    return {int(pid) for path in Path("/proc/self/task").glob("*/children") for pid in path.read_text().split()}


@pytest.fixture(autouse=True)
def others() -> None:
    """What other tests left is not ours."""
    OTHERS.clear()
    OTHERS.update(list_children())


def has_no_copy() -> bool:
    """Whether no process of these tests is left, dead or alive."""
    return list_children() <= OTHERS


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


@pytest.mark.usefixtures("two")
def test_work_beside_is_done_by_a_copy_and_its_result_comes_back() -> None:
    with beside(lambda: (os.getpid(), "x" * 1_000_000), if_worth=True) as result:
        process, text = result()
    assert process != os.getpid()
    assert len(text) == 1_000_000
    assert has_no_copy()


@pytest.mark.parametrize(("processors", "if_worth"), [({0}, True), (TWO, False)])
def test_without_a_second_processor_or_a_reason_it_is_done_here(
    processors: set[int], if_worth: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    have(processors, monkeypatch)
    with beside(os.getpid, if_worth=if_worth) as result:
        assert result() == os.getpid()


@pytest.mark.usefixtures("two")
def test_where_no_process_can_be_made_it_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> int:
        raise BlockingIOError

    monkeypatch.setattr(os, "fork", refuse)
    with beside(lambda: 7, if_worth=True) as result:
        assert result() == 7


@pytest.mark.usefixtures("two")
def test_an_error_of_the_work_shows_itself_here() -> None:
    def fail() -> int:
        message = f"by {os.getpid()}"
        raise ValueError(message)

    with pytest.raises(ValueError, match=f"by {os.getpid()}"), beside(fail, if_worth=True) as result:
        result()
    assert has_no_copy()


@pytest.mark.usefixtures("two")
def test_a_copy_that_is_killed_loses_nothing() -> None:
    here = os.getpid()

    def work() -> str:
        if os.getpid() != here:
            os.kill(os.getpid(), signal.SIGKILL)
        return "done"

    with beside(work, if_worth=True) as result:
        assert result() == "done"
    assert has_no_copy()


@pytest.mark.usefixtures("two")
def test_a_block_that_is_broken_off_leaves_no_copy_behind() -> None:
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt), beside(lambda: time.sleep(600), if_worth=True):
        raise KeyboardInterrupt
    assert has_no_copy()
    assert time.monotonic() - begin < 300
