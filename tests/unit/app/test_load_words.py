from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weftline.app.load_words import KEYS, read_load, read_straggler
from weftline.app.loads import _MAKERS as MAKERS  # pyright: ignore[reportPrivateUsage]
from weftline.errors import UsageError
from weftline.schedule import ALGORITHMS


def test_every_kind_can_be_made() -> None:
    assert set(KEYS) == set(MAKERS) | set(ALGORITHMS)


def test_a_load_is_a_kind_and_what_is_said_of_it() -> None:
    words = read_load(" incast:senders=15, size=4MiB ,every_us=2.5")
    assert (words.kind, words.words) == ("incast", {"senders": "15", "size": "4MiB", "every_us": "2.5"})
    assert (words.whole("senders", 1), words.whole("repeats", 3)) == (15, 3)
    assert (words.size("size", "1GiB"), words.size("other", "1GiB")) == (4 * 2**20, 2**30)
    assert (words.decimal("every_us", 1.0), words.decimal("start_us", 0.5)) == (2.5, 0.5)
    assert read_load("job").words == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "'' is not known"),
        ("incasts", "'incasts' is not known"),
        ("incast:sender=3", "is nothing that can be said of it"),
        ("incast:senders", "is nothing that can be said of it"),
        ("incast:senders=", "is nothing that can be said of it"),
        ("incast:senders=1,senders=2", "stands twice"),
    ],
)
def test_what_is_no_load_is_refused(text: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_load(text)
    assert caught.value.code == "usage.load"
    assert said in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize("value", ["-1", "1.5", "x", "99999999999", "1e3"])
def test_what_is_no_number_is_refused(value: str) -> None:
    with pytest.raises(UsageError, match="is no whole number") as caught:
        read_load(f"incast:senders={value}").whole("senders", 1)
    assert caught.value.code == "usage.load"
    if value not in {"1.5", "99999999999"}:
        with pytest.raises(UsageError, match="is no decimal number"):
            read_load(f"incast:every_us={value}").decimal("every_us", 1.0)


def test_a_straggler_is_a_rank_or_a_draw() -> None:
    assert (read_straggler("3:250").who, read_straggler("3:250").us) == (3, 250.0)
    assert read_straggler("exponential:0.5").who == "exponential"
    for text in ("", "3", "3:", ":3", "x:3", "-1:3", "3:-1", "3:nan", "normal:3"):
        with pytest.raises(UsageError) as caught:
            read_straggler(text)
        assert caught.value.code == "usage.load"


@given(st.text(max_size=30), st.sampled_from(["{}", "incast:{}", "storage:load={}", "1:{}"]))
def test_no_text_ends_in_a_crash(text: str, form: str) -> None:
    for read in (read_load, read_straggler):
        codes = {"usage.load"}
        try:
            read(form.format(text))
        except UsageError as error:
            codes.add(error.code)
        assert codes == {"usage.load"}
