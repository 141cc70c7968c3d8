"""Configuration that others wrote, whatever it is of: found, told apart, read by its vendor and judged by the rules."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from weftline.adopt import FORMS
from weftline.app import lint_manager
from weftline.app.audit import SEVERITIES
from weftline.app.bulk import without_collector
from weftline.app.files import is_folder, read_bytes, walk
from weftline.app.pipeline import Progress, silent
from weftline.errors import ArtifactError, Place, UsageError
from weftline.lint import LintSource, lint_devices
from weftline.lint.coverage import list_unjudged, say_evidence
from weftline.lint.merging import merge_devices
from weftline.model.finding import Finding, FindingSeverity, Unjudged
from weftline.model.lint import Linted
from weftline.model.observed import ObservedDevice
from weftline.vendors import VENDORS

MAX_BYTES = 256 * 2**20
MAX_ALL_BYTES = 4 * 2**30
MAX_FILES = 20_000
MAX_DEPTH = 6
HEAD = 65_536
WORDS: dict[FindingSeverity, str] = {"critical": "error", "warning": "warning", "note": "notice"}
"""How lint calls severities: as linters do."""
BIG = "give the part of it that is of one device, or compress nothing and split it"
KNOWN = (
    "configuration or show outputs of switches (SONiC, FRR, NVUE, EOS) or hosts (mlnx_qos, ethtool), or "
    "partitions.conf and opensm.conf of a subnet manager"
)
HINT = f"give {KNOWN}"


ASIDE = {
    "manifest": re.compile(rb'\s*\{\s*"schema":\s*"weftline/'),
    "json-patch": re.compile(rb"\s*\[\s*\]\s*$"),
    "script": re.compile(rb"#!/"),
    "unit": re.compile(rb"(?:#[^\n]*\n|\s)*\[Unit\]"),
    "udev-rules": re.compile(rb"(?:#[^\n]*\n|\s)*(?:ACTION|SUBSYSTEM|KERNEL)=="),
}
"""Forms that are known, and of which nothing is judged: they say how files are put in place, not what a device does."""


@dataclass(frozen=True, slots=True)
class LintOptions:
    """What is known besides the files."""

    options: Path | None = None
    """An opensm.conf that goes with a partition file."""
    fabric: Path | None = None
    manager: str | None = None
    dscps: frozenset[int] | None = None
    """DSCPs that must not lose packets."""


@dataclass(frozen=True, slots=True)
class LintedPlace:
    """What is wrong with the files of some places."""

    places: tuple[Path, ...]
    files: tuple[tuple[str, str], ...]
    """Every file that was looked at, with its form; empty where nobody here knows it."""
    devices: tuple[ObservedDevice, ...]
    findings: tuple[Finding, ...]
    unjudged: tuple[Unjudged, ...]
    evidence: str = ""
    """What counters and watermarks show, in one sentence; empty where there are none."""
    manager: Linted | None = None
    """What a subnet manager makes of its files, where such are among them."""

    @property
    def judged(self) -> tuple[str, ...]:
        """Files that say something of a device."""
        return tuple(file for file, form in self.files if form and form not in ASIDE)

    def fails(self, at: FindingSeverity | None) -> bool:
        """Whether a finding is at least this severe."""
        return at is not None and any(
            SEVERITIES.index(finding.severity) <= SEVERITIES.index(at) for finding in self.findings
        )

    def count(self, severity: FindingSeverity) -> int:
        """Count the findings of a severity."""
        return sum(finding.severity == severity for finding in self.findings)


@without_collector()
def lint(places: Sequence[Path], known: LintOptions, progress: Progress = silent) -> LintedPlace:
    """Judge files, or all files of folders.

    Raises:
        ArtifactError: when a place cannot be read, or holds no configuration that somebody here knows.
        UsageError: ``usage.guid`` when the manager is no GUID.
    """
    progress("reading the files", None)
    by_vendor: dict[str, list[tuple[str, bytes]]] = {}
    of_manager: list[tuple[str, bytes]] = []
    forms: list[tuple[str, str]] = []
    for name, data in read_all([*places, *([known.options] if known.options else [])]):
        vendor, form = recognise(name, data[:HEAD])
        forms.append((name, form))
        if vendor:
            by_vendor.setdefault(vendor, []).append((name, data))
        elif form in lint_manager.FORMS:
            of_manager.append((name, data))
    if not by_vendor and not of_manager:
        message = f"nobody here knows a configuration in {', '.join(str(place) for place in places)}"
        raise ArtifactError("artifact.no-configuration", message, HINT, Place(str(places[0])))
    devices: list[ObservedDevice] = []
    for vendor, files in by_vendor.items():
        progress(f"reading {len(files):,} files of {vendor}", None)
        configured = VENDORS[vendor].configured
        devices += () if configured is None else configured(files)
    progress("judging", None)
    linted = _lint_manager(of_manager, places, known, progress) if of_manager else None
    result = judge(merge_devices(devices), known.dscps)
    findings = (*(() if linted is None else linted.findings), *result.findings)
    ordered = tuple(sorted(findings, key=lambda item: SEVERITIES.index(item.severity)))
    strange = [file for file, form in forms if not form]
    unknown = [Unjudged(f"{len(strange):,} files of unknown form, as {strange[0]}", KNOWN)] if strange else []
    return replace(
        result, places=tuple(places), files=tuple(forms), findings=ordered, manager=linted,
        unjudged=(*result.unjudged, *unknown),
    )  # fmt: skip


def _lint_manager(
    files: list[tuple[str, bytes]], places: Sequence[Path], known: LintOptions, progress: Progress
) -> Linted:
    given = {str(path) for path in [*places, *([known.options] if known.options else [])] if not is_folder(path)}
    return lint_manager.lint_manager(files, given, known.fabric, known.manager, progress)


def judge(devices: Sequence[ObservedDevice], dscps: frozenset[int] | None) -> LintedPlace:
    """Judge devices that were read."""
    source = LintSource(tuple(devices), dscps)
    return LintedPlace((), (), source.devices, lint_devices(source), list_unjudged(source), say_evidence(source))


def recognise(name: str, head: bytes) -> tuple[str, str]:
    """Tell whose file it is and in which form; a subnet manager's has no vendor here, and an unknown one no form."""
    for form in FORMS:
        if form.name in lint_manager.FORMS and form.recognise(name, head):
            return "", form.name
    for vendor in VENDORS.values():
        found = None if vendor.recognise is None else vendor.recognise(name, head)
        if found is not None:
            return vendor.name, found
    return "", next((form for form, pattern in ASIDE.items() if pattern.match(head)), "")


