"""Failures rehearsed as an engineer does: every state, one question, files with mistakes, runs that are killed."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.cli.conftest import write_small
from tests.cli.running import COMMAND, hold, run, start


def write(folder: Path, technology: str, more: str = "", jobs: tuple[tuple[str, str], ...] = ()) -> Path:
    """Write 4 hosts of 8 rails on two leaves and a spine, with other jobs or none."""
    path = write_small(folder, technology)
    text = path.read_text(encoding="utf-8")
    if not jobs:
        text = text.partition("jobs:")[0]
    path.write_text(text + more, encoding="utf-8")
    return path


@pytest.mark.parametrize("technology", ["infiniband", "roce"])
def test_every_link_and_switch(tmp_path: Path, technology: str) -> None:
    place = write_small(tmp_path, technology)
    ran = run("rehearse", place, "--json", "--worst", "0")
    told = hold(ran.document, "rehearsal")
    assert told["states"] == len(told["worst"]) == 64 + 3
    assert told["from_scratch"] < told["states"]
    by_name = {state["fault"]: state for state in told["worst"]}
    host = by_name["leaf-001/1~host-0001/nic1"]
    assert (host["connected"], host["leave"], host["leave_of"], host["lost_pairs"]) == (False, [0], {"tune": [0]}, 62)
    inner = [state for state in told["worst"] if state["kind"] == "leaf-spine link"]
    assert len(inner) == 32
    assert all(state["connected"] and state["deadlock"] == "proved" and not state["leave"] for state in inner)
    spine = by_name["spine-01"]  # the only one: what is left falls apart
    assert (spine["connected"], len(spine["leave"])) == (False, 16)
    assert ran.status == (0 if told["verdict"] == "yes" else 2)


@pytest.mark.parametrize("technology", ["infiniband", "roce"])
def test_one_link_is_answered_with_the_commands(tmp_path: Path, technology: str) -> None:
    place = write_small(tmp_path, technology)
    ran = run("rehearse", place, "--link", "leaf-001/17~spine-01/1")
    words = {"infiniband": "ibportstate", "roce": "sudo config interface shutdown Ethernet"}[technology]
    assert words in ran.out
    assert "to undo it" in ran.out
    told = hold(run("rehearse", place, "--link", "leaf-001/17", "--json").document, "rehearsal")
    assert told["worst"][0]["deadlock"] == "proved"
    assert told["commands"][0]["port"] == "leaf-001/17"


def test_a_port_to_a_host_is_refused_since_its_rank_must_leave(tmp_path: Path) -> None:
    place = write_small(tmp_path, "infiniband")
    ran = run("rehearse", place, "--port", "leaf-001/1")
    assert ran.status == 2
    assert ran.out.startswith("no: port leaf-001/1 should not be disabled now\n")
    assert "1 rank of job tune must leave, allowed is none" in ran.out
    assert "host-0001/nic1" in ran.out
    allowed = write_small(tmp_path, "infiniband", "rehearsal: {max_leaving_ranks: 1}\n")
    assert run("rehearse", allowed, "--port", "leaf-001/1").status == 0


def test_a_dark_port_may_be_disabled(tmp_path: Path) -> None:
    place = write_small(tmp_path, "infiniband")
    ran = run("rehearse", place, "--port", "leaf-001/60")
    assert (ran.status, "nothing is cabled there" in ran.out) == (0, True)


@pytest.mark.parametrize(
    ("option", "name", "near"),
    [
        ("--link", "leaf-01/17", "leaf-001/17"),
        ("--switch", "spine-1", "spine-01"),
        ("--port", "leaf-001/999", "leaf-001/"),
        ("--switch", "host-0001", "is no switch"),
        ("--port", "leaf-001", "is no port"),
        ("--link", "leaf-001/1~spine-01/64", "leaf-001/1"),
        ("--switch", "", "leaf-001"),
        ("--link", "x" * 500, ""),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest(tmp_path: Path, option: str, name: str, near: str) -> None:
    ran = run("rehearse", write_small(tmp_path, "infiniband"), option, name)
    assert ran.status == 1
    assert "[spec.unknown-name]" in ran.err
    assert near in ran.err


def test_without_jobs_the_loss_is_not_known_and_said_so(tmp_path: Path) -> None:
    place = write(tmp_path, "infiniband")
    ran = run("rehearse", place)
    assert "no job is declared, so that loss is not known" in ran.out
    assert run("rehearse", place, "--json").document["worst"][0]["job_loss"] == {}
    assert "none is declared" in run("rehearse", place, "--link", "leaf-001/17").out


def test_a_limit_that_is_missed_is_exit_2(tmp_path: Path) -> None:
    place = write_small(tmp_path, "infiniband", "rehearsal: {max_lost_endpoints: 0}\n")
    ran = run("rehearse", place, "--faults", "links")
    assert ran.status == 2
    assert "1 endpoints are cut off, allowed are 0" in " ".join(ran.out.split())


def test_a_file_of_faults(tmp_path: Path) -> None:
    place = write_small(tmp_path, "roce")
    faults = tmp_path / "faults.txt"
    faults.write_text(
        "# tonight\nleaf-001/17\nleaf-001/18~spine-01/2, leaf-002/20 # two at once\n\nhost-0002\nleaf-00[12]/2[3-6]\n",
        encoding="utf-8",
    )
    told = hold(run("rehearse", place, "--faults", faults, "--json", "--worst", "0").document, "rehearsal")
    names = {state["fault"] for state in told["worst"]}
    assert names == {"leaf-001/17", "leaf-001/18~spine-01/2 + leaf-002/20", "host-0002", "leaf-00[12]/2[3-6]"}
    host = next(state for state in told["worst"] if state["fault"] == "host-0002")
    assert (len(host["leave"]), host["lost_endpoints"]) == (8, 8)


@pytest.mark.parametrize(
    ("content", "where", "word"),
    [
        (b"leaf-001/17\n  leaf-009/1 spine-01\n", ":2:3", "leaf-009/1"),
        (b"", ":1:1", "no line names a fault"),
        (b"# nothing\n\n", ":1:1", "no line names a fault"),
        (b"leaf-001/\xff", "", "UTF-8"),
        (b"x" * 100_000, ":1:1", "nothing is called"),
        (b"\0\0\0\n", ":1:1", "nothing is called"),
        (b"*********\n", ":1:1", "nothing is called"),
    ],
)
def test_a_broken_file_of_faults(tmp_path: Path, content: bytes, where: str, word: str) -> None:
    faults = tmp_path / "faults.txt"
    faults.write_bytes(content)
    ran = run("rehearse", write_small(tmp_path, "infiniband"), "--faults", faults)
    assert ran.status == 1
    assert f"{faults}{where}" in ran.err
    assert word in ran.err
    assert "[artifact.faults-file]" in ran.err or not where


def test_a_million_wrong_lines_are_told_by_the_first(tmp_path: Path) -> None:
    faults = tmp_path / "faults.txt"
    faults.write_text("".join(f"leaf-9{at}/1\n" for at in range(1_000_000)), encoding="utf-8")
    ran = run("rehearse", write_small(tmp_path, "infiniband"), "--faults", faults)
    assert ran.status == 1
    assert "problems" in ran.err
    assert (
        "the lines after this one were not read"
        in run("rehearse", tmp_path / "infiniband.yaml", "--faults", faults, "--json").out
    )
    faults.write_text("leaf-001/17\n" * 1_000_001, encoding="utf-8")
    ran = run("rehearse", tmp_path / "infiniband.yaml", "--faults", faults)
    assert (ran.status, "at most 1,000,000 are read" in ran.err) == (1, True)


def test_words_that_mean_nothing_are_refused(tmp_path: Path) -> None:
    place = write_small(tmp_path, "infiniband")
    for word in ("nowhere", "pairs:", "pairs:x", "pairs:0", "groups", "pairs"):
        ran = run("rehearse", place, "--faults", word)
        assert (ran.status, "[usage.choice]" in ran.err) == (64, True), word
    assert run("rehearse", place, "--faults", "links", "--port", "leaf-001/1").status == 64


RISKS = """\
risks:
  - {name: conduit-a, links: ["leaf-00[12]/2[3-6]", leaf-001/21~spine-01/5]}
  - {name: feed-b, switches: [leaf-001]}
