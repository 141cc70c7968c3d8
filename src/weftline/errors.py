"""Every failure of Weftline: a place in the input, a stable code, and the exit status it leads to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

EXIT_DONE = 0
EXIT_INPUT = 1
EXIT_NO = 2
EXIT_REFUSED = 3
EXIT_UNREACHABLE = 4
EXIT_CHANGE_FAILED = 5
EXIT_USAGE = 64
EXIT_BUG = 70

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the input something stands; lines and columns count from 1."""

    file: str
    line: int | None = None
    column: int | None = None
    path: str = ""
    """The key path inside the document, such as ``hosts.count``."""

    def __hash__(self) -> int:
        """Hash what is cheap to know: a path tells places apart, and its line may have to be looked up first."""
        return hash((self.file, self.path or self.line))

    def __str__(self) -> str:
        parts = [self.file]
        if self.line is not None:
            parts.append(str(self.line))
            if self.column is not None:
                parts.append(str(self.column))
        return ":".join(parts)


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with an input, returned as a value so that all of them are seen at once."""

    code: str
    message: str
    hint: str = ""
    where: Place | None = None
    severity: Severity = "error"

    @property
    def is_error(self) -> bool:
        """Whether the work cannot go on, or its result cannot be trusted."""
        return self.severity == "error"


class WeftlineError(Exception):
    """The work could not be done.

    ``code`` is ``family.kebab-words`` and has a section that ``weftline explain`` prints.
    """

    family: ClassVar[str] = "internal"
    exit_status: ClassVar[int] = EXIT_BUG

    def __init__(
        self,
        code: str,
        message: str,
        hint: str = "",
        where: Place | None = None,
        problems: tuple[Problem, ...] = (),
    ) -> None:
        """Keep what happened, what to do next, and the single problems behind it."""
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.where = where
        self.problems = problems


class SpecError(WeftlineError):
    """The declaration is wrong or cannot be built."""

    family = "spec"
    exit_status = EXIT_INPUT


class CapabilityError(WeftlineError):
    """A part, platform or technology cannot carry what was declared."""

    family = "capability"
    exit_status = EXIT_INPUT


class ArtifactError(WeftlineError):
    """A file could not be read, parsed or written."""

    family = "artifact"
    exit_status = EXIT_INPUT


class UsageError(WeftlineError):
    """The command line was used wrongly."""

    family = "usage"
    exit_status = EXIT_USAGE


class RefusedError(WeftlineError):
    """A guard refused the work."""

    family = "refused"
    exit_status = EXIT_REFUSED


class SourceError(WeftlineError):
    """A source or a device was not reachable."""

    family = "source"
    exit_status = EXIT_UNREACHABLE


class EnactError(WeftlineError):
    """A change to something that runs failed."""

    family = "enact"
    exit_status = EXIT_CHANGE_FAILED


class InternalError(WeftlineError):
    """A bug of ours."""

    family = "internal"
    exit_status = EXIT_BUG
