"""Tables of records that are imported when they are asked for."""

from __future__ import annotations

import subprocess
import sys
from types import ModuleType
from typing import cast

import pytest

from weftline import drivers, labs, technologies, vendors
from weftline.labs import LABS
from weftline.register import Register
from weftline.vendors import VENDORS

PLACES = {"value": "weftline.register:Register", "nothing": "weftline.register:NO_SUCH"}


def test_a_record_is_found_by_name_and_kept() -> None:
    register = Register[type]({"value": PLACES["value"]})
    assert not register.held
    assert register["value"] is Register
    assert register.held == {"value": Register}
    assert dict(register) == {"value": Register}


def test_names_are_listed_in_order_without_an_import() -> None:
    register = Register[type](PLACES)
    assert (list(register), len(register), "nothing" in register, "other" in register) == (
        ["value", "nothing"], 2, True, False,
    )  # fmt: skip
    assert not register.held


def test_an_unknown_name_and_a_place_without_a_record_are_errors() -> None:
    register = Register[type](PLACES)
    with pytest.raises(KeyError):
        register["other"]
    with pytest.raises(AttributeError):
        register["nothing"]


def test_a_fabric_without_a_vendor_never_imports_it() -> None:
    script = (
        "import sys, weftline.app.lab\n"
        "from weftline.labs import LABS\n"
        "from weftline.vendors import VENDORS\n"
        "VENDORS['opensm'], LABS['ibsim']\n"
        "print(sorted(name for name in sys.modules if name.startswith(('weftline.vendors', 'weftline.labs'))))"
    )
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    loaded = done.stdout
    assert "weftline.vendors.opensm" in loaded
    assert not any(name in loaded for name in ("vendors.sonic", "vendors.eos", "labs.netns"))


@pytest.mark.parametrize("name", [*VENDORS, *LABS])
def test_every_place_holds_the_record_of_that_name(name: str) -> None:
    record = VENDORS[name] if name in VENDORS else LABS[name]
    assert record.name == name


@pytest.mark.parametrize("room", [drivers, labs, technologies, vendors], ids=lambda room: room.__name__)
def test_records_stand_in_the_package_of_their_table(room: ModuleType) -> None:
    values: list[object] = list(vars(room).values())
    tables = [cast("Register[object]", value) for value in values if isinstance(value, Register)]
    assert tables
    assert all(place.startswith(f"{room.__name__}.") for table in tables for place in table.places.values())
