"""Configuration that somebody wrote by hand, judged by what the manager will make of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from weftline.adopt import build_fabric, read_survey
from weftline.app.audit import SEVERITIES
from weftline.app.check import problems_error
from weftline.app.files import is_folder, read_bytes
from weftline.app.pipeline import Progress, run_to_routes, silent
from weftline.app.workspace import SUFFIXES
from weftline.errors import ArtifactError, Place, UsageError
from weftline.model.finding import Finding, FindingSeverity
from weftline.model.lint import Linted, LintInput
from weftline.model.partitions import PartitionFile
from weftline.model.survey import OptionFact, Survey
from weftline.vendors import VENDORS

MAX_BYTES = 256 * 2**20
HINT = "give a file of a subnet manager, as partitions.conf or opensm.conf, or the folder that holds them"


@dataclass(frozen=True, slots=True)
class LintedPlace:
    """What is wrong with the files of a place."""

    place: Path
    files: tuple[str, ...]
    """Those that were judged."""
    linted: Linted

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings, the worst first."""
        return self.linted.findings

    def fails(self, at: FindingSeverity | None) -> bool:
        """Whether a finding is at least this severe."""
        return at is not None and any(
            SEVERITIES.index(finding.severity) <= SEVERITIES.index(at) for finding in self.findings
        )

    def count(self, severity: FindingSeverity) -> int:
        """Count the findings of a severity."""
        return sum(finding.severity == severity for finding in self.findings)


def lint(
    place: Path, options: Path | None, fabric: Path | None, manager: str | None, progress: Progress = silent
) -> LintedPlace:
    """Judge a file, or the files of a folder, against a dump or a declaration of the fabric where one is given.

    Raises:
        ArtifactError: when the place cannot be read, or holds no configuration that somebody here knows.
        UsageError: ``usage.guid`` when the manager is no GUID.
    """
    guid = _read_guid(manager)
    progress("reading the files", None)
    survey = read_survey(_read_files(place, options))
    partitions = _find_partitions(survey)
    found = _find_options(survey)
    if partitions is None and found is None:
        message = f"nobody here knows a configuration in {place}"
        raise ArtifactError("artifact.no-configuration", message, HINT, Place(str(place)))
    known = LintInput(None, None) if fabric is None else _read_fabric(fabric, progress)
    progress("judging", None)
    source = replace(known, partitions=partitions, options=found, manager=guid)
    linted = next(vendor.lint for vendor in VENDORS.values() if vendor.lint is not None)(source)
    return LintedPlace(place, tuple(item.file for item in survey.sources if item.form in {*_FORMS}), linted)


_FORMS = ("partitions", "opensm-conf")


def _read_guid(text: str | None) -> int:
    if text is None:
        return 0
    try:
        guid = int(text, 16)
    except ValueError:
        guid = 0
    if not 0 < guid < 2**64:
        raise UsageError("usage.guid", f"{text[:40]!r} is no GUID", "write the port's GUID, as 0x0002c90300800011")
    return guid


def _read_files(place: Path, options: Path | None) -> list[tuple[str, bytes]]:
    paths = [place]
    if is_folder(place):
        paths = sorted(path for path in place.iterdir() if path.is_file() and path.suffix in {".conf", ".txt", ""})
    if options is not None:
        paths.append(options)
    return [(str(path), read_bytes(path, MAX_BYTES, HINT)) for path in paths]


def _find_partitions(survey: Survey) -> PartitionFile | None:
    return next((part.partitions for part in survey.parts if part.partitions is not None), None)


def _find_options(survey: Survey) -> tuple[OptionFact, ...] | None:
    found = [part.options for part in survey.parts if part.options]
    return found[0] if found else None


def _read_fabric(path: Path, progress: Progress) -> LintInput:
    """Read the fabric from a declaration, or from a discovery dump."""
    if path.suffix in SUFFIXES or is_folder(path):
        routed = run_to_routes(path, progress)
        return LintInput(None, None, routed.built.fabric, routed.addresses)
    survey = read_survey([(str(path), read_bytes(path, MAX_BYTES, "give one dump of one subnet"))])
    if survey.discovery is None:
        message = f"{path} holds no topology"
        raise ArtifactError("artifact.no-dump", message, "give the output of ibnetdiscover", Place(str(path)))
    adoption = build_fabric(survey.discovery)
    if isinstance(adoption, tuple):
        raise problems_error(adoption)
    return LintInput(None, None, adoption.fabric, adoption.addresses, survey.discovery)
