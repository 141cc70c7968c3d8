"""What ``make oracle`` finds, row by row, and the page of the reference that it writes of it.

A test keeps a row for each engine on each fabric in the file that WEFTLINE_ORACLE_ROWS names. ``python -m
tests.oracle.engine_rows ROWS PAGE`` puts their table into the page, between its two marks.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

BEGIN, END = "<!-- begin: written by make oracle -->", "<!-- end: written by make oracle -->"
ORDER = ("minhop", "updn", "ftree", "dfsssp")
HEADS = ("fabric", "switches", "adapters", "engine", "Weftline", "ibdmchk", "Weftline, s", "ibdmchk, s")
TOOLS = {"ibmgtsim_tests_": "ibmgtsim", "ibdm_Clusters_": "ibdm", "ibdiag_demo_": "ibdiag", "net-examples_": "ibsim"}
NAMED = {
    "tests_output_ibnetdiscover_example": "DGX cluster, NDR dump",
    "plugins_UFM_NDT_Plugin_tests_positive_flow_ibnetdiscover_ibnetdiscover_director": "directors, HDR dump",
    "tests_2": "ibtopotool 2",
}


@dataclass(frozen=True)
class Row:
    """One engine on one fabric; losses are ordered pairs of adapters, loops None where none was looked for."""

    fabric: str
    switches: int
    adapters: int
    engine: str
    programmed: str
    """The engine whose tables OpenSM really programmed."""
    lanes: str
    """``one`` lane for all, or ``each`` by the service level of the path."""
    our_lost: int
    our_loop: bool | None
    our_cpu_s: float
    their_lost: int | None
    """None where ibdmchk was not done within its bounds."""
    their_loop: bool | None
    their_cpu_s: float | None


def keep(row: Row) -> None:
    """Add a row to the file of rows, where one is wanted."""
    path = os.environ.get("WEFTLINE_ORACLE_ROWS")
    if path:
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(row)) + "\n")


def name_fabric(path: str) -> str:
    """Shorten the path of a corpus file to what its authors call it."""
    name = path.rpartition("/")[2]
    stem = name.removesuffix(".topo").removesuffix(".out").removesuffix(".txt")
    if stem in NAMED:
        return NAMED[stem]
    prefix = next((prefix for prefix in TOOLS if stem.startswith(prefix)), "")
    return f"{TOOLS[prefix]} {stem.removeprefix(prefix)}" if prefix else stem


def tell(lost: int | None, loop: bool | None) -> str:
    """Say a verdict in a few words."""
    if lost is None:
        return "not done"
    if lost:
        return f"{lost:,} pairs lost"
    return "credit loop" if loop else "no loop"


def agrees(row: Row) -> bool | None:
    """Tell whether both say the same; None where ibdmchk says nothing."""
    if row.their_lost is None:
        return None
    return (row.our_lost, row.our_loop if not row.our_lost else None) == (row.their_lost, row.their_loop)


def write_table(rows: Iterable[Row]) -> list[str]:
    """Write what was found as lines of Markdown: a summary, then a row for each engine on each fabric."""
    ordered = sorted(rows, key=lambda row: (-row.adapters, row.fabric, ORDER.index(row.engine), row.lanes != "one"))
    told = [agrees(row) for row in ordered]
    fabrics = len({row.fabric for row in ordered})
    loops = sum(row.our_loop is True and not row.our_lost for row in ordered)
    summary = f"{len(ordered)} tables on {fabrics} fabrics: both checkers say the same of {told.count(True)}, and not "
    summary += (
        f"the same of {told.count(False)}; on {told.count(None)} ibdmchk was not done within its bounds. {loops} "
    )
    summary += "hold a credit loop. Seconds are processor time."
    lines = [
        summary,
        "",
        f"| {' | '.join(HEADS)} |",
        f"|{'---|' * len(HEADS)}",
    ]
    for row in ordered:
        engine = row.engine if row.programmed == row.engine else f"{row.engine}, gave up: {row.programmed}"
        engine += ", by lane" if row.lanes != "one" else ""
        theirs = "" if row.their_cpu_s is None else f"{row.their_cpu_s:.2f}"
        cells = (
            name_fabric(row.fabric), f"{row.switches:,}", f"{row.adapters:,}", engine, tell(row.our_lost, row.our_loop),
            tell(row.their_lost, row.their_loop), f"{row.our_cpu_s:.2f}", theirs,
        )  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def fill_page(page: str, rows: Iterable[Row]) -> str:
    """Put the table between the marks of a page."""
    head, mark, rest = page.partition(BEGIN)
    old, end, tail = rest.partition(END)
    if not mark or not end:
        sys.exit("the page has no marks for the table")
    del old
    return "\n".join((f"{head}{BEGIN}", "", *write_table(rows), "", f"{END}{tail}"))


def main() -> None:
    """Write the rows of a file into a page."""
    rows = [Row(**json.loads(line)) for line in Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()]
    page = Path(sys.argv[2])
    page.write_text(fill_page(page.read_text(encoding="utf-8"), rows), encoding="utf-8")
    sys.stderr.write(f"{len(rows)} rows written to {page}\n")


if __name__ == "__main__":
    main()
