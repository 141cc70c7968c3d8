"""The forms of files that describe a subnet: how each is recognised, who writes it, and what reads it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from weftline.errors import Problem
from weftline.formats import (
    far,
    ibdiagnet_csv,
    ibdm_topo,
    iblinkinfo,
    ibnetdiscover,
    key_tables,
    lft,
    managers,
    mcfdbs,
    ndt,
    net_dump,
    node_name_map,
    opensm_conf,
    opensm_log,
    opensm_smdb,
    partitions_conf,
    portlist,
    slvl,
    smpquery,
    subnet_lst,
    ufm,
)
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
    # Blanks are not given back: a file of blanks would take a second otherwise, and there may be thousands.
    compiled = re.compile(rb"^[ \t]*+(?:" + pattern.encode("latin-1") + rb")", re.MULTILINE)
    return lambda _, head: compiled.search(head) is not None


def by_name(pattern: str) -> Callable[[str, bytes], bool]:
    """Recognise a form by the end of the file's name, in any case."""
    compiled = re.compile(rf"(?:{pattern})(?:\.txt)?$", re.IGNORECASE)
    return lambda name, _: compiled.search(name) is not None


def by_content(looks_like: Callable[[bytes], bool]) -> Callable[[str, bytes], bool]:
    """Recognise a form by its first bytes alone."""
    return lambda _, head: looks_like(head)


def _looks_like_smdb(name: str, head: bytes) -> bool:
    """Tell the dump of a manager from the file of ibdiagnet, which has sections of the same names."""
    if opensm_smdb.looks_like(head, "SM_PORTS", "SMS"):
        return True
    return "smdb" in name.lower() and opensm_smdb.looks_like(head, "NODES", "PORTS", "LINKS", "SM")


def _looks_like_table_file(name: str, head: bytes) -> bool:
    """Recognise the file of ibdiagnet by any section, also where a run collected none of the usual first ones."""
    return b"START_" in head and (
        ibdiagnet_csv.looks_like(head, "NODES", "PORTS", "LINKS", "SWITCHES", "SM_INFO", "PKEY")
        or by_name(r"\.db_csv")(name, head)
    )


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


_UNREAD = (
    (
        "ibdiagnet-cables",
        "cables of ibdiagnet2",
        "ibdiagnet --get_cable_info (ibdiagnet2.cables)",
        r"ibdiagnet2?\.cables",
    ),
    ("ibdiagnet-pm", "counters of ibdiagnet2", "ibdiagnet (ibdiagnet2.pm)", r"ibdiagnet2?\.(?:pm|pm_agg|mlnx_cntrs)"),
    (
        "ibdiagnet-nodes-info",
        "node information of ibdiagnet2, whose layout is not public; db_csv has the same",
        "ibdiagnet (ibdiagnet2.nodes_info)",
        r"ibdiagnet2?\.nodes_info",
    ),
    (
        "ibdiagnet-other",
        "another file of ibdiagnet2",
        "ibdiagnet",
        r"ibdiagnet2?\.(?:aguid|debug|vports|vports_pkey|vl2vl|rnc?2?|sharp\w*|rails|aports|fat_tree|ibis|pcap|ppcc)",
    ),
)
"""Files that are known and not read: name, title, who writes them, how their names end."""


