"""Adaptive routing: how it is known to be on, and whether its choices are among what was read."""

from __future__ import annotations

import re
from collections.abc import Mapping

from weftline.adopt.entries import Row
from weftline.formats.text import ProblemLog
from weftline.model.adoption import Adaptive
from weftline.model.fabric import Fabric
from weftline.model.survey import Survey

SECTION = "AR_INFO"
_ENGINE = re.compile(r"(?:^|[\s,])(ar_\w+|dfp2?|kdor(?:-hc)?|armgr)(?=$|[\s,])", re.IGNORECASE)
"""Engines of NVIDIA's subnet manager that switch adaptive routing on."""
_OFF = frozenset(("", "0", "false", "off", "none", "no"))


def name_engines(engines: str) -> tuple[str, ...]:
    """List the engines of a list of them that switch adaptive routing on."""
    return tuple(match[1] for match in _ENGINE.finditer(engines))


def find_adaptive(survey: Survey) -> tuple[str, ...]:
    """Say how it is known that adaptive routing is on: by options, the manager's engine, or what the switches say."""
    found: list[str] = []
    for source, part in zip(survey.sources, survey.parts, strict=True):
        for option in part.options:
            name, value = option.name.lower(), option.value.strip()
            is_engine = name in ("routing_engine", "routing_engine_names") and bool(name_engines(value))
            if is_engine or (name == "ar_mode" and value.lower() not in _OFF):
                found.append(f"option {option.name} of {source.file} is {value}")
        if name_engines(part.engine):
            found.append(f"the subnet manager of {source.file} uses {part.engine}")
        if part.is_adaptive:
            found.append(f"switches of {source.file} have it enabled")
        found.extend(f"{source.file} has a section {name}" for name in part.skipped if name.upper() == SECTION)
        if source.form in ("ar", "plft"):
            found.extend(part.skipped)
    return tuple(dict.fromkeys(found))


def judge_adaptive(
    fabric: Fabric, rows: Mapping[int, Row], read: set[int], reasons: tuple[str, ...], log: ProblemLog
) -> tuple[Adaptive, str]:
    """Say what is known of adaptive routing, and why the routes may lack ways that packets take; empty where not.

    ``read`` are the switches whose adaptive table was read, ``reasons`` how it is known to be on.
    """
    counts = [row.adaptive_entries for at, row in rows.items() if at in read]
    entries, switches = sum(counts), sum(count > 0 for count in counts)
    if read:
        without = [at for at in rows if at not in read]
        if without:
            name = fabric.node_name[int(fabric.switch_node[without[0]])]
            message = f"{len(without):,} switches have no adaptive-routing table in the files, the first is {name}"
            hint = "they count as switches without adaptive routing; a whole dump lists every switch that has it"
            log.add("artifact.adaptive-partial", message, hint, severity="warning")
        return Adaptive("judged", entries, switches, reasons), ""
    if not reasons:
        return Adaptive("not-seen"), ""
    message = f"adaptive routing is on ({reasons[0]}), and its groups are not in the files"
    hint = "add ibdiagnet2.far, written by ibdiagnet -r: packets take ways that static tables do not show"
    log.add("artifact.adaptive-missing", message, hint, severity="warning")
    return Adaptive("unknown", reasons=reasons), f"adaptive routing is on ({reasons[0]}), and its groups are not known"
