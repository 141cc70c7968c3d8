from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weftline.declare.scalars import MAX_DIGITS, Scalar, read_scalar


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"), ("yes", "yes"), ("on", "on"), ("off", "off"), ("012", 12), ("0o17", 15), ("0x1F", 31),
        ("1:20", "1:20"), ("1_000", "1_000"), ("2024-01-01", "2024-01-01"), ("~", None), ("", None), ("null", None),
        ("true", True), ("FALSE", False), ("tRue", "tRue"), ("70e9", 70e9), ("1e3", 1000.0), (".5", 0.5), ("5.", 5.0),
        ("-3", -3), ("+3", 3), ("1.5e-3", 0.0015), ("1e", "1e"), ("-", "-"), (".", "."), ("0b11", "0b11"),
        ("1-32", "1-32"),
    ],
)  # fmt: skip
def test_reads_as_yaml_1_2(text: str, value: Scalar) -> None:
    found = read_scalar(text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    "text", [".inf", "-.Inf", ".nan", "1e400", "-1e999", "9" * (MAX_DIGITS + 1), "1." + "0" * 5000]
)
def test_refuses_numbers_that_cannot_be_used(text: str) -> None:
    with pytest.raises(ValueError, match="number"):
        read_scalar(text)


def test_long_text_that_starts_like_a_number_is_text() -> None:
    assert read_scalar("1-2," * 40) == "1-2," * 40


@given(st.text(max_size=60))
def test_any_text_gives_a_scalar_or_value_error(text: str) -> None:
    with contextlib.suppress(ValueError):
        read_scalar(text)


@given(st.integers(-(10**30), 10**30))
def test_whole_numbers_come_back(number: int) -> None:
    assert read_scalar(str(number)) == number
