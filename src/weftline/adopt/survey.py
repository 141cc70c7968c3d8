"""The files of a folder become one survey: each by its form, and of several topologies the most exact."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace

from weftline.adopt.disagree import compare_sources
from weftline.adopt.forms import HEAD_BYTES, recognise
from weftline.adopt.identify import identify, make_directory
from weftline.errors import Place, Problem
from weftline.formats.text import CONTROL
from weftline.model.discovery import Discovery, NodeRecord
from weftline.model.survey import Source, Survey, SurveyPart

MAX_FILE = 256 * 2**20
"""Bytes of one file; tables of 11,664 hosts and 1,620 switches take 227 MB."""
MAX_FILES = 10_000
ONE_SUBNET = "give one dump of one subnet"
LARGE = {
    "lft": "dump_fts -n leaves the names out, a fifth of the size: 1,600 switches and 13,000 addresses take 230 MB; or "
    "cut the file before lines that begin with Unicast lids, some switches to a file",
    "opensm-log": "give the end of it: tail -c 200M opensm.log > opensm-end.log",
}
"""What to do about a file that is too large, by its form."""
EXACTNESS = (
    "ibnetdiscover",
    "ibdiagnet-csv",
    "opensm-smdb",
    "subnet-lst",
    "portlist",
    "iblinkinfo",
    "net-dump",
    "ufm-ports",
    "ufm-links",
)
"""Forms that carry nodes and links, the most exact first."""
_NIC = re.compile(r"(.+)/nic(\d{1,4})")


def read_survey(files: Sequence[tuple[str, bytes]]) -> Survey:
    """Read every file by its form; a file that nobody knows is a source without a form.

    What is wrong with a file is a problem of the survey; the others are read all the same.
    """
    problems: list[Problem] = []
    if len(files) > MAX_FILES:
        message = f"the folder has {len(files):,} files; the first {MAX_FILES:,} by name are read"
        problems.append(Problem("artifact.dump-too-large", message, "give the dumps of one subnet", severity="error"))
    sources: list[Source] = []
    parts: list[SurveyPart] = []
    for file, data in sorted(files, key=lambda item: item[0])[:MAX_FILES]:
        source, part = _read_file(file, data)
        sources.append(source)
        parts.append(part)
        problems.extend(part.problems)
    ranked = _rank(sources, parts)
    if not ranked:
        return Survey(tuple(sources), tuple(parts), None, "", tuple(problems))
    topologies = [(sources[at].form, part.discovery) for at in ranked if (part := parts[at]).discovery is not None]
    form, discovery = topologies[0]
    for other_form, other in topologies[1:]:
        differs = compare_sources(discovery, other, (form, other_form))
        if differs is not None:
            problems.append(differs)
    directory = make_directory(discovery)
    names = {directory.node_of(guid): name for part in parts for guid, name in part.names.items()}
    return Survey(
        tuple(sources),
        tuple(identify(part, directory) for part in parts),
        _rename(discovery, names),
        discovery.file,
        tuple(problems),
    )


def _read_file(file: str, data: bytes) -> tuple[Source, SurveyPart]:
    """Recognise and read one file."""
    digest = hashlib.sha256(data).hexdigest()
    form = recognise(file, data[:HEAD_BYTES])
    if form is None:
        is_binary = CONTROL.search(data[:HEAD_BYTES]) is not None
        return Source(file, "", digest, nature="binary" if is_binary else "text" if data else "empty"), SurveyPart()
    if len(data) > MAX_FILE:
        message = f"{file} has more than {MAX_FILE / 2**20:,.0f} MiB, so it was not read"
        problem = Problem("artifact.dump-too-large", message, LARGE.get(form.name, ONE_SUBNET), Place(file))
        return Source(file, form.name, digest), SurveyPart(problems=(problem,))
    if form.parse is None:
        return Source(file, form.name, digest, data if form.is_read else b""), SurveyPart()
    return Source(file, form.name, digest), form.parse(data, file)


def _rank(sources: list[Source], parts: list[SurveyPart]) -> list[int]:
    """Order the topologies: whole ones, then the most exact form, then the one with most links, then by name."""
    ranked = [
        (
            not _is_whole(part.discovery, part),
            EXACTNESS.index(source.form),
            -sum(bool(port.peer) for node in part.discovery.nodes for port in node.ports),
            at,
        )
        for at, (source, part) in enumerate(zip(sources, parts, strict=True))
        if part.discovery is not None and source.form in EXACTNESS
    ]
    return [at for *_, at in sorted(ranked)]


def _is_whole(discovery: Discovery, part: SurveyPart) -> bool:
    """Say whether nothing is broken in a file, it has links, and the far end of each of them is in it."""
    keys = {node.key for node in discovery.nodes}
    has_error = any(problem.is_error for problem in part.problems)
    peers = [port.peer for node in discovery.nodes for port in node.ports if port.peer]
    return not has_error and bool(peers) and all(peer in keys for peer in peers)


def _rename(discovery: Discovery, names: dict[int, str]) -> Discovery:
    """Call nodes as people call them; ``host-0001/nic3`` is the adapter ``host-0001 HCA-3``."""

    def name(node: NodeRecord) -> NodeRecord:
        given = names.get(node.guid, "")
        nic = _NIC.fullmatch(given) if node.kind == "ca" else None
        return replace(node, description=f"{nic[1]} HCA-{nic[2]}" if nic else given) if given else node

    return replace(discovery, nodes=tuple(name(node) for node in discovery.nodes)) if names else discovery
