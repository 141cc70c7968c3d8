"""Cabling held against a declaration, where the folder has no plan."""

from __future__ import annotations

from weftline.adopt import compare
from weftline.errors import Place
from weftline.model.adoption import Adoption
from weftline.model.audit import Declared
from weftline.model.difference import Difference, DifferenceKind
from weftline.model.finding import Finding, FindingSeverity, Topic
from weftline.technologies.infiniband.audit.verdicts import count, settle

CONTROL = "CFG-01"
_WORDS: dict[DifferenceKind, tuple[str, FindingSeverity]] = {
    "moved-cable": ("cabling.miswired", "critical"),
    "swapped-cables": ("cabling.miswired", "critical"),
    "missing-cable": ("cabling.missing", "warning"),
    "missing-node": ("cabling.missing", "warning"),
    "extra-cable": ("cabling.unplanned", "warning"),
    "extra-node": ("cabling.unplanned", "warning"),
    "wrong-rate": ("links.slow", "warning"),
}
_STEP = "put the cables where the declaration has them, or correct the declaration"


def judge_declared(declared: Declared, adoption: Adoption, title: str) -> Topic:
    """Name every cable and node that is not as declared."""
    found = compare(declared.fabric, adoption.fabric, declared.addresses, adoption.addresses)
    findings = tuple(_say(difference, declared.file) for difference in found)
    summary = f"{count(len(found), 'difference')} from {declared.file}" if found else f"As {declared.file} declares it."
    return Topic("cabling", title, settle(findings), summary, findings)


def _say(difference: Difference, file: str) -> Finding:
    rule, severity = _WORDS[difference.kind]
    return Finding(rule, severity, difference.subject, difference.message, _STEP, (Place(file),), (CONTROL,))
