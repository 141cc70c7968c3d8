from __future__ import annotations

import pytest

from tests.designs import render_design
from tests.unit.vendors.damage import damage, replace, say_again
from weftline.model.subnet import InfinibandSection, KeysSection
from weftline.vendors import VENDORS

FOLDER = "opensm/subnet-1"
KEYS = KeysSection(m_key_file="m", sm_key_file="sm")
MADE = render_design("infiniband", hosts=4, rails=1, infiniband=InfinibandSection(keys=KEYS))
OPEN = render_design("infiniband", hosts=4, rails=1)
VALUE = "0x1234567890abcdef"


@pytest.mark.parametrize("value", [VALUE, "@sm_key@", "0"])
def test_a_key_in_a_rendered_file_is_a_problem_and_is_not_repeated(value: str) -> None:
    problems = damage(MADE, f"{FOLDER}/opensm.conf.in", replace("m_key @m_key@", f"m_key {value}"))
    assert [problem.code for problem in problems] == ["artifact.secret"]
    assert VALUE not in repr(problems)


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("routing_engine file,no_fallback", "routing_engine ftree", "artifact.unexpected"),
        ("reassign_lids FALSE", "reassign_lids TRUE", "artifact.unexpected"),
        ("honor_guid2lid_file TRUE\n", "", "artifact.unexpected"),
        ("sm_priority 15", "sm_priority 3", "artifact.unexpected"),
        ("sweep_interval 10", "sweep_interval 0", "artifact.out-of-range"),
        ("allow_both_pkeys FALSE", "allow_both_pkeys maybe", "artifact.out-of-range"),
        ("part_enforce both", "part_enforce all", "artifact.out-of-range"),
        ("lmc 0", "lmc 8", "artifact.out-of-range"),
    ],
)
def test_options_that_weftline_would_not_write(old: str, new: str, code: str) -> None:
    assert code in {problem.code for problem in damage(OPEN, f"{FOLDER}/opensm.conf", replace(old, new))}


@pytest.mark.parametrize(
    ("old", "new"), [("m_key_protection_level 2", "m_key_protection_level 4"), ("_lease_period 60", "_lease_period -1")]
)
def test_guarding_of_keys_that_weftline_would_not_write(old: str, new: str) -> None:
    problems = damage(MADE, f"{FOLDER}/opensm.conf.in", replace(old, new))
    assert [problem.code for problem in problems] == ["artifact.out-of-range"]


@pytest.mark.parametrize(("old", "new"), [(" 15 host", " 16 host"), ("0x02", "0x"), (" 15 ", " ")])
def test_a_table_of_managers_that_cannot_be_read(old: str, new: str) -> None:
    problems = damage(OPEN, f"{FOLDER}/managers", replace(old, new))
    assert [problem.code for problem in problems] == ["artifact.unreadable-line"]


def test_a_manager_named_twice() -> None:
    problems = damage(OPEN, f"{FOLDER}/managers", say_again("0x02"))
    assert [problem.code for problem in problems] == ["artifact.said-twice"]


def test_what_is_read_names_the_keys() -> None:
    (config,) = [one for one in VENDORS["opensm"].observe(MADE.artifacts) if one.device == "subnet-1"]
    assert config.values["manager.secrets"] == ("m_key", "sm_key")
    assert config.values["manager.lease_s"] == 60
