"""Exit statuses and errors: 0 done, 1 your input, 2 the answer is no, 64 wrong usage; every failure with a code."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import write_small
from tests.cli.running import Ran, hold, refused, run
from weftline.app.explain import read_explanations

LONG = "x" * 300
USAGE: tuple[tuple[str, ...], ...] = (
    ("--json",),
    ("nothing", "--json"),
    ("check", "--json"),
    ("check", "PLACE", "PLACE", "--json"),
    ("check", "PLACE", "--bogus", "--json"),
    ("check", "a\0b", "--json"),
    ("trace", "PLACE", "host-0001", "--json"),
    ("trace", "PLACE", "host-0001", "host-0002", "--seed", "-1", "--json"),
    ("trace", "PLACE", "host-0001", "host-0002", "--seed", str(2**70), "--json"),
    ("simulate", "PLACE", "--seed", "-1", "--json"),
    ("simulate", "PLACE", "--seed", str(2**32), "--json"),
    ("simulate", "PLACE", "--seed", "one", "--json"),
    ("simulate", "PLACE", "--ranks", "0", "--json"),
    ("simulate", "PLACE", "--ranks", "-8", "--json"),
    ("simulate", "PLACE", "--ranks", "1.5", "--json"),
    ("simulate", "PLACE", "--latency-us", "soon", "--json"),
    ("up", "PLACE", "--out", "a\0b", "--json"),
)
SIZES = ("junk", "", "-1", "0", "1e3", "64 MiBs", "8EiB", "1025PiB", "9" * 30, "9" * 5000, "MiB", "0.1B", "nan", "inf")
WORDS = (("--collective", "reduce"), ("--algorithm", "rings"), ("--placement", "worst"), ("--placement", ""))


def fill(arguments: tuple[str, ...], place: Path) -> list[str]:
    return [str(place) if word == "PLACE" else word for word in arguments]


@pytest.mark.parametrize("arguments", USAGE, ids=lambda arguments: " ".join(arguments)[:50].replace("\0", "0"))
def test_wrong_usage(arguments: tuple[str, ...], places: Path) -> None:
    error = refused(run(*fill(arguments, places / "roce.yaml")), 64, "usage.command")
    assert "\n" not in error["message"]
    verb = arguments[0] if arguments[0] in {"check", "trace", "simulate", "up"} else ""
    assert error["hint"] == f"see weftline {verb} --help".replace("  ", " ")


@pytest.mark.parametrize("size", SIZES, ids=lambda size: size[:12])
def test_wrong_sizes(size: str, places: Path) -> None:
    refused(run("simulate", places / "roce.yaml", "--size", size, "--json"), 64, "usage.size")


@pytest.mark.parametrize(("option", "word"), WORDS)
def test_wrong_words(option: str, word: str, places: Path) -> None:
    refused(run("simulate", places / "roce.yaml", option, word, "--json"), 64, "usage.choice")


@pytest.mark.parametrize("latency", ["nan", "inf", "-inf", "-1", "-0.001", "1e10", "1e308", "1e400"])
def test_wrong_latencies(latency: str, places: Path) -> None:
    refused(run("simulate", places / "roce.yaml", "--latency-us", latency, "--json"), 1, "spec.simulation-options")


@pytest.mark.parametrize("ranks", [33, 100_000, 2**70])
def test_more_ranks_than_nics(ranks: int, places: Path) -> None:
    refused(run("simulate", places / "roce.yaml", "--ranks", ranks, "--json"), 1, "spec.too-many-ranks")


@pytest.mark.parametrize("collective", ["all-reduce", "all-gather", "reduce-scatter", "all-to-all", "permutation"])
def test_one_rank_sends_nothing(collective: str, places: Path) -> None:
    ran = run("simulate", places / "roce.yaml", "--ranks", 1, "--collective", collective, "--json")
    document = hold(ran.document, "simulation")
    assert (ran.status, document["flows"], document["finish_us"], document["busbw_GBps"]) == (0, 0, 0, None)


@pytest.mark.parametrize("size", ["1B", "3", "1024PiB"])
@pytest.mark.parametrize("latency", ["0", "1e9"])
def test_extreme_but_allowed(size: str, latency: str, places: Path) -> None:
    ran = run("simulate", places / "roce.yaml", "--size", size, "--latency-us", latency, "--json")
    assert ran.status == 0
    assert ran.document["finish_us"] >= ran.document["bound_low_us"] * (1 - 1e-9)


def test_no_arguments_print_the_help() -> None:
    ran = run()
    assert ran.status == 64
    assert "Usage: weftline" in ran.out


def test_version() -> None:
    ran = run("--version")
    assert (ran.status, ran.err) == (0, "")
    assert ran.out.startswith("weftline ")


@pytest.mark.parametrize("code", ["", "x", "spec.unknwon-key", "x" * 100_000])
def test_unknown_codes(code: str) -> None:
    error = refused(run("explain", code, "--json"), 64, "usage.unknown-code")
    assert len(error["message"]) < 200
    assert ("spec.unknown-key" in error["hint"]) or not code.startswith("spec")


def test_every_code_is_explained_on_the_command_line() -> None:
    for code in sorted(read_explanations()):
        ran = run("explain", code)
        assert (ran.status, ran.err) == (0, "")
        assert ran.out.startswith(f"{code}\n")


MISSING = ("nothere.yaml", "-", "", ".", "/", "infiniband.yaml/x", "/dev/null/x", "~nobody/x.yaml")


@pytest.mark.parametrize("place", MISSING)
def test_no_place(place: str, small: Path) -> None:
    refused(run("check", place, "--json", cwd=small.parent), 1, "artifact.no-place")


@pytest.mark.parametrize("verb", ["check", "build", "cables", "route", "prove", "render", "simulate", "report", "up"])
def test_every_verb_refuses_what_is_not_there(verb: str) -> None:
    refused(run(verb, "nothere.yaml", "--json"), 1, "artifact.no-place")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("check", LONG), "artifact.unreadable"),
        (("check", "x" * 5000), "artifact.unreadable"),
        (("check", "/dev/zero"), "spec.unreadable-file"),
        (("check", "/proc/self/mem"), "spec.unreadable-file"),
        (("init", LONG), "artifact.unreadable"),
        (("init", "roce.yaml"), "artifact.exists"),
        (("init", "."), "artifact.exists"),
        (("init", ".", "--force"), "artifact.unwritable"),
        (("init", "roce.yaml/x.yaml"), "artifact.unwritable"),
        (("init", "/proc/x.yaml"), "artifact.unwritable"),
        (("trace", "roce.yaml", "host-0001", "host-9999"), "spec.unknown-endpoint"),
        (("trace", "roce.yaml", "", "host-0001"), "spec.unknown-endpoint"),
        (("trace", "roce.yaml", "x" * 100_000, "host-0001"), "spec.unknown-endpoint"),
        (("adopt", "nothere"), "artifact.no-place"),
        (("adopt", "."), "artifact.unreadable"),
        (("adopt", LONG), "artifact.unreadable"),
        (("adopt", "roce.yaml"), "artifact.not-a-dump"),
        (("adopt", "roce.yaml", "--tables", "nothere"), "artifact.not-a-dump"),
        (("diff", "roce.yaml", "nothere"), "artifact.no-place"),
        (("diff", ".", "roce.yaml"), "artifact.no-place"),
        (("diff", "roce.yaml", LONG), "artifact.unreadable"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value)[:50],  # pyright: ignore[reportUnknownArgumentType]
)
def test_bad_input(arguments: tuple[str, ...], code: str, places: Path) -> None:
    refused(run(*arguments, "--json", cwd=places), 1, code)


def test_a_link_to_itself(tmp_path: Path) -> None:
    (tmp_path / "loop.yaml").symlink_to("loop.yaml")
    refused(run("check", tmp_path / "loop.yaml", "--json"), 1, "artifact.unreadable")


@pytest.mark.parametrize("verb", ["cables", "render", "report", "up"])
@pytest.mark.parametrize("out", ["roce.yaml", "/proc/nowhere", LONG])
def test_out_that_cannot_be_written(verb: str, out: str, places: Path) -> None:
    refused(run(verb, "roce.yaml", "--out", out, "--json", cwd=places), 1, "artifact.unwritable")


CABLING = "topology:\n  kind: cabling\n  cabling: {}\n"


@pytest.mark.parametrize(
    ("content", "code"),
    [(None, "artifact.no-place"), (b"\xff\xfe\x00", "artifact.not-text"), (b"\0" * (41 << 20), "artifact.too-large")],
    ids=["absent", "binary", "large"],
)
def test_cabling_lists(content: bytes | None, code: str, tmp_path: Path) -> None:
    place = write_small(tmp_path, "roce")
    text = place.read_text(encoding="utf-8").replace("topology:\n  kind: fat-tree\n", CABLING.format("list.csv"))
    place.write_text(text, encoding="utf-8")
    if content is not None:
        (tmp_path / "list.csv").write_bytes(content)
    error = refused(run("build", place, "--json"), 1, code)
    assert (error["where"]["file"], error["where"]["path"]) == (str(place), "topology.cabling")
    assert str(tmp_path / "list.csv") in error["message"]


def refuted(folder: Path) -> Path:
    """Write a declaration whose balance is 2 where 1 is allowed."""
    more = "claims:\n  required: [reach, deadlock, balance]\n  balance_threshold: 1.0\n"
    place = write_small(folder, "infiniband", more)
    text = place.read_text(encoding="utf-8").replace("kind: fat-tree", "kind: fat-tree\n  oversubscription: 2.0")
    place.write_text(text, encoding="utf-8")
    return place


def test_a_refuted_claim(tmp_path: Path) -> None:
    place = refuted(tmp_path)
    ran = run("prove", place, "--json")
    balance = {proof["claim"]: proof for proof in hold(ran.document, "proof-report")["proofs"]}["balance"]
    assert (ran.status, balance["verdict"], balance["bound"]) == (2, "refuted", 2)
    assert run("route", place).status == run("simulate", place).status == 0


def test_nothing_is_rendered_from_a_refuted_claim(tmp_path: Path) -> None:
    place = refuted(tmp_path)
    ran = run("render", place, "--json")
    assert (ran.status, hold(ran.document, "artifacts")["written"]) == (2, False)
    up = run("up", place, "--json")
    assert (up.status, hold(up.document, "up")["artifacts"]) == (2, [])
    folder = tmp_path / ".weftline" / "infiniband"
    assert [path.name for path in folder.iterdir()] == ["report.html"]
    forced = run("render", place, "--force", "--json")
    assert (forced.status, forced.document["written"], forced.document["forced"]) == (0, True, True)
    assert run("report", place).status == 2


def test_a_difference(places: Path, tmp_path: Path) -> None:
    other = write_small(tmp_path, "infiniband")
    text = other.read_text(encoding="utf-8").replace("count: 4", "count: 3").replace("parallel: 4", "parallel: 3")
    other.write_text(text, encoding="utf-8")
    ran = run("diff", places / "infiniband.yaml", other, "--json")
    document = hold(ran.document, "diff")
    assert (ran.status, document["same"]) == (2, False)
    assert {difference["kind"] for difference in document["differences"]} == {"missing-node"}


def test_errors_without_json_leave_stdout_empty(places: Path) -> None:
    for arguments in (
        ("check", "nothere"),
        ("simulate", "roce.yaml", "--size", "x"),
        ("adopt", "roce.yaml"),
        ("nope",),
    ):
        ran: Ran = run(*arguments, cwd=places)
        assert ran.out == ""
        assert "\nerror: " in f"\n{ran.err}"
        assert "hint: " in ran.err


def test_every_problem_at_once(tmp_path: Path) -> None:
    place = write_small(tmp_path, "roce")
    text = place.read_text(encoding="utf-8").replace("count: 4", "cuont: 4").replace("gpus: 8", "gpus: many")
    place.write_text(text, encoding="utf-8")
    ran = run("check", place)
    assert ran.status == 1
    assert ran.err.count("error: ") == 2
    assert f"error: {place}:5:3: " in ran.err
    document = hold(run("check", place, "--json").document, "error")
    assert len(document["problems"]) == document["problem_count"] == 2
