"""The smallest message takes what the parts on its way say, and messages go out as fast as the line takes them."""

from __future__ import annotations

import pytest

from tests.latency import make_stage, measure_rate, simulate_one, sum_parts
from tests.packets import tell


@pytest.mark.parametrize("technology", ["infiniband", "roce"])
@pytest.mark.parametrize("switches", [1, 3, 5])
def test_the_smallest_message_takes_what_its_parts_say(technology: str, switches: int) -> None:
    stage = make_stage(technology)
    took = simulate_one(stage, switches)
    tell(technology, switches, "switches:", took, "ps")
    assert took == sum_parts(stage, switches)


@pytest.mark.parametrize("technology", ["infiniband", "roce"])
@pytest.mark.parametrize("peers", [1, 32])
def test_messages_go_out_as_fast_as_the_line_takes_them(technology: str, peers: int) -> None:
    rate, most = measure_rate(make_stage(technology), 4000, peers)
    tell(technology, peers, "peers:", f"{rate / 1e6:.1f} of {most / 1e6:.1f} million messages a second")
    assert 0.99 * most < rate < 1.01 * most
