"""A subnet manager's configuration that somebody wrote by hand, judged by what the manager will make of it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from weftline.adopt import build_fabric, read_survey
from weftline.app.check import problems_error
from weftline.app.files import is_folder, read_bytes
from weftline.app.pipeline import Progress, run_to_routes, silent
from weftline.app.workspace import SUFFIXES
from weftline.errors import ArtifactError, Place, UsageError
from weftline.model.lint import Linted, LintInput
from weftline.model.partitions import PartitionFile
from weftline.model.survey import OptionFact, Survey
from weftline.vendors import VENDORS

MAX_BYTES = 256 * 2**20

FORMS = ("partitions", "opensm-conf")
"""Forms of files, by the names of the table of forms, that a subnet manager reads."""


def lint_manager(
    files: Sequence[tuple[str, bytes]],
    given: Collection[str],
    fabric: Path | None,
    manager: str | None,
    progress: Progress = silent,
) -> Linted:
    """Judge partition files and options, against a dump or a declaration of the fabric where one is given.

    ``given`` are the files that were named one by one; the others are all that is in their folder, and each folder is
    that of one manager: a file that its options name and that is not there is a finding.

    Raises:
        UsageError: ``usage.guid`` when the manager is no GUID.
    """
    guid = _read_guid(manager)
    known = LintInput(None, None) if fabric is None else _read_fabric(fabric, progress)
    known = replace(known, manager=guid)
    alone = [item for item in files if item[0] in given]
    folders: dict[str, list[tuple[str, bytes]]] = {}
    for name, data in files:
        if name not in given:
            folders.setdefault(str(Path(name).parent), []).append((name, data))
    linted = [(folder, _lint_one([*alone, *own], known, has_all=True)) for folder, own in folders.items()]
    linted = linted or [("", _lint_one(alone, known, has_all=False))]
    findings = tuple(dict.fromkeys(finding for _, one in linted for finding in one.findings))
    first = linted[0][1]
    if all((one.outcome, one.predicted) == (first.outcome, first.predicted) for _, one in linted):
        return Linted(findings, first.outcome, first.predicted)
    return Linted(findings, "\n".join(f"{folder}: {one.outcome}" for folder, one in linted), None)


def _lint_one(files: Sequence[tuple[str, bytes]], known: LintInput, *, has_all: bool) -> Linted:
    survey = read_survey(files)
    options = _find_options(survey)
    source = replace(known, partitions=_find_partitions(survey, options), options=options, has_all=has_all)
    return next(vendor.lint for vendor in VENDORS.values() if vendor.lint is not None)(source)


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


def _find_partitions(survey: Survey, options: tuple[OptionFact, ...] | None) -> PartitionFile | None:
    """Find the partition file, of several the one whose name stands in an option."""
    found = [part.partitions for part in survey.parts if part.partitions is not None]
    named = {PurePosixPath(option.value).name for option in options or () if "/" in option.value}
    return next((one for one in found if Path(one.file).name in named), next(iter(found), None))


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