"""


def test_groups_of_shared_risk(tmp_path: Path) -> None:
    place = write_small(tmp_path, "infiniband", RISKS)
    told = hold(run("rehearse", place, "--faults", "groups", "--json").document, "rehearsal")
    assert {state["fault"]: len(state["leave"]) for state in told["worst"]} == {"conduit-a": 0, "feed-b": 16}
    digest = run("build", place, "--json").document["digest"]
    assert digest == run("build", write_small(tmp_path, "infiniband"), "--json").document["digest"]


def test_a_group_of_what_is_not_there_says_where(tmp_path: Path) -> None:
    place = write_small(tmp_path, "infiniband", RISKS.replace("switches: [leaf-001]", "switches: [leaf-001, spine-09]"))
    for verb in ("check", "rehearse"):
        ran = run(verb, place)
        assert ran.status == 1
        assert "[spec.risk-unknown]" in ran.err
        assert "spine-09" in ran.err
        assert f"{place}:23:" in ran.err
        assert "did you mean spine-01" in ran.err


def test_a_sample_of_pairs_is_the_same_for_the_same_seed(tmp_path: Path) -> None:
    place = write_small(tmp_path, "roce")
    one, same, other = (
        run("rehearse", place, "--faults", "pairs:25", "--seed", seed, "--json", "--worst", "0").out
        for seed in (1, 1, 2)
    )
    assert one == same != other


def test_ranks_of_several_jobs_and_tenants(tmp_path: Path) -> None:
    text = write_small(tmp_path, "infiniband").read_text(encoding="utf-8")
    job = text[text.index("  - name: tune") :]
    two = job.replace("data_parallel: 4", "data_parallel: 2")
    place = tmp_path / "two.yaml"
    tenants = "tenants:\n  - {name: red, hosts: 1-2}\n  - {name: blue, hosts: 3-4}\n"
    place.write_text(
        text.replace(job, "")
        + two.replace("name: tune", "name: a\n    hosts: 1-2")
        + two.replace("name: tune", "name: b\n    hosts: 3-4")
        + tenants,
        encoding="utf-8",
    )
    told = hold(run("rehearse", place, "--port", "host-0003/nic2", "--json").document, "rehearsal")
    state = told["worst"][0]
    assert (state["leave_of"], set(state["job_loss"])) == ({"b": [1]}, {"a", "b"})


def test_a_killed_run_goes_on_and_prints_the_same_bytes(tmp_path: Path) -> None:
    place = write_small(tmp_path, "infiniband")
    whole = start("rehearse", place, "--faults", "pairs:1500", "--json", "--worst", "0")
    states = next((tmp_path / ".weftline" / "infiniband" / "rehearsal").glob("*.state"))
    content = states.read_bytes()
    states.unlink()
    for _ in range(2):
        with subprocess.Popen(
            [*COMMAND, "rehearse", str(place), "--faults", "pairs:1500", "--json", "--worst", "0"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as running:
            time.sleep(1.5)
            running.send_signal(signal.SIGKILL)
    assert start("rehearse", place, "--faults", "pairs:1500", "--json", "--worst", "0").out == whole.out
    for damage in (content[: len(content) // 2], b"", content[:-1] + b"x", b"\x80" * 64):
        states.write_bytes(damage)
        assert run("rehearse", place, "--faults", "pairs:1500", "--json", "--worst", "0").out == whole.out
    assert run("rehearse", place, "--faults", "pairs:1500", "--json", "--worst", "0", "--anew").out == whole.out


def test_the_report_maps_what_each_link_costs_once_that_was_rehearsed(tmp_path: Path) -> None:
    place = write_small(tmp_path, "infiniband")
    report = tmp_path / ".weftline" / "infiniband" / "report.html"
    run("report", place)
    assert 'id="failures"' not in report.read_text(encoding="utf-8")
    run("rehearse", place)
    run("report", place)
    page = report.read_text(encoding="utf-8")
    assert 'id="failures"' in page
    assert "67 states: every single link and every single switch" in page
    failures = page[page.index('id="failures"') :]
    assert '<i class="load-0"></i>nothing' in failures
    assert '<i class="load-unknown"></i>not known' in failures
    assert "<h3>Worst states</h3>" in failures
    assert "<code>spine-01</code>" in failures
