from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.properties.broken import BASE
from weftline.declare import Declaration, parse_spec, read_spec
from weftline.declare.read import MAX_FILE_BYTES
from weftline.errors import Problem


def read(text: str | bytes) -> Declaration | tuple[Problem, ...]:
    return parse_spec(text.encode() if isinstance(text, str) else text, Path("f.yaml"))


def problems(text: str | bytes) -> tuple[Problem, ...]:
    found = read(text)
    assert isinstance(found, tuple)
    return found


def whole(text: str | bytes) -> Declaration:
    found = read(text)
    assert isinstance(found, Declaration), found
    return found


def test_reads_a_file(tmp_path: Path) -> None:
    file = tmp_path / "fabric.yaml"
    file.write_text(BASE, encoding="utf-8")
    found = read_spec(file)
    assert isinstance(found, Declaration)
    assert found.path == file
    assert found.file == str(file)
    assert found.spec.hosts.count == 64
    assert found.places.value("hosts", "count").line == 5


def test_a_missing_file(tmp_path: Path) -> None:
    found = read_spec(tmp_path / "nothing.yaml")
    assert isinstance(found, tuple)
    assert [problem.code for problem in found] == ["spec.unreadable-file"]
    assert "weftline init" in found[0].hint


def test_a_folder(tmp_path: Path) -> None:
    found = read_spec(tmp_path)
    assert isinstance(found, tuple)
    assert "a folder" in found[0].message


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    found = read_spec(pipe)
    assert isinstance(found, tuple)
    assert "no ordinary file" in found[0].message


def test_a_name_that_no_file_can_have() -> None:
    for name in ("a\0b", "x" * 5000):
        found = read_spec(Path(name))
        assert isinstance(found, tuple)
        assert found[0].code == "spec.unreadable-file"


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "secret.yaml"
    file.write_text(BASE, encoding="utf-8")

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    found = read_spec(file)
    assert isinstance(found, tuple)
    assert found[0].code == "spec.unreadable-file"
    assert "Permission denied" in found[0].message


def test_a_large_file() -> None:
    assert [problem.code for problem in problems(b"#" * (MAX_FILE_BYTES + 1))] == ["spec.file-too-large"]


def test_the_place_of_a_wrong_byte() -> None:
    (problem,) = problems(b"fabric:\n  name: a\xff\n")
    assert problem.code == "spec.not-text"
    assert str(problem.where) == "f.yaml:2:10"


def test_byte_order_mark_and_line_ends_do_not_matter() -> None:
    plain = whole(BASE)
    for text in (b"\xef\xbb\xbf" + BASE.encode(), BASE.replace("\n", "\r\n").encode(), (BASE + "# end").encode()):
        assert whole(text).canonical == plain.canonical


def test_order_of_keys_comments_and_defaults_do_not_matter() -> None:
    other = "\n".join(["# a comment", *BASE.splitlines()[2:], "fabric: {'name': \"broken\"}", "policy: {}"])
    assert whole(other).canonical == whole(BASE).canonical


def test_a_change_matters() -> None:
    assert whole(BASE.replace("unit_size: 32", "unit_size: 16", 1)).canonical != whole(BASE).canonical


def test_all_problems_at_once_in_the_order_of_the_file() -> None:
    text = (
        BASE.replace("count: 64", "cout: 64")
        .replace("kind: rail-optimised", "kind: tree")
        .replace("utilisation: 0.4", "utilisation: 4")
    )
    found = problems(text)
    assert [problem.code for problem in found] == ["spec.unknown-key", "spec.wrong-value", "spec.out-of-range"]
    lines = [problem.where.line for problem in found if problem.where]
    assert lines == sorted(line for line in lines if line is not None)


def test_a_wrong_section_does_not_hide_contradictions_elsewhere() -> None:
    text = BASE.replace("kind: rail-optimised", "kind: tree").replace("hosts: 33-64", "hosts: 32-64")
    assert {problem.code for problem in problems(text)} == {"spec.wrong-value", "spec.tenant-overlap"}


def test_a_wrong_item_does_not_hide_the_others() -> None:
    text = BASE.replace("name: one", "nme: one").replace("hosts: 33-64", "hosts: 33-99")
    assert {problem.code for problem in problems(text)} == {"spec.unknown-key", "spec.host-range"}


def test_nothing_more_is_said_about_what_could_not_be_read() -> None:
    assert [problem.code for problem in problems(BASE.replace("count: 64", "count: 1e999"))] == ["spec.number"]


def test_a_host_may_be_a_plain_number() -> None:
    spec = whole(BASE.replace("hosts: 33-64", "hosts: 33")).spec
    assert spec.tenants[1].hosts == "33"


def test_true_is_no_number() -> None:
    (problem,) = problems(BASE.replace("count: 64", "count: true"))
    assert problem.message == "hosts.count must be a whole number, not true"


def test_many_equal_faults_are_capped() -> None:
    found = problems(BASE + "".join(f"key{number}: 1\n" for number in range(2000)))
    assert len(found) == 51
    assert found[-1].code == "spec.more-problems"


@pytest.mark.parametrize("text", ["3", "[]", "text", "- a"])
def test_the_document_is_a_section(text: str) -> None:
    (problem,) = problems(text)
    assert problem.code == "spec.wrong-type"
    assert "fabric" in problem.hint


def test_an_empty_job_list_is_fine() -> None:
    assert whole(BASE.split("jobs:", maxsplit=1)[0] + "jobs: []\n").spec.jobs == ()


def test_management_prefixes() -> None:
    assert whole(BASE + "site: {management: [10.0.0.0/8, 'fd00::/48', 10.1.2.3]}\n")
    (problem,) = problems(BASE + "site: {management: [10.0.0.9/8]}\n")
    assert "10.0.0.0/8" in problem.hint
