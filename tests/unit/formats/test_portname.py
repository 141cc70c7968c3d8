"""Names of ports as plans and labels have them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weftline.formats.portname import PortWord, read_port


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("Port 21", PortWord("number", 21)),
        ("port 21 ", PortWord("number", 21)),
        ("P7", PortWord("number", 7)),
        ("7", PortWord("number", 7)),
        ("IB Port 3", PortWord("number", 3)),
        ("Blade 16_Port 2/20", PortWord("board", 20, "L16", 2)),
        ("BLADE 1_PORT 1/1", PortWord("board", 1, "L1", 1)),
        ("Blade 3_Port 9", PortWord("board", 9, "L3", 0)),
        ("L03/U2/P9", PortWord("board", 9, "L3", 2)),
        ("L03/U2 9", PortWord("board", 9, "L3", 2)),
        ("L1/P3", PortWord("board", 3, "L1", 0)),
        ("S2/P18", PortWord("board", 18, "S2", 0)),
        ("1/2", PortWord("cage", 2, chip=1)),
        ("mlx5_2", PortWord("adapter", adapter="mlx5_2")),
        ("mlx5_2/1", PortWord("adapter", 1, adapter="mlx5_2")),
        ("HCA-3 P2", PortWord("adapter", 2, adapter="hca-3")),
        ("host-a ibp11s0f0", PortWord("adapter", adapter="ibp11s0f0")),
        ("HOST-A  ibp11s0f0", PortWord("adapter", adapter="ibp11s0f0")),
        ("nic3", PortWord("nic", 3)),
        ("nic3p2", PortWord("nic", 3, chip=2)),
        ("abra", None),
        ("", None),
        ("Port 0", None),
        ("Port 1000", None),
        ("host-b ibp11s0f0", None),
        ("x" * 500, None),
    ],
)
def test_a_port_is_read(text: str, word: PortWord | None) -> None:
    assert read_port(text, "host-a") == word


@given(st.text(max_size=80), st.text(max_size=20))
def test_any_text_is_a_word_or_none(text: str, device: str) -> None:
    word = read_port(text, device)
    assert word is None or word.number >= 0
