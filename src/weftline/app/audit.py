"""An audit: the dumps of a subnet that exists, read-only, judged topic by topic."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from weftline.adopt import build_fabric, find_adaptive, read_discovery, read_programmed
from weftline.adopt.forms import HEAD_BYTES, recognise
from weftline.adopt.survey import read_survey
from weftline.app.adopt import tell_tables
from weftline.app.choose import RULES, choose_routes
from weftline.app.configured import judge_configuration
from weftline.app.engines import Judged as EngineJudged
from weftline.app.engines import Wanted, judge_adopted
from weftline.app.files import is_folder, read_bytes, walk
from weftline.app.ibnl import read_systems
from weftline.app.pipeline import Progress, run_to_routes, silent
from weftline.errors import ArtifactError, Place, Problem, UsageError, WeftlineError
from weftline.model.adoption import Adoption
from weftline.model.audit import AuditInput, Declared, Judged
from weftline.model.discovery import Discovery
from weftline.model.finding import Control, Finding, FindingSeverity, Topic
from weftline.model.survey import Survey
from weftline.prove import prove
from weftline.technologies import OBSERVATIONS

ENGINE_LIMIT_S = 60.0
"""Seconds that one engine may take."""
MAX_FILE_BYTES = 256 * 2**20
MAX_TOTAL_BYTES = 2**30
"""Bytes of all files together."""
MAX_FILES = 10_000
MAX_DEPTH = 4
SEVERITIES: tuple[FindingSeverity, ...] = ("critical", "warning", "note")


@dataclass(frozen=True, slots=True)
class Audited:
    """What an audit found."""

    place: Path
    source: AuditInput
    topics: tuple[Topic, ...]
    controls: tuple[Control, ...]
    seconds: float
    engines: tuple[EngineJudged, ...] = ()
    """What the manager's own engines would do with this fabric, where that was asked for."""

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings, the worst first."""
        found = [finding for topic in self.topics for finding in topic.findings]
        return tuple(sorted(found, key=lambda finding: SEVERITIES.index(finding.severity)))

    def fails(self, at: FindingSeverity | None) -> bool:
        """Whether a finding is at least this severe."""
        return at is not None and any(
            SEVERITIES.index(finding.severity) <= SEVERITIES.index(at) for finding in self.findings
        )


def read_severity(text: str) -> FindingSeverity | None:
    """Read the severity from which an audit fails; ``never`` is None.

    Raises:
        UsageError: ``usage.severity``.
    """
    if text == "never":
        return None
    for severity in SEVERITIES:
        if text == severity:
            return severity
    raise UsageError("usage.severity", f"{text[:40]!r} is no severity", f"choose one of {', '.join(SEVERITIES)}, never")


def audit(place: Path, declaration: Path | None, progress: Progress = silent, *, engines: str | None = None) -> Audited:
    """Judge a folder of dumps, or one dump; nothing there is written, and nobody is asked over the network.

    ``engines`` names the manager's own engines to run on the same cables in a lab here, or ``all``.

    Raises:
        ArtifactError: when the place cannot be read, or holds no file.
    """
    begin = time.monotonic()
    observation = next(iter(OBSERVATIONS.values()))
    progress("reading the files", None)
    files = _read_files(place, progress)
    survey = _take_plan(read_survey(files), files)
    if not survey.sources:
        message = f"{place} holds no file"
        raise ArtifactError("artifact.no-dump", message, "give a folder of dumps, or one dump", Place(str(place)))
    progress("putting the fabric together", None)
    adoption, survey = _adopt(survey)
    predicted, configured = judge_configuration(survey, adoption)
    programmed, unread = _judge_programmed(survey, adoption, progress)
    source = AuditInput(
        survey=replace(survey, problems=(*survey.problems, *unread)),
        adoption=adoption,
        programmed=programmed,
        proposed=_propose(adoption, progress),
        predicted=predicted,
        configured=configured,
        declared=None if declaration is None else _declare(declaration, progress),
    )
    progress("judging", None)
    topics = observation.judge(source)
    controls = _judge_controls(observation.controls, topics)
    tried = () if engines is None or adoption is None else judge_adopted(adoption, _read_engines(engines), progress)
    return Audited(place, source, topics, controls, time.monotonic() - begin, tried)


def read_place(place: Path, progress: Progress = silent) -> tuple[Survey, Adoption | None]:
    """Read a folder of dumps, or one dump, and put the fabric together, where a file says what is wired to what."""
    files = _read_files(place, progress)
    adoption, survey = _adopt(_take_plan(read_survey(files), files))
    return survey, adoption


def _read_engines(text: str) -> Wanted:
    return Wanted(() if text == "all" else tuple(word for word in text.split(",") if word), ENGINE_LIMIT_S)


def _read_files(place: Path, progress: Progress) -> list[tuple[str, bytes]]:
    """Read every regular file under a folder, by its path in it; symbolic links lead nowhere.

    Of a file that nobody knows only the first bytes are taken.
    """
    if not is_folder(place):
        return [(place.name, read_bytes(place, MAX_FILE_BYTES, "give one dump of one subnet"))]
    found = list(_list_files(place))
    files: list[tuple[str, bytes]] = []
    room = MAX_TOTAL_BYTES
    for index, path in enumerate(found):
        progress("reading the files", index / len(found))
        data = _read_start(path, HEAD_BYTES)
        if recognise(path.name, data) is not None:
            # What is too large still has a place in the list of files, with its first bytes: it is known, and refused.
            data = _read_start(path, MAX_FILE_BYTES + 1)
        room -= len(data)
        if room < 0:
            message = f"the files of {place} have more than {MAX_TOTAL_BYTES // 2**20:,} MiB together"
            largest = max([*files, (str(path.relative_to(place)), data)], key=lambda item: len(item[1]))
            hint = f"give the dumps of one subnet; the largest is {largest[0]}, with {len(largest[1]) // 2**20:,} MiB"
            raise ArtifactError("artifact.too-large", message, hint, Place(str(place)))
        files.append((str(path.relative_to(place)), data))
    return files


def _list_files(place: Path) -> Iterator[Path]:
    files = (path for path in walk(place, MAX_DEPTH) if path.is_file() and not path.is_symlink())
    for count, path in enumerate(files, start=1):
        if count > MAX_FILES:
            message = f"{place} holds more than {MAX_FILES:,} files"
            raise ArtifactError("artifact.too-large", message, "give the dumps of one subnet", Place(str(place)))
        yield path


def _read_start(path: Path, limit: int) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(max(limit, 0))
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror}"
        raise ArtifactError("artifact.unreadable", message, "check its permissions", Place(str(path))) from error


def _take_plan(survey: Survey, files: Sequence[tuple[str, bytes]]) -> Survey:
    """Take the topology of a plan of systems where no dump says what is wired to what; it has no addresses."""
    plans = survey.of_form("ibdm-topo")
    if survey.discovery is not None or len(plans) != 1:
        return survey
    found = read_discovery(dict(files)[plans[0].file], plans[0].file, read_systems(None))
    if not isinstance(found, Discovery):
        new = tuple(problem for problem in found if problem not in survey.problems)
        return replace(survey, problems=(*survey.problems, *new))
    return replace(survey, discovery=found, discovery_file=found.file, is_planned=True)


def _adopt(survey: Survey) -> tuple[Adoption | None, Survey]:
    """Build the fabric; where that cannot be done its problems stand among those of the files."""
    if survey.discovery is None:
        return None, survey
    adoption = build_fabric(survey.discovery)
    if isinstance(adoption, tuple):
        return None, replace(survey, problems=(*survey.problems, *adoption))
    return adoption, survey


def _judge_programmed(
    survey: Survey, adoption: Adoption | None, progress: Progress
) -> tuple[Judged | None, tuple[Problem, ...]]:
    """Prove the tables that the files hold; where none of them can be read, say why."""
    tables = [source for source in survey.sources if source.data]
    if adoption is None or not tables:
        return None, ()
    progress("reading the tables", None)
    files = [(source.file, source.data) for source in tables]
    found = read_programmed(files, adoption.fabric, adoption.addresses, find_adaptive(survey))
    if isinstance(found, tuple):
        return None, found
    progress("proving the tables that run", None)
    report = prove(adoption.fabric, found.routes, RULES, None, found.unseen)
    reason = f"{tell_tables(found)}, read from {', '.join(source.file for source in tables[:4])}"
    return Judged(found.routes, reason, report, found.problems), ()


def _propose(adoption: Adoption | None, progress: Progress) -> Judged | None:
    """Compute and prove tables of ours, to hold those that run against."""
    if adoption is None:
        return None
    try:
        chosen = choose_routes(adoption.fabric, "auto", 1 << adoption.addresses.multipath_bits, progress)
    except WeftlineError:
        return None
    return Judged(chosen.routes, chosen.reason, chosen.report)


def _declare(declaration: Path, progress: Progress) -> Declared:
    progress("reading the declaration", None)
    routed = run_to_routes(declaration, progress)
    fabric = routed.built.fabric
    checked = routed.built.checked
    find_owners = checked.technology.design.owners
    owners = None if find_owners is None else find_owners(checked.design, fabric)
    seats = checked.technology.design.seats
    ports = [] if seats is None else [seats(checked.design, fabric, plane) for plane in range(fabric.planes)]
    guids = tuple(int(routed.addresses.port_id[port]) for plane in ports for port in plane)
    return Declared(str(declaration), fabric, routed.addresses, fabric.tenant_name, guids, owners)


def _judge_controls(texts: dict[str, str], topics: tuple[Topic, ...]) -> tuple[Control, ...]:
    """Settle every control: bad where a finding breaks it, good where a topic held it, unknown otherwise."""
    return tuple(_judge_control(key, text, topics) for key, text in texts.items())


def _judge_control(key: str, text: str, topics: tuple[Topic, ...]) -> Control:
    broken = [item for topic in topics for item in topic.findings if key in item.controls and item.severity != "note"]
    if broken:
        return Control(key, text, "bad", f"{broken[0].subject}: {broken[0].message}")
    open_questions = [item for topic in topics for item in topic.unjudged if key in item.controls]
    if open_questions:
        return Control(key, text, "unknown", f"needs {open_questions[0].needs}")
    held = [topic for topic in topics if key in topic.good_controls]
    if held:
        return Control(key, text, "good", held[0].summary)
    return Control(key, text, "unknown", "no file given speaks to it")
