"""The JSON of every verb keeps its contract: the fields that others read are there and mean what they say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from tests.cli.conftest import TECHNOLOGIES
from tests.cli.running import SCHEMAS, Ran, hold, refused, run
from weftline.cli.verbs import list_verbs

SIMPLE = {
    "check": "check",
    "build": "fabric",
    "cables": "cabling",
    "route": "routes",
    "prove": "proof-report",
    "simulate": "simulation",
    "balance": "balance",
}
ELSEWHERE = {
    "init",
    "rehearse",
    "trace",
    "render",
    "adopt",
    "audit-fabric",
    "diff",
    "lint",
    "order",
    "report",
    "up",
    "explain",
    "schema",
}
LAB = Path(__file__).parents[1] / "golden" / "cases" / "adopt-lab" / "input"


def test_every_verb_is_held() -> None:
    assert set(SIMPLE) | ELSEWHERE == set(list_verbs())


@pytest.mark.parametrize("path", sorted(SCHEMAS.glob("*.json")), ids=lambda path: path.stem)
def test_schemas_are_schemas(path: Path) -> None:
    Draft202012Validator.check_schema(json.loads(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("technology", TECHNOLOGIES)
@pytest.mark.parametrize("verb", SIMPLE)
def test_documents(verb: str, technology: str, places: Path) -> None:
    ran = run(verb, places / f"{technology}.yaml", "--json")
    assert ran.status == 0
    hold(ran.document, SIMPLE[verb])


@pytest.mark.parametrize("technology", TECHNOLOGIES)
def test_parameters(technology: str, places: Path, tmp_path: Path) -> None:
    place = places / f"{technology}.yaml"
    ran = run("simulate", place, "--parameters", "--json")
    assert ran.status == 0
    own = hold(ran.document, "parameters")
    assert own["of"] == run("route", place, "--json").document["digest"]
    assert run("render", place, "--out", tmp_path, "--quiet").status == 0
    read = run("simulate", place, "--parameters", "--files", tmp_path / "artifacts", "--json").document
    figures = ("group", "name", "value", "unit", "holds", "origin")
    assert [[row[key] for key in figures] for row in read["parameters"]] == [
        [row[key] for key in figures] for row in own["parameters"]
    ]


@pytest.mark.parametrize("technology", TECHNOLOGIES)
def test_build_counts(technology: str, places: Path) -> None:
    fabric = run("build", places / f"{technology}.yaml", "--json").document
    assert (fabric["hosts"], fabric["gpus"], fabric["endpoints"], fabric["extra_endpoints"]) == (4, 32, 32, 0)
    assert fabric["switches"] == {"leaf": 2, "spine": 1, "core": 0}
    assert fabric["cables"] == {"host_leaf": 32, "leaf_spine": 32, "spine_core": 0}
    assert fabric["links"] == 64


def test_cables_are_as_many_as_links(places: Path, tmp_path: Path) -> None:
    printed = run("cables", places / "roce.yaml", "--json").document
    written = hold(run("cables", places / "roce.yaml", "--json", "--out", tmp_path).document, "cabling")
    lines = printed["csv"].splitlines()
    assert len(lines) == printed["links"] + 1 == 65
    assert lines[0].split(",") == printed["columns"]
    assert written["csv"] is None
    assert Path(written["path"]).read_text(encoding="utf-8") == printed["csv"]
    assert run("cables", places / "roce.yaml").out == printed["csv"]


@pytest.mark.parametrize("technology", TECHNOLOGIES)
def test_trace(technology: str, places: Path) -> None:
    path = hold(run("trace", places / f"{technology}.yaml", "host-0001", "host-0004/nic3", "--json").document, "path")
    nodes = [hop["node"] for hop in path["hops"]]
    assert (nodes[0], nodes[1], nodes[3], nodes[4]) == ("host-0001", "leaf-001", "leaf-002", "host-0004")
    assert path["hops"][0]["in_port"] is None
    assert path["hops"][-1] | {"out_port": None} == path["hops"][-1]
    assert all(hop["in_port"] and hop["out_port"] for hop in path["hops"][1:-1])


@pytest.mark.parametrize("technology", TECHNOLOGIES)
def test_up_gathers_what_the_stages_say(technology: str, places: Path, raised: dict[str, tuple[Path, Ran]]) -> None:
    out, ran = raised[technology]
    assert ran.status == 0, ran.err
    document = hold(ran.document, "up")
    place = places / f"{technology}.yaml"
    assert document["fabric"] == run("build", place, "--json").document
    assert document["routes"] == run("route", place, "--json").document
    assert document["proofs"] == run("prove", place, "--json").document["proofs"]
    assert document["simulation"] == run("simulate", place, "--json").document
    assert document["report"] == str(out / "report.html")
    files = {
        path.relative_to(out / "artifacts").as_posix() for path in (out / "artifacts").rglob("*") if path.is_file()
    }
    assert {artifact["path"] for artifact in document["artifacts"]} == files - {"manifest.json"}


@pytest.mark.parametrize("technology", TECHNOLOGIES)
def test_chain_of_digests(technology: str, raised: dict[str, tuple[Path, Ran]]) -> None:
    document = raised[technology][1].document
    assert document["routes"]["of"] == document["fabric"]["digest"]
    assert document["simulation"]["of"] == document["routes"]["digest"]


def test_render(places: Path, tmp_path: Path) -> None:
    document = hold(run("render", places / "roce.yaml", "--out", tmp_path, "--json").document, "artifacts")
    assert document["written"]
    for artifact in document["artifacts"]:
        assert (tmp_path / "artifacts" / artifact["path"]).stat().st_size == artifact["bytes"]


def test_report(places: Path, tmp_path: Path) -> None:
    document = hold(run("report", places / "roce.yaml", "--out", tmp_path, "--json").document, "report")
    assert Path(document["report"]).read_text(encoding="utf-8").startswith("<!doctype html>")
    assert not (tmp_path / "artifacts").exists()


@pytest.mark.parametrize("kind", ["rail-optimised", "dragonfly", "dragonfly-plus", "torus"])
def test_init(kind: str, tmp_path: Path) -> None:
    document = hold(run("init", tmp_path / "new" / "first.yaml", "--kind", kind, "--json").document, "starter")
    checked = run("check", document["declaration"], "--json")
    assert (checked.status, checked.document["problems"]) == (0, [])
    assert run("prove", document["declaration"], "--quiet").status == 0


def test_init_refuses_a_kind_without_a_starter(tmp_path: Path) -> None:
    ran = run("init", tmp_path / "first.yaml", "--kind", "moebius")
    assert ran.status == 64
    assert "[usage.choice]" in ran.err
    assert "choose rail-optimised, dragonfly, dragonfly-plus, torus" in ran.err
    assert not (tmp_path / "first.yaml").exists()


def test_explain_and_schema() -> None:
    hold(run("explain", "spec.unknown-key", "--json").document, "explanation")
    for arguments in (("schema",), ("schema", "--json")):
        Draft202012Validator.check_schema(run(*arguments).document)


@pytest.mark.parametrize("tables", [(), ("dump_fts.txt",), ("opensm-lfts.dump",)], ids=str)
def test_adopt(tables: tuple[str, ...]) -> None:
    options = [word for name in tables for word in ("--tables", LAB / name)]
    ran = run("adopt", LAB / "ibnetdiscover.txt", *options, "--json")
    document = hold(ran.document, "adoption")
    assert document["tables"] == ("programmed" if tables else "computed")
    is_bad = any(problem["severity"] == "error" for problem in document["problems"]) or any(
        proof["required"] and proof["verdict"] != "proved" for proof in document["proofs"]
    )
    assert ran.status == (2 if is_bad else 0)


def test_adopt_with_faults() -> None:
    ran = run("adopt", LAB.parents[1] / "adopt-faults" / "input" / "ibnetdiscover.txt", "--json")
    document = hold(ran.document, "adoption")
    assert ran.status == 2
    assert {problem["severity"] for problem in document["problems"]} >= {"error"}
    assert all(problem["where"]["line"] for problem in document["problems"] if problem["severity"] == "error")


def test_diff(places: Path) -> None:
    same = run("diff", places / "roce.yaml", places / "roce.yaml", "--json")
    assert same.status == 0
    assert hold(same.document, "diff")["same"]
    other = run("diff", places / "roce.yaml", places / "infiniband.yaml", "--json")
    assert hold(other.document, "diff")["same"] == (other.status == 0)


def test_simulation_takes_options(places: Path) -> None:
    options = ("--collective", "all-gather", "--algorithm", "ring", "--size", "64MiB", "--ranks", 16, "--seed", 7)
    ran = run("simulate", places / "roce.yaml", *options, "--placement", "random", "--latency-us", 5, "--json")
    document = hold(ran.document, "simulation")
    assert document["collective"] == {"kind": "all-gather", "algorithm": "ring", "size_bytes": 2**26, "ranks": 16}
    assert document["placement"] == {"order": "random", "seed": 7}
    assert document["finish_us"] >= document["bound_low_us"] > 15 * 5


def test_balance_takes_shifts_by_number_and_repeats_itself(places: Path) -> None:
    place = places / "roce.yaml"
    arguments = ("balance", place, "--shifts", "5", "--permutations", "3", "--seed", "7", "--json")
    document = hold(run(*arguments).document, "balance")
    shifts, permutations, *_ = document["families"]
    assert (shifts["name"], shifts["judged"], permutations["judged"]) == ("shifts", 5, 3)
    assert run(*arguments).out == run(*arguments).out
    assert run("balance", place, "--shifts", "all", "--permutations", "0").status == 0
    refused(run("balance", place, "--shifts", "some", "--json"), 64, "usage.shifts")
