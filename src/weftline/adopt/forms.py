"""The forms of files that describe a subnet: how each is recognised, who writes it, and what reads it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from weftline.errors import Problem
from weftline.formats import far, ibdm_topo, ibnetdiscover, lft, mcfdbs, portlist, slvl
from weftline.model.discovery import Discovery
from weftline.model.survey import SurveyPart

HEAD_BYTES = 65_536
"""Bytes at the start of a file by which its form is told."""


@dataclass(frozen=True, slots=True)
class Form:
    """One form of file."""

    name: str
    title: str
    """What a person calls it."""
    written_by: str
    """The command, with its flags, that writes such a file."""
    recognise: Callable[[str, bytes], bool]
    """Whether a file of this name, without its folder, and with these first bytes is of this form."""
    parse: Callable[[bytes, str], SurveyPart] | None = None
    """Absent where the bytes are read later with a fabric at hand, or by nobody."""
    is_read: bool = True
    """False for a form that is known and that nobody reads."""


def by_line(pattern: str) -> Callable[[str, bytes], bool]:
    """Recognise a form by a line that starts like this within the first bytes."""
    compiled = re.compile(rb"^[ \t]*(?:" + pattern.encode() + rb")", re.MULTILINE)
    return lambda _, head: compiled.search(head) is not None


def by_name(pattern: str) -> Callable[[str, bytes], bool]:
    """Recognise a form by the end of the file's name, in any case."""
    compiled = re.compile(rf"(?:{pattern})(?:\.txt)?$", re.IGNORECASE)
    return lambda name, _: compiled.search(name) is not None


def _looks_like_tables(_: str, head: bytes) -> bool:
    """Recognise unicast forwarding tables."""
    return lft.looks_like(head)


def _from_discovery(
    parse: Callable[[bytes, str], Discovery | tuple[Problem, ...]],
) -> Callable[[bytes, str], SurveyPart]:
    """Make a survey part of what reads a discovery."""

    def read(data: bytes, file: str) -> SurveyPart:
        found = parse(data, file)
        if isinstance(found, Discovery):
            return SurveyPart(discovery=found, problems=found.problems)
        return SurveyPart(problems=found)

    return read


FORMS: tuple[Form, ...] = (
    Form(
        "ibnetdiscover",
        "topology as ibnetdiscover prints it",
        "ibnetdiscover > ibnetdiscover.txt",
        by_line(r'(?:Switch|Ca|Hca|Rtr|Router|Rt)[ \t]*\d{1,9}[ \t]*"|(?:switchguid|caguid|rtguid)=0x'),
        _from_discovery(ibnetdiscover.parse),
    ),
    Form(
        "portlist",
        "list of ports",
        "ibnetdiscover -p > ports.txt",
        by_line(r"(?:CA|SW|RT)[ \t]+\d{1,9}[ \t]+\d{1,9}[ \t]+0x[0-9a-fA-F]"),
        _from_discovery(portlist.parse),
    ),
    Form(
        "ibdm-topo",
        "cabling plan by system and plug",
        "by hand, or ibdiagnet -w plan.topo",
        lambda _, head: ibdm_topo.looks_like(head),
        ibdm_topo.parse_plan,
    ),
    Form(
        "mcfdbs",
        "multicast forwarding tables",
        "ibdiagnet -r (ibdiagnet2.mcfdbs), or OpenSM with -D 0x43 (opensm.mcfdbs)",
        lambda _, head: mcfdbs.looks_like(head),
        mcfdbs.parse,
    ),
    Form(
        "slvl",
        "service level to lane tables",
        "OpenSM with -Q -D 0x43 (opensm-sl2vl.dump), or ibdiagnet -r (ibdiagnet2.slvl)",
        lambda _, head: slvl.looks_like(head),
        slvl.parse,
    ),
    Form(
        "far",
        "adaptive-routing groups and tables",
        "ibdiagnet -r (ibdiagnet2.far)",
        lambda _, head: far.looks_like(head),
    ),
    Form(
        "ar",
        "adaptive-routing tables of an unknown layout; ibdiagnet2.far is read",
        "ibdiagnet -r --enable_output ar (ibdiagnet2.ar)",
        by_name(r"\.ar"),
        is_read=False,
    ),
    Form(
        "plft",
        "map of private forwarding tables, of an unknown layout",
        "ibdiagnet -r (ibdiagnet2.plft)",
        by_name(r"\.plft"),
        is_read=False,
    ),
    Form(
        "lft",
        "unicast forwarding tables",
        "dump_fts > lfts.txt; OpenSM with -D 0x43 (opensm-lfts.dump, opensm.fdbs); ibdiagnet -r (ibdiagnet2.fdbs)",
        _looks_like_tables,
    ),
)
"""Every form that Weftline knows, the first that recognises a file wins."""


def recognise(file: str, head: bytes) -> Form | None:
    """Find the form of a file by its first bytes, and its name where they do not tell; None where nobody knows it."""
    name = file.replace("\\", "/").rsplit("/", 1)[-1]
    return next((form for form in FORMS if form.recognise(name, head[:HEAD_BYTES])), None)


def find_form(name: str) -> Form:
    """Return the form of a name."""
    return next(form for form in FORMS if form.name == name)
