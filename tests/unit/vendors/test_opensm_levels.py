from __future__ import annotations

from dataclasses import replace as with_values

import pytest

from tests.designs import Rendered, render_design
from tests.unit.vendors.damage import damage, replace, say_again
from weftline.model.levels import GroupIntent, LevelIntent, MatchIntent, ServiceIntent, WeightIntent
from weftline.render import render

FOLDER = "opensm/subnet-1"


def make() -> Rendered:
    """Render a subnet of two lanes with one group."""
    made = render_design("infiniband", hosts=4, rails=1)
    manager = made.intent("subnet-1")
    assert manager.keys is not None
    service = ServiceIntent(
        lanes=2,
        lane_of_level=(0, 1, *[0] * 14),
        high_limit=4,
        weights=(WeightIntent(0, 0, 8), WeightIntent(1, 64, 0)),
        levels=(LevelIntent("DEFAULT", 0), LevelIntent("storage", 1)),
        groups=(GroupIntent("stores", (manager.keys.endpoints[0].key,)),),
        matches=(MatchIntent(1, "storage", destination="stores"),),
    )
    intents = tuple(with_values(one, service=service) if one is manager else one for one in made.intents)
    artifacts = render(intents, made.vendors, of=made.routes.digest)
    return with_values(made, intents=intents, artifacts=artifacts)


MADE = make()


def test_the_policy_can_be_read_by_a_person() -> None:
    assert MADE.text(f"{FOLDER}/qos-policy.conf").partition("qos-levels\n")[2] == (
        "    qos-level\n        name: DEFAULT\n        sl: 0\n    end-qos-level\n"
        "    qos-level\n        name: storage\n        sl: 1\n    end-qos-level\n"
        "end-qos-levels\n"
        "qos-match-rules\n"
        "    qos-match-rule\n        destination: stores\n        qos-level-name: storage\n    end-qos-match-rule\n"
        "end-qos-match-rules\n"
    )
    options = MADE.text(f"{FOLDER}/opensm.conf").splitlines()
    assert {"qos TRUE", "qos_max_vls 2", "max_op_vls 2", "qos_vlarb_high 0:0,1:64", "qos_vlarb_low 0:8,1:0"} <= set(
        options
    )


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("destination: stores", "destination: store", "artifact.unexpected"),
        ("qos-level-name: storage", "qos-level-name: fast", "artifact.unexpected"),
        ("        qos-level-name: storage\n", "", "artifact.unreadable-line"),
        ("name: DEFAULT", "name: default", "artifact.unexpected"),
        ("name: stores", "name: two words", "artifact.unreadable-line"),
        ("name: storage", "name: DEFAULT", "artifact.said-twice"),
        ("sl: 1", "sl: 16", "artifact.out-of-range"),
        ("sl: 1", "sl: 1\n        sl: 1", "artifact.unreadable-line"),
        ("port-guid: 0x", "port-guid: 0xg", "artifact.unreadable-line"),
        ("destination: stores", "pkey: 0x8001", "artifact.out-of-range"),
        ("end-qos-match-rules\n", "", "artifact.unreadable-line"),
        ("    end-qos-match-rule\n", "", "artifact.unreadable-line"),
        ("qos-match-rules\n", "match\n", "artifact.unreadable-line"),
    ],
)
def test_a_policy_that_weftline_would_not_write(old: str, new: str, code: str) -> None:
    assert code in {problem.code for problem in damage(MADE, f"{FOLDER}/qos-policy.conf", replace(old, new))}


def test_a_policy_said_twice() -> None:
    problems = damage(MADE, f"{FOLDER}/qos-policy.conf", say_again("port-groups\n"))
    assert {problem.code for problem in problems} == {"artifact.said-twice"}


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("qos TRUE", "qos YES", "artifact.out-of-range"),
        ("qos TRUE", "qos FALSE", "artifact.unexpected"),
        ("qos_max_vls 2", "qos_max_vls 16", "artifact.out-of-range"),
        ("max_op_vls 2", "max_op_vls 5", "artifact.unexpected"),
        ("max_op_vls 2\n", "", "artifact.unexpected"),
        ("qos_sl2vl 0,1,", "qos_sl2vl 0,", "artifact.out-of-range"),
        ("qos_sl2vl 0,1,", "qos_sl2vl 0,16,", "artifact.out-of-range"),
        ("qos_high_limit 4", "qos_high_limit 256", "artifact.out-of-range"),
        ("qos_vlarb_low 0:8,", "qos_vlarb_low 0:256,", "artifact.out-of-range"),
        ("qos_vlarb_low 0:8,", "qos_vlarb_low 1:8,", "artifact.out-of-range"),
        ("qos_vlarb_high 0:0,1:64\n", "", "artifact.out-of-range"),
    ],
)
def test_options_that_weftline_would_not_write(old: str, new: str, code: str) -> None:
    problems = damage(MADE, f"{FOLDER}/opensm.conf", replace(old, new))
    assert code in {problem.code for problem in problems}
    assert all(problem.where is not None and problem.where.file for problem in problems)
