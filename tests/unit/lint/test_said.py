"""All that lint says of each fault, word by word, so that a rule which says less, more or another place is noticed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any, cast

from tests.unit.lint import test_tenancy
from tests.unit.lint.faults import FAULTS, Fabric
from tests.unit.lint.good import make_fabric
from weftline.lint import LintSource, lint_devices
from weftline.lint.coverage import list_unjudged
from weftline.model.finding import Finding
from weftline.model.observed import ObservedDevice
from weftline.model.observed_port import ObservedPort

SAID = Path(__file__).with_name("said.txt")
"""Written anew by ``WEFTLINE_GOLDEN=write``; a change says in its commit why a rule says something else."""


def write(title: str, findings: Iterable[Finding]) -> Iterator[str]:
    """Write findings as lines below a title."""
    yield f"# {title}"
    for finding in findings:
        where = " ".join(f"{one.file}:{one.line}:{one.path}" for one in finding.where)
        yield f"{finding.severity} {finding.rule} {finding.subject} [{where}]"
        yield f"  {finding.message}"
        yield f"  right: {finding.next_step}"
    yield ""


def list_lines() -> Iterator[str]:
    """List what is said of every fault."""
    for rule in sorted(FAULTS):
        yield from write(rule, lint_devices(LintSource(FAULTS[rule]())))
    for rule, changes in sorted(test_tenancy.FAULTS.items()):
        for number, change in enumerate(changes, 1):
            yield from write(f"{rule}, {number}", test_tenancy.lint(change))


def list_parts(devices: tuple[ObservedDevice, ...]) -> Iterator[tuple[str, tuple[ObservedDevice, ...]]]:
    """List parts of a fabric of which not all can be judged."""
    yield "switches alone", tuple(device for device in devices if device.role == "switch")
    yield "hosts alone", tuple(device for device in devices if device.role == "host")
    yield "one switch", devices[:1]
    yield "all", devices


def list_gaps() -> Iterator[str]:
    """List what is said where one thing is not: a field of a port, of its queue, group or NIC, or of its device.

    Each is taken away at one device, then at all.
    """
    fabric = make_fabric()
    for role in ("switch", "host"):
        first = next(device for device in fabric if device.role == role)
        for names in (frozenset({first.name}), frozenset(device.name for device in fabric if device.role == role)):
            for field in _list_fields(first):
                if field not in {"name", "role", "vendor", "files", "ports", "covers"}:
                    yield from _lint(fabric, names, f"no {field}", lambda one, field=field: _empty(one, field))
            for field in _list_fields(first.ports[0]):
                if field not in {"name", "where"}:
                    yield from _lint(fabric, names, f"no {field} of ports", lambda one, field=field: replace(
                        one, ports=tuple(_empty(port, field) for port in one.ports)))  # fmt: skip
            for kind in ("nic", "groups", "queues", "watchdog"):
                yield from _list_inner(fabric, names, kind)


def _list_inner(fabric: Fabric, names: frozenset[str], kind: str) -> Iterator[str]:
    port = next(one for one in fabric if one.name in names).ports[0]
    held: Any = getattr(port, kind)
    for field in _list_fields(held[0] if isinstance(held, tuple) and held else held):
        if field not in {"key", "first", "last", "where", "profile"}:

            def change(one: ObservedDevice, field: str = field) -> ObservedDevice:
                return replace(one, ports=tuple(_empty_inner(port, kind, field) for port in one.ports))

            yield from _lint(fabric, names, f"no {field} of {kind}", change)


def _empty_inner(port: ObservedPort, kind: str, field: str) -> ObservedPort:
    held: Any = getattr(port, kind)
    if isinstance(held, tuple):
        items = cast("tuple[Any, ...]", held)
        return replace(port, **{kind: tuple(_empty(one, field) for one in items)})
    return port if held is None else replace(port, **{kind: _empty(held, field)})


def _list_fields(value: Any) -> list[str]:
    """List the fields that say something."""
    names = () if not is_dataclass(value) else (one.name for one in fields(value))
    return [name for name in names if getattr(value, name) not in (None, (), frozenset())]


def _empty(value: Any, name: str) -> Any:
    return replace(value, **{name: () if isinstance(getattr(value, name), tuple) else None})


def _lint(
    fabric: Fabric, names: frozenset[str], title: str, change: Callable[[ObservedDevice], ObservedDevice]
) -> Iterator[str]:
    changed = tuple(change(one) if one.name in names else one for one in fabric)
    yield from write(f"{title}: {', '.join(sorted(names))}", lint_devices(LintSource(changed)))


def list_all() -> Iterator[str]:
    """List findings, and what cannot be judged of parts of a fabric."""
    yield from list_lines()
    yield from list_gaps()
    for title, part in list_parts(make_fabric()):
        yield f"# not judged: {title}"
        yield from (f"{item}" for item in list_unjudged(LintSource(part)))
        yield ""


def test_every_word_of_every_rule() -> None:
    said = "\n".join(list_all())
    if os.environ.get("WEFTLINE_GOLDEN") == "write":
        SAID.write_text(said, encoding="utf-8")
    assert said.splitlines() == SAID.read_text(encoding="utf-8").splitlines()
