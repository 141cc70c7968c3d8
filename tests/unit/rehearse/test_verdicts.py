from __future__ import annotations

from dataclasses import replace

import numpy as np

from tests.fabrics import make_fabric
from tests.properties.test_rehearse import make_plan
from weftline.model.proof import Verdict
from weftline.model.rehearsal import Limits, Outcomes
from weftline.rehearse.faults import list_links
from weftline.rehearse.scene import Found
from weftline.rehearse.tally import close_tally, open_tally
from weftline.rehearse.verdicts import conclude, list_bases, measure_losses

PLAN = make_plan(make_fabric("fat-tree", hosts=8, ports=8), "updown", [None])
JOBS = list_bases(PLAN, (1.0,), (3,))
FINE = Found(Verdict.PROVED, 0, 0, 0, (1.0,), (3,), ())
ANY = Limits(0.1, None, None)


def tell(*found: Found, limits: Limits = ANY) -> tuple[Outcomes, list[str], Verdict, int]:
    tally = open_tally(len(found), 1)
    for at, one in enumerate(found):
        tally.put(at, one)
    faults = list_links(PLAN.fabric)
    some = replace(
        faults, name=faults.name[: len(found)], kind=faults.kind[: len(found)], ptr=faults.ptr[: len(found) + 1]
    )
    outcomes = close_tally(tally)
    summed = conclude(PLAN, ("links", some, outcomes), JOBS, limits, 0)
    return outcomes, [faults.name.index(state.fault).__str__() for state in summed.worst], summed.verdict, summed.broken


def test_twice_the_load_is_half_the_rate() -> None:
    outcomes, _, verdict, broken = tell(replace(FINE, worst=(2.0,)), FINE)
    assert measure_losses(PLAN, JOBS, outcomes).tolist() == [[0.5], [0.0]]
    assert (verdict, broken) == (Verdict.REFUTED, 1)


def test_a_job_of_which_nobody_is_left_loses_all() -> None:
    outcomes, _, _, broken = tell(replace(FINE, worst=(0.0,), port=(-1,), leave=tuple(range(8))))
    assert measure_losses(PLAN, JOBS, outcomes).tolist() == [[1.0]]
    assert broken == 1


def test_what_is_not_known_is_never_fine() -> None:
    assert tell(replace(FINE, deadlock=Verdict.UNKNOWN))[2:] == (Verdict.UNKNOWN, 1)
    assert tell(replace(FINE, undelivered=-1))[2:] == (Verdict.UNKNOWN, 1)
    assert tell(replace(FINE, deadlock=Verdict.REFUTED))[2:] == (Verdict.REFUTED, 1)
    outcomes = tell(replace(FINE, undelivered=2))[0]
    assert np.isnan(measure_losses(PLAN, JOBS, outcomes)).all()


def test_states_come_by_damage() -> None:
    found = (
        FINE,
        replace(FINE, worst=(1.05,)),
        replace(FINE, lost_endpoints=1, leave=(2,)),
        replace(FINE, worst=(3.0,)),
    )
    assert tell(*found)[1] == ["3", "1", "2", "0"]


def test_limits_on_endpoints_and_ranks_count_only_where_they_are_declared() -> None:
    gone = replace(FINE, lost_endpoints=1, lost_pairs=14, leave=(2,))
    assert tell(gone)[3] == 0
    assert tell(gone, limits=Limits(0.1, 0, None))[3] == 1
    assert tell(gone, limits=Limits(0.1, None, 0))[3] == 1
    assert tell(gone, limits=Limits(None, 1, 1))[3] == 0
