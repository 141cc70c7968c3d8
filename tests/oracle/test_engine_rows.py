"""The table of OpenSM's engines is written as it was found, and that of the reference tells of no disagreement."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.oracle import ibdmchk
from tests.oracle.engine_rows import BEGIN, END, Row, agrees, fill_page, name_fabric

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "opensm-engines.md"
ROW = Row("nmorey_ibutils/ibdm_Clusters_X.topo", 4, 8, "ftree", "minhop", "one", 0, True, 0.5, 0, True, 1.25)


def test_rows_replace_what_stood_between_the_marks() -> None:
    page = f"before\n{BEGIN}\nold\n{END}\nafter\n"
    other = replace(ROW, engine="dfsssp", programmed="dfsssp", lanes="each", our_loop=False)
    filled = fill_page(page, (other, ROW))
    assert filled.startswith(
        f"before\n{BEGIN}\n\n2 tables on 1 fabrics: both checkers say the same of 1, and not the same"
    )
    assert filled.endswith(f"\n{END}\nafter\n")
    assert "\nold\n" not in filled
    assert filled.splitlines()[-5:-3] == [
        "| ibdm X | 4 | 8 | ftree, gave up: minhop | credit loop | credit loop | 0.50 | 1.25 |",
        "| ibdm X | 4 | 8 | dfsssp, by lane | no loop | credit loop | 0.50 | 1.25 |",
    ]
    assert fill_page(filled, (other, ROW)) == filled


def test_loops_are_compared_where_no_path_is_lost() -> None:
    assert agrees(ROW)
    assert agrees(replace(ROW, our_lost=3, their_lost=3, their_loop=None))
    assert not agrees(replace(ROW, our_lost=3, their_lost=4, their_loop=None))
    assert not agrees(replace(ROW, our_loop=False))
    assert agrees(replace(ROW, their_lost=None, their_loop=None, their_cpu_s=None)) is None


def test_the_reference_tells_of_no_disagreement() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert "and not the same of 0;" in text
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| ") and " | " in line][1:]
    assert len(rows) > 150
    assert all(row[4] == row[5] or row[5] == "not done" for row in rows)
    assert ["582", "minhop", "credit loop", "credit loop"] in [row[2:6] for row in rows]


def test_a_fabric_is_called_what_its_authors_call_it() -> None:
    assert name_fabric("ibsim/net-examples_net.1") == "ibsim net.1"
    assert name_fabric("nmorey_ibutils/ibmgtsim_tests_IS1-16.topo") == "ibmgtsim IS1-16"
    assert name_fabric("a ring of five") == "a ring of five"


def test_what_ibdmchk_says_is_read_and_what_it_did_not_say_is_unknown() -> None:
    scanned = "-I- Scanned:6 CA to CA paths \n"
    good = ibdmchk.read(f"{scanned}-I- no credit loops found", 1.0)
    assert good is not None
    assert (good.paths, good.lost, good.has_loop) == (6, 0, False)
    bad = ibdmchk.read(f"{scanned}-E- credit loops in routing\n", 1.0)
    assert bad is not None
    assert bad.has_loop is True
    lossy = ibdmchk.read("-E- Found 2 missing paths out of:6 paths\n", 1.0)
    assert lossy is not None
    assert (lossy.lost, lossy.has_loop) == (2, None)
    assert ibdmchk.read(scanned, 1.0) is None
    assert ibdmchk.read("", 1.0) is None
