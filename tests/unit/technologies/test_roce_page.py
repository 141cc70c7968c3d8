"""The page on classes says what the code does."""

from __future__ import annotations

from pathlib import Path

from tests.fabrics import make_design
from weftline.technologies.roce.classes import make_queues, traffic_class_byte
from weftline.vendors import VENDORS

PAGE = Path(__file__).parents[3] / "docs" / "concepts" / "one-intent.md"


def read_rows(head: str) -> list[list[str]]:
    """Read the table of a page that begins with a head."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    start = next(place for place, line in enumerate(lines) if line.startswith(f"| {head} |")) + 2
    rows: list[list[str]] = []
    for line in lines[start:]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


def test_the_table_of_classes_is_that_of_the_code() -> None:
    classes = {one.name: one for one in make_queues(make_design(technology="roce").spec).classes}
    rows = read_rows("class")
    assert {row[0] for row in rows} == set(classes)
    for name, dscp, key, group, queue, pauses, schedule, share, marks in rows:
        one = classes[name]
        assert dscp == ("all others" if name == "rest" else str(one.dscps[0]))
        assert (key, group, queue) == (str(one.key), str(one.group), str(one.queue))
        assert pauses == ("no" if one.priority is None else str(one.priority))
        assert schedule == one.schedule
        assert share == ("" if one.weight is None else str(one.weight))
        said = "no" if one.mark_min_bytes is None else f"{one.mark_min_bytes:,} to {one.mark_max_bytes:,}"
        assert marks == said


def test_the_byte_and_the_tables_are_named_as_they_are() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert f"the byte {traffic_class_byte(make_design(technology='roce').spec)}:" in text
    assert VENDORS["sonic"].change is not None
