"""The files of a folder become one survey: each by its form, and of several topologies the most exact."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

from weftline.adopt.forms import HEAD_BYTES, recognise
from weftline.errors import Place, Problem
from weftline.model.discovery import Discovery
from weftline.model.survey import Source, Survey, SurveyPart

MAX_FILE = 256 * 2**20
"""Bytes of one file; tables of 11,664 hosts and 1,620 switches take 227 MB."""
MAX_FILES = 10_000
EXACTNESS = ("ibnetdiscover", "portlist")
"""Forms that carry nodes and links, the most exact first."""


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
    names = {guid: name for part in parts for guid, name in part.names.items()}
    discovery = _choose(sources, parts)
    if discovery is not None and names:
        discovery = _rename(discovery, names)
    file = discovery.file if discovery else ""
    return Survey(tuple(sources), tuple(parts), discovery, file, tuple(problems))


def _read_file(file: str, data: bytes) -> tuple[Source, SurveyPart]:
    """Recognise and read one file."""
    digest = hashlib.sha256(data).hexdigest()
    form = recognise(file, data[:HEAD_BYTES])
    if form is None:
        return Source(file, "", digest), SurveyPart()
    if len(data) > MAX_FILE:
        message = f"the file has {len(data):,} bytes; at most {MAX_FILE:,} are read"
        problem = Problem("artifact.dump-too-large", message, "give one dump of one subnet", Place(file))
        return Source(file, form.name, digest), SurveyPart(problems=(problem,))
    if form.parse is None:
        return Source(file, form.name, digest, data if form.is_read else b""), SurveyPart()
    return Source(file, form.name, digest), form.parse(data, file)


def _choose(sources: list[Source], parts: list[SurveyPart]) -> Discovery | None:
    """Pick the topology of the most exact form, of several the one with most links, then the first by name."""
    ranked = [
        (EXACTNESS.index(source.form), -sum(len(node.ports) for node in part.discovery.nodes), at)
        for at, (source, part) in enumerate(zip(sources, parts, strict=True))
        if part.discovery is not None and source.form in EXACTNESS
    ]
    return parts[min(ranked)[2]].discovery if ranked else None


def _rename(discovery: Discovery, names: dict[int, str]) -> Discovery:
    """Call nodes as people call them."""
    nodes = tuple(
        replace(node, description=names[node.guid]) if node.guid in names else node for node in discovery.nodes
    )
    return replace(discovery, nodes=nodes)
