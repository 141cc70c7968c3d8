"""Fail if tests that read the corpus were skipped although it is there: check_skips.py JUNIT_XML."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree as ET

CORPUS = Path(__file__).resolve().parents[2] / "shared" / "corpus"


def count_skips(report: Path) -> Counter[str]:
    """Count the skipped tests of a JUnit report by their reason."""
    tree = ET.parse(report)  # noqa: S314
    return Counter(skip.get("message", "") for skip in tree.iter("skipped"))


def judge_skips(skips: Counter[str], corpus: Path) -> str:
    """Say what is wrong with the skips, or nothing."""
    missed = sum(count for reason, count in skips.items() if "corpus" in reason)
    if corpus.is_dir() and missed:
        return f"{missed} tests that read the corpus were skipped, but it is there"
    return ""


def main(arguments: list[str]) -> int:
    """Print the skips by reason; 1 if the corpus was there and not read, or there is no report."""
    report = Path(arguments[0])
    if not report.is_file():
        print("the test run left no report")
        return 1
    skips = count_skips(report)
    for reason, count in sorted(skips.items()):
        print(f"skipped {count}: {reason}")
    complaint = judge_skips(skips, CORPUS)
    if complaint:
        print(complaint)
    return 1 if complaint else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
