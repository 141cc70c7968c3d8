"""A lab kept on real OpenSM: what is lost is routed around, what returns is used again, what is wrong is told."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import refused, run
from tests.lab.conftest import Place
from tests.lab.keeping import Keeper, count_lost, make_tree, read, trace, wait_delivered
from weftline.app.kept import FILE, Kept
from weftline.app.lab import lab_folder
from weftline.labs.ibsim import simulator

HOSTS = 48
PAIRS = HOSTS * (HOSTS - 1)


@pytest.fixture
def tree(tmp_path: Path) -> Iterator[Place]:
    """A small tree that is up, and stopped afterwards."""
    made = make_tree(tmp_path)
    ran = made.lab("up", "--json")
    assert ran.status == 0, ran.out
    yield made
    made.lab("down")
    assert made.running == {}


@pytest.fixture
def keeper(tree: Place) -> Iterator[Keeper]:
    """What keeps the tree."""
    made = Keeper(tree)
    yield made
    made.kill()


def link_of(tree: Place, leaf: str) -> str:
    """Name the first uplink of a leaf."""
    links = re.findall(rf"\b{leaf}/\d+~spine-\d+/\d+", run("cables", tree.path).out)
    return links[0]


def say(tree: Place, *commands: str) -> None:
    """Speak to the simulator, behind the back of everybody."""
    for command in commands:
        simulator.tell(tree.folder, command)


def check_claims(event: dict[str, Any], pairs: int) -> None:
    """Hold that an event carries its proofs, for all pairs that are left."""
    assert {proof["verdict"] for proof in event["proofs"]} == {"proved"}
    assert f"Each of {pairs:,} ordered pairs" in event["proofs"][0]["statement"]


def test_an_uplink_lost_and_returned(tree: Place, keeper: Keeper) -> None:
    link = link_of(tree, "leaf-002")
    before = read(tree).tables
    assert tree.lab("break", link).status == 0
    event = keeper.until(down=[link])
    check_claims(event, PAIRS)
    assert event["changed"] > 0
    assert event["stages"] == ["at once"]
    wait_delivered(tree, PAIRS)
    verified = tree.lab("verify")
    assert verified.status == 2, verified.out
    assert "equal to the repaired tables" in verified.out
    assert f"the tables differ from the declaration by: {link}\n" in verified.out
    document = tree.lab("verify", "--json").document
    assert (document["equal"], document["differs_by"], document["on_its_way"]) == (True, [link], False)
    assert tree.lab("heal").status == 0
    event = keeper.until(down=[])
    assert event["back"] == [link]
    wait_delivered(tree, PAIRS)
    after = read(tree).tables
    assert {guid: table.tolist() for guid, table in after.items()} == {g: t.tolist() for g, t in before.items()}
    assert tree.lab("verify").status == 0
    ended = keeper.end()
    assert (ended["changes"], ended["refused"], ended["failed"], ended["status"]) == (3, 0, 0, 0)


def test_a_host_a_leaf_and_a_spine(tree: Place, keeper: Keeper) -> None:
    """Each is lost and returns; the paths that are left are traced by ibtracert too."""
    left = {"host-0003/nic1": (HOSTS - 1) * (HOSTS - 2), "leaf-002": 32 * 31, "spine-01": PAIRS}
    for name, pairs in left.items():
        assert tree.lab("break", name).status == 0
        event = keeper.until(down=["leaf-001/3~host-0003/nic1" if "/" in name else name])
        check_claims(event, pairs)
        wait_delivered(tree, pairs)
        state = read(tree)
        lids = sorted(state.ports[place].address for place in state.endpoints.values())
        for source, target in zip(lids, lids[1:] + lids[:1], strict=True):
            last = trace(tree, source, target).strip().splitlines()[-1]
            assert re.search(rf"To ca .* lid {target}-{target} ", last), last
        assert tree.lab("heal").status == 0
        keeper.until(down=[])
        wait_delivered(tree, PAIRS)
    assert keeper.end()["status"] == 0
    assert tree.lab("verify").status == 0


def test_a_wrong_cable_is_told_and_not_used(tree: Place, keeper: Keeper) -> None:
    first, second = link_of(tree, "leaf-001"), link_of(tree, "leaf-003")
    assert tree.lab("miscable", first, second).status == 0
    event = keeper.next()
    while len(event["wrong"]) != 4 or event["told_more"]:
        event = keeper.next()
    (a, b), (c, d) = first.split("~"), second.split("~")
    assert set(event["wrong"]) == {
        f"{a} leads to {d}, and should to {b}",
        f"{b} leads to {c}, and should to {a}",
        f"{c} leads to {b}, and should to {d}",
        f"{d} leads to {a}, and should to {c}",
    }
    state = read(tree)
    assert count_lost(state) == (PAIRS, 0)
    ran = tree.lab("verify", "--json")
    assert ran.status == 5
    assert {one["kind"] for one in tree.differences(ran)} == {"link"}
    assert f"{a} (wrong cable)" in ran.document["differs_by"]
    assert keeper.end()["status"] == 2
    assert tree.lab("heal").status == 0
    healed = tree.lab("keep", "--until-quiet", "--json")
    assert healed.status == 0, healed.out
    assert tree.lab("verify").status == 0


def test_what_happened_while_nobody_looked_is_found_at_the_start(tree: Place) -> None:
    link = link_of(tree, "leaf-002")
    assert tree.lab("break", link).status == 0
    ran = tree.lab("keep", "--for", "0")
    assert ran.status == 0, ran.out
    assert f"kept; down {link}: " in ran.out
    assert "read back" in ran.out
    wait_delivered(tree, PAIRS)
    assert tree.lab("heal").status == 0
    assert f"differ from the declaration by: {link}" in tree.lab("verify").out
    assert tree.lab("keep", "--for", "0").status == 0
    assert tree.lab("verify").status == 0


def test_kill_9_at_any_moment_of_a_repair(tree: Place, keeper: Keeper) -> None:
    """Before, while and after tables are sent: the next command says what stands or puts it right."""
    link = link_of(tree, "leaf-002")
    refused(tree.lab("keep", "--for", "0", "--json"), 1, "artifact.busy")
    say(tree, "Unlink " + place_of(tree, "leaf-002", link))
    keeper.kill()
    ran = tree.lab("verify", "--json")
    assert ran.status in {2, 5}, ran.out
    assert tree.lab("keep", "--for", "0").status == 0
    wait_delivered(tree, PAIRS)
    note = lab_folder(tree.path) / FILE
    kept = Kept.model_validate_json(note.read_bytes())
    assert kept.stage == "running"
    cut = kept.model_copy(update={"stage": "sending", "before_lost": ()})
    note.write_text(cut.model_dump_json(), encoding="utf-8")
    ran = tree.lab("verify", "--json")
    assert (ran.status, ran.document["on_its_way"], ran.document["differs_by"]) == (2, True, [link])
    assert "was on its way" in tree.lab("verify").out
    other = cut.model_copy(update={"lost": (), "before_lost": kept.lost})
    note.write_text(other.model_dump_json(), encoding="utf-8")
    assert tree.lab("verify", "--json").document["differs_by"] == [link]
    note.write_text("{", encoding="utf-8")
    assert tree.lab("verify").status == 5
    say(tree, "ReLink " + place_of(tree, "leaf-002", link))
    assert tree.lab("keep", "--until-quiet").status == 0
    assert tree.lab("verify").status == 0


def place_of(tree: Place, leaf: str, link: str) -> str:
    """Name the port of a link as the simulator does."""
    text = (tree.folder / "fabric.topo").read_text(encoding="utf-8")
    match = re.search(rf'^Switch\t\d+ ("S[^"]+")\s+# "{leaf}"', text, re.MULTILINE)
    assert match is not None
    return f"{match[1]}[{link.split('~', maxsplit=1)[0].rpartition('/')[2]}]"


def test_a_manager_that_goes_away_ends_it(tree: Place, keeper: Keeper) -> None:
    assert tree.lab("down").status == 0
    assert keeper.wait() == 4
    refused(tree.lab("keep", "--json"), 4, "source.lab-down")


def test_a_manager_that_is_cut_off_is_told(tree: Place, keeper: Keeper) -> None:
    """It hears of nothing while its own port is down, and every cable would look as it was."""
    assert tree.lab("break", "host-0001").status == 0
    event = keeper.next()
    assert (event["kind"], event["cut_off"], event["why"]) == ("cut-off", ["subnet-1"], "subnet-1")
    assert tree.lab("heal").status == 0
    event = keeper.next()
    assert (event["kind"], event["cut_off"]) == ("returned", [])
    event = keeper.until(down=[])
    assert event["cut_off"] == []
    assert keeper.end()["status"] == 0
    wait_delivered(tree, PAIRS)
    assert tree.lab("verify").status == 0
    assert tree.lab("break", "leaf-001").status == 0
    ran = tree.lab("keep", "--until-quiet")
    assert ran.status == 2
    assert "the manager of subnet-1 is cut off, so nothing is known of the cables there" in ran.out
    assert "down leaf" not in ran.out
    assert tree.lab("heal").status == 0
    assert tree.lab("verify").status == 0
