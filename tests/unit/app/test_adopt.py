"""Several table files are read as one, and their problems keep file and line."""

from __future__ import annotations

import shutil
from pathlib import Path

from weftline.app.adopt import adopt

EXAMPLES = Path(__file__).parents[3] / "examples"


def test_a_problem_of_the_second_file_names_its_line(tmp_path: Path) -> None:
    dump = shutil.copy(EXAMPLES / "lab-8.topo", tmp_path / "lab-8.topo")
    lines = (EXAMPLES / "lab-8.lft").read_text(encoding="utf-8").splitlines(keepends=True)
    starts = [at for at, line in enumerate(lines) if line.startswith("Unicast lids")]
    first, second = tmp_path / "first.lft", tmp_path / "second.lft"
    first.write_text("".join(lines[: starts[3]]), encoding="utf-8")
    second.write_text("".join(lines[starts[3] :]) + "0xzzzz 001\n", encoding="utf-8")
    judged = adopt(Path(dump), (first, second), "auto")
    whole = adopt(Path(dump), (EXAMPLES / "lab-8.lft",), "auto")
    assert judged.routes.digest == whole.routes.digest
    bad = [problem for problem in judged.problems if problem.where and problem.where.file == str(second)]
    assert [problem.where.line for problem in bad if problem.where] == [len(lines) - starts[3] + 1]
