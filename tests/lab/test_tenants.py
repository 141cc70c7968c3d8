"""Two tenants under a real OpenSM: tables of hosts and leaf ports, options and path records keep them apart."""

from __future__ import annotations

import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.running import run
from tests.lab.conftest import Place
from weftline.app.lab import lab_folder
from weftline.drivers.opensm.reading import read_state
from weftline.labs import holding, processes
from weftline.labs.ibsim import running
from weftline.model.driver import SubnetState
from weftline.model.isolation import MANAGEMENT, Groups, IsolatedEnd, IsolationTables, Sharing
from weftline.model.partitions import FULL, KEY
from weftline.model.proof import Proof, Verdict
from weftline.prove.isolate import prove_isolation

RED, BLUE = 0x8001, 0x8002


@pytest.fixture
def lab(root: Path, tmp_path: Path) -> Iterator[Place]:
    """The example of two tenants, up and read back."""
    path = tmp_path / "two-tenants.yaml"
    shutil.copy(root / "examples" / path.name, path)
    place = Place(path)
    try:
        ran = place.lab("up", "--json")
        assert ran.status == 0, ran.out
        yield place
    finally:
        place.lab("down")


def read(lab: Place) -> SubnetState:
    """Read the one subnet."""
    (access,) = running.verify(lab_folder(lab.path)).accesses
    return read_state(access, False)


def owner_of(keys: tuple[int, ...]) -> str:
    """Name the owner of a port by the key that stands first in its table."""
    return {RED: "red", BLUE: "blue"}.get(keys[0], MANAGEMENT)


def judge(state: SubnetState, *, enforces: bool | None) -> Proof:
    """Prove isolation on what was read back."""

    def split(keys: tuple[int, ...]) -> Groups:
        full = frozenset(key & KEY for key in keys if key & FULL)
        return Groups(full, frozenset(key & KEY for key in keys) - full)

    facing = {far: near for near, far in state.links.items() if near[0] in state.tables}
    ends = tuple(
        IsolatedEnd(
            f"{guid:#018x}", owner_of(state.keys[place]), split(state.keys[place]), split(state.keys[facing[place]]),
            enforces, enforces,
        )
        for guid, place in state.endpoints.items()
    )  # fmt: skip
    return prove_isolation(IsolationTables(ends, (Sharing(MANAGEMENT),), "0", "what was read", "None."), required=True)


def test_the_tenants_cannot_reach_each_other(lab: Place) -> None:
    found = read(lab)
    facing = {far: near for near, far in found.links.items() if near[0] in found.tables}
    by_owner: dict[str, list[tuple[int, int]]] = {}
    for place in found.endpoints.values():
        by_owner.setdefault(owner_of(found.keys[place]), []).append(place)
        assert frozenset(found.keys[facing[place]]) == frozenset(found.keys[place])
    assert {owner: len(held) for owner, held in by_owner.items()} == {"red": 32, "blue": 32, MANAGEMENT: 1}
    for place in by_owner["red"]:
        assert found.key_tables[place] == (RED, 0x7FFF)
    options = (lab.folder / "opensm.conf").read_text(encoding="utf-8").splitlines()
    assert "part_enforce both" in options
    assert judge(found, enforces=True).verdict is Verdict.PROVED
    assert judge(found, enforces=None).verdict is Verdict.UNKNOWN
    red, other, blue = by_owner["red"][0], by_owner["red"][1], by_owner["blue"][0]
    lids = {place: str(found.ports[place].address) for place in (red, other, blue)}

    def ask(a: tuple[int, int], b: tuple[int, int]) -> str:
        return lab.ask("saquery", "--smkey", "1", "PR", "--src-to-dst", f"{lids[a]}:{lids[b]}")

    assert "0x8001" in ask(red, other)
    assert ask(red, blue).strip() == ""
    assert ask(blue, red).strip() == ""


LEAK = "blue=0x0002, indx0, defmember=full : "
FAULTS = {
    "a syntax error": (" ;\n", " ;\nbroken\n"),
    "everybody in one partition": (LEAK, f"red=0x0001 : A=full ;\n{LEAK}"),
    "default full": ("ALL=limited", "ALL=full"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_opens_them_is_found_in_the_tables_and_by_the_linter(lab: Place, fault: str) -> None:
    """Somebody edits the file under the running manager and tells it to read again."""
    path = lab.folder / "partitions.conf"
    path.write_text(path.read_text(encoding="utf-8").replace(*FAULTS[fault], 1), encoding="utf-8")
    assert run("lint", path, "--fabric", lab.path).status == 2
    before = read(lab)
    kept = {place: owner_of(before.keys[place]) for place in before.endpoints.values()}
    assert processes.signal_process(holding.key_of(lab_folder(lab.path)), lab.running["opensm"], signal.SIGHUP)
    end = time.monotonic() + 20
    while (found := read(lab)).keys == before.keys and time.monotonic() < end:
        time.sleep(0.1)
    assert lab.lab("verify").status == 5
    reds = [found.keys[place] for place, owner in kept.items() if owner == "red"]
    blues = [found.keys[place] for place, owner in kept.items() if owner == "blue"]
    common = {key & KEY for keys in reds for key in keys if key & FULL} & {key & KEY for keys in blues for key in keys}
    assert common