def _unread(name: str, title: str, written_by: str, pattern: str) -> Form:
    """Make a form that is known by its name and read by nobody."""
    return Form(name, title, written_by, by_name(pattern), None, is_read=False)


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
        "plan",
        "cabling plan as CSV (NDT, point to point, or weftline cables)",
        "by hand, by the planner, or weftline cables PLACE",
        lambda name, head: ndt.looks_like(head) or name.casefold().endswith(".ndt"),
        ndt.parse,
    ),
    Form(
        "mcfdbs",
        "multicast forwarding tables",
        "ibdiagnet -r (ibdiagnet2.mcfdbs), or OpenSM with -D 0x43 (opensm.mcfdbs)",
        by_content(mcfdbs.looks_like),
        mcfdbs.parse,
    ),
    Form(
        "slvl",
        "service level to lane tables",
        "OpenSM with -Q -D 0x43 (opensm-sl2vl.dump), or ibdiagnet -r (ibdiagnet2.slvl)",
        by_content(slvl.looks_like),
        slvl.parse,
    ),
    Form(
        "far",
        "adaptive-routing groups and tables",
        "ibdiagnet -r (ibdiagnet2.far)",
        by_content(far.looks_like),
    ),
    Form(
        "opensm-smdb",
        "database dump of NVIDIA's subnet manager",
        "opensm-smdb.dump, written by NVIDIA's OpenSM with sm_db_dump",
        _looks_like_smdb,
        opensm_smdb.parse,
    ),
    Form(
        "ibdiagnet-csv",
        "tables of ibdiagnet2",
        "ibdiagnet --routing --get_phy_info (ibdiagnet2.db_csv)",
        _looks_like_table_file,
        ibdiagnet_csv.parse,
    ),
    Form(
        "subnet-lst",
        "list of links",
        "opensm-subnet.lst, written by every OpenSM, or ibdiagnet2.lst, written by ibdiagnet",
        by_content(subnet_lst.looks_like),
        subnet_lst.parse,
    ),
    Form(
        "iblinkinfo",
        "links as iblinkinfo prints them",
        "iblinkinfo -l > iblinkinfo.txt",
        by_content(iblinkinfo.looks_like),
        iblinkinfo.parse,
    ),
    Form(
        "net-dump",
        "ports and neighbours of ibdiagnet2",
        "ibdiagnet (ibdiagnet2.net_dump)",
        by_content(net_dump.looks_like),
        net_dump.parse,
    ),
    Form(
        "net-dump-ext",
        "ports with error rates of ibdiagnet2",
        "ibdiagnet --get_phy_info (ibdiagnet2.net_dump_ext)",
        by_content(net_dump.looks_wide),
        net_dump.parse_wide,
    ),
    Form(
        "sminfo",
        "the subnet manager that answers",
        "sminfo > sminfo.txt",
        by_content(managers.looks_like_sminfo),
        managers.parse_sminfo,
    ),
    Form(
        "ibdiagnet-sm",
        "subnet managers of ibdiagnet2",
        "ibdiagnet (ibdiagnet2.sm)",
        by_name(r"ibdiagnet2?\.sm"),
        managers.parse_report,
    ),
    Form(
        "smpquery",
        "answers of smpquery",
        "smpquery nodeinfo LID; smpquery portinfo LID PORT; smpquery switchinfo LID; smpquery sl2vl LID PORT; "
        "smpquery vlarb LID PORT",
        by_content(smpquery.looks_like),
        smpquery.parse,
    ),
    Form(
        "node-name-map",
        "names of nodes",
        "node-name-map, as OpenSM and the diagnostics read it",
        by_content(node_name_map.looks_like),
        node_name_map.parse,
    ),
    Form(
        "ufm-ports",
        "ports as UFM exports them",
        "GET /ufmRest/resources/ports",
        by_content(ufm.looks_like_ports),
        ufm.parse_ports,
    ),
    Form(
        "ufm-links",
        "links as UFM exports them",
        "GET /ufmRest/resources/links",
        by_content(ufm.looks_like_links),
        ufm.parse_links,
    ),
    Form(
        "ufm-systems",
        "systems as UFM exports them",
        "GET /ufmRest/resources/systems",
        by_content(ufm.looks_like_systems),
        ufm.parse_systems,
    ),
    Form(
        "ufm-pkeys",
        "partitions as UFM exports them",
        "GET /ufmRest/resources/pkeys?guids_data=true",
        by_content(ufm.looks_like_pkeys),
        ufm.parse_pkeys,
    ),
    Form(
        "pkeys",
        "partition tables of ports",
        "for each port: echo '# smpquery pkeys LID PORT' and smpquery pkeys LID PORT, all to pkeys.txt",
        by_content(key_tables.looks_like_answer),
        key_tables.parse_answers,
    ),
    Form(
        "pktr",
        "partition tables as the subnet administrator lists them",
        "saquery --smkey KEY PKTR LID, for each LID, all to pktr.txt",
        by_content(key_tables.looks_like_records),
        key_tables.parse_records,
    ),
    Form(
        "ibdiagnet-pkey",
        "members of partitions by ibdiagnet",
        "ibdiagnet (ibdiagnet2.pkey)",
        by_content(key_tables.looks_like_groups),
        key_tables.parse_groups,
    ),
    Form(
        "mcmr",
        "multicast groups",
        "saquery MCMR > groups.txt",
        by_content(key_tables.looks_like_multicast),
        key_tables.parse_multicast,
    ),
    Form(
        "opensm-log",
        "log of OpenSM",
        "a copy of /var/log/opensm.log",
        by_content(opensm_log.looks_like),
        opensm_log.parse_part,
    ),
    Form(
        "partitions",
        "partition file of OpenSM",
        "a copy of /etc/opensm/partitions.conf",
        lambda name, head: name.endswith("partitions.conf") or partitions_conf.looks_like(head),
        partitions_conf.parse_part,
    ),
    Form(
        "opensm-conf",
        "options of OpenSM",
        "a copy of /etc/opensm/opensm.conf, or opensm -c opensm.conf",
        lambda name, head: name.endswith("opensm.conf") or opensm_conf.looks_like(head),
        opensm_conf.parse,
    ),
    Form(
        "lft",
        "unicast forwarding tables",
        "dump_fts > lfts.txt; OpenSM with -D 0x43 (opensm-lfts.dump, opensm.fdbs); ibdiagnet -r (ibdiagnet2.fdbs)",
        by_content(lft.looks_like),
    ),
    Form(
        "ufm-table",
        "table of the web page or of the telemetry of UFM",
        "export of the ports page of UFM, or its telemetry as CSV",
        by_line(r'(?:\xef\xbb\xbf)?"?System"?,"?Port"?,"?Peer Node"?,|.{0,400}\b[Nn]ode_(?:GUID|guid),.{0,40}[Pp]ort_'),
        is_read=False,
    ),
    Form(
        "ar",
        "adaptive-routing tables of an unknown layout; ibdiagnet2.far is read",
        "ibdiagnet -r --enable_output ar (ibdiagnet2.ar)",
        by_name(r"\.ar"),
        far.note_unread,
        is_read=False,
    ),
    Form(
        "plft",
        "map of private forwarding tables, of an unknown layout",
        "ibdiagnet -r (ibdiagnet2.plft)",
        by_name(r"\.plft"),
        far.note_unread,
        is_read=False,
    ),
    Form(
        "ibdiagnet-log",
        "log of ibdiagnet2, for whether adaptive routing is on",
        "ibdiagnet (ibdiagnet2.log)",
        by_name(r"ibdiagnet2?\.log"),
        far.read_log,
    ),
    *(_unread(*words) for words in _UNREAD),
)
"""Every form that Weftline knows, the first that recognises a file wins."""


def recognise(file: str, head: bytes) -> Form | None:
    """Find the form of a file by its first bytes, and its name where they do not tell; None where nobody knows it."""
    name = file.replace("\\", "/").rsplit("/", 1)[-1]
    return next((form for form in FORMS if form.recognise(name, head[:HEAD_BYTES])), None)


def find_form(name: str) -> Form:
    """Return the form of a name."""
    return next(form for form in FORMS if form.name == name)
