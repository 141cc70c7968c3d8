"""Which load is simulated, and what it is called."""

from __future__ import annotations

from pathlib import Path

import pytest

from weftline.app.pipeline import Routed, run_to_routes
from weftline.app.simulate import CLOSED, LoadChoice, simulate_routed
from weftline.errors import UsageError

DECLARATION = """
fabric: {name: two-jobs}
technology: infiniband
hosts: {count: 8, rails: 8, rate_gbps: 400, unit_size: 4}
jobs:
  - {name: small, hosts: 1-2, parameters: 1e9, global_batch: 8, sequence_length: 128, utilisation: 0.4,
     gpu_hour_price: 2.0}
  - {name: large, hosts: 3-8, parameters: 2e9, global_batch: 8, sequence_length: 128, utilisation: 0.4,
     gpu_hour_price: 2.0}
"""


@pytest.fixture
def routed(tmp_path: Path) -> Routed:
    """Eight hosts with two jobs."""
    path = tmp_path / "two-jobs.yaml"
    path.write_text(DECLARATION, encoding="utf-8")
    return run_to_routes(path)


def test_the_first_job_is_meant_and_says_that_there_are_others(routed: Routed) -> None:
    simulated = simulate_routed(routed, LoadChoice())
    assert simulated.title.startswith("job small (1 of 2 declared): ")
    assert simulated.prediction is not None
    assert simulated.prediction.gpus == 16


def test_a_job_is_chosen_by_name(routed: Routed) -> None:
    simulated = simulate_routed(routed, LoadChoice(job="large"))
    assert simulated.title.startswith("job large (2 of 2 declared): ")
    assert simulated.prediction is not None
    assert simulated.prediction.gpus == 48


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        (LoadChoice(job="huge"), "choose small, large"),
        (LoadChoice(job="small", ranks=4), "give --job NAME, or the collective; --load job adds a job to it"),
    ],
)
def test_a_job_that_cannot_be_meant(routed: Routed, choice: LoadChoice, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        simulate_routed(routed, choice)
    assert (caught.value.code, caught.value.hint) == ("usage.choice", said)


def test_a_collective_says_its_size_as_it_was_given(routed: Routed) -> None:
    title = simulate_routed(routed, LoadChoice(size="3MiB", placement="random", seed=7)).title
    assert title == "all-reduce of 3MiB over 64 ranks, ring, placed at random, seed 7"
    assert simulate_routed(routed, LoadChoice(ranks=16)).title.endswith("of 1GiB over 16 ranks, ring, placed in order")


def test_a_load_too_large_gets_its_closed_form(routed: Routed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weftline.app.simulate.MAX_DEFAULT_FLOWS", 10)
    simulated = simulate_routed(routed, LoadChoice())
    assert simulated.result.fidelity == CLOSED
    assert not simulated.has_loads
    assert simulated.flows == 0
    assert simulated.prediction is not None
    assert simulated.result.bound_low_us <= simulated.result.total_us
    assert any(text.startswith("not simulated, since it is more than") for text in simulated.result.assumptions)