def read_all(places: Sequence[Path]) -> Iterator[tuple[str, bytes]]:
    """Read files one by one, those of folders in the order of their names."""
    total = 0
    for number, path in enumerate(path for place in places for path in _list_files(place)):
        if number == MAX_FILES:
            message = f"there are more than {MAX_FILES:,} files"
            raise ArtifactError("artifact.too-large", message, "give the files of one fabric", Place(str(path)))
        data = read_bytes(path, MAX_BYTES, BIG)
        total += len(data)
        if total > MAX_ALL_BYTES:
            message = f"the files have more than {MAX_ALL_BYTES // 2**30} GiB"
            raise ArtifactError("artifact.too-large", message, "give the files of one fabric", Place(str(path)))
        yield str(path), data


def _list_files(place: Path) -> Iterator[Path]:
    if not is_folder(place):
        yield place
        return
    yield from (path for path in walk(place, MAX_DEPTH) if path.is_file())


def read_dscps(text: str | None) -> frozenset[int] | None:
    """Read ``26`` or ``3,4``.

    Raises:
        UsageError: ``usage.dscp`` when it is no list of numbers from 0 to 63.
    """
    if text is None:
        return None
    words = text.split(",")
    if not all(word.strip().isascii() and word.strip().isdigit() and int(word) < 64 for word in words):
        raise UsageError("usage.dscp", f"{text[:40]!r} is no list of DSCPs", "write numbers from 0 to 63, as 26 or 3,4")
    return frozenset(int(word) for word in words)


def read_fail_on(text: str) -> FindingSeverity | None:
    """Read the severity from which lint fails; ``never`` is None.

    Raises:
        UsageError: ``usage.severity``.
    """
    if text == "never":
        return None
    for severity, word in WORDS.items():
        if text == word:
            return severity
    raise UsageError(
        "usage.severity", f"{text[:40]!r} is no severity", f"choose one of {', '.join(WORDS.values())}, never"
    )
