"""Link widths and speeds."""

from __future__ import annotations

import pytest

from weftline.formats.speed import link_gbps, name_rate


@pytest.mark.parametrize(
    ("rate", "name"),
    [(400.0, "4xNDR"), (200.0, "4xHDR"), (100.0, "4xEDR"), (56.0, "4xFDR"), (40.0, "4xQDR"), (10.0, "4xSDR"),
     (800.0, "4xXDR"), (2.5, "1xSDR"), (50.0, "2xEDR")],
)  # fmt: skip
def test_rates_have_names(rate: float, name: str) -> None:
    assert name_rate(rate) == name
    assert link_gbps(int(name[0]), name[2:]) == rate


def test_what_has_no_name_has_none() -> None:
    assert name_rate(123.0) == ""
    assert link_gbps(3, "NDR") == link_gbps(4, "???") == 0.0
