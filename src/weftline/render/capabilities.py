"""What platforms can carry, held against what is asked of them before anything is written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from weftline.errors import Problem
from weftline.model.capability import Need, Wanted
from weftline.model.parts import PlatformPart, WatchdogRange


def check_needs(name: str, needs: Iterable[Need], platforms: Mapping[str, PlatformPart]) -> tuple[Problem, ...]:
    """Name each need that a platform cannot carry, and the platforms that can.

    A need of which no source says whether the platform carries it is a warning, since it may fail on the device.
    """
    problems: list[Problem] = []
    for need in needs:
        verdict = carries(platforms.get(name), need)
        if verdict is True:
            continue
        able = [other for other, part in sorted(platforms.items()) if carries(part, need) is True]
        hint = f"platforms that can: {', '.join(able)}" if able else "no platform of the catalogue is known to carry it"
        if verdict is None:
            message = f"no source says that {name} carries {need.what}"
            problems.append(Problem("capability.platform-unknown", message, hint, need.where, "warning"))
        else:
            message = f"{name} cannot carry {need.what}"
            problems.append(Problem("capability.platform", message, hint, need.where))
    return tuple(problems)


def carries(part: PlatformPart | None, need: Need) -> bool | None:
    """Say whether a platform carries a need; None when no source says so.

    Raises:
        AttributeError: the need names a field that platforms do not have.
    """
    if part is None:
        return None
    return _covers(getattr(part, need.field), need.wanted)


def _covers(has: Any, wanted: Wanted) -> bool | None:
    if has is None:
        return None
    if isinstance(has, WatchdogRange):
        return isinstance(wanted, int) and has.least <= wanted <= has.most
    if isinstance(has, bool):
        return has is wanted or wanted is False
    if isinstance(has, int):
        return isinstance(wanted, int) and wanted <= has
    every = wanted if isinstance(wanted, tuple) else (wanted,)
    return set(every) <= set(has)
