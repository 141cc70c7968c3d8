"""Rendered files read back by their vendors, and held against what the devices should do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from weftline.errors import Place, Problem
from weftline.model.artifact import ArtifactSet
from weftline.model.intent import DeviceIntent, FactValue, list_facts
from weftline.model.observed import Fact, ObservedConfig
from weftline.model.vendor import Vendor

SHOWN = 20
"""Problems that are listed: where a vendor writes one thing wrongly, every device has it."""


def check_files(
    intents: Sequence[DeviceIntent], vendors: Sequence[Vendor], artifacts: ArtifactSet
) -> tuple[Problem, ...]:
    """Say where the files and the intents differ; nothing when the files say exactly what the intents do.

    What several vendors say of one device must agree. Costs about three times as long as rendering.
    """
    observed = [config for vendor in vendors for config in vendor.observe(artifacts)]
    return tuple(islice(_list_differences(intents, observed, vendors), SHOWN))


def list_sayable(
    intent: DeviceIntent, vendors: Sequence[Vendor], observed: Sequence[ObservedConfig]
) -> dict[str, FactValue]:
    """List the facts of an intent that at least one of the vendors that wrote files for the device can say."""
    names = {config.vendor for config in observed if config.device == intent.device}
    own = [vendor.unsaid for vendor in vendors if vendor.name in names]
    facts = list_facts(intent)
    if not own or any(unsaid is None for unsaid in own):
        return facts
    return {
        path: value for path, value in facts.items() if not all(unsaid is not None and unsaid(path) for unsaid in own)
    }


def _list_differences(
    intents: Sequence[DeviceIntent], observed: Sequence[ObservedConfig], vendors: Sequence[Vendor]
) -> Iterator[Problem]:
    for config in observed:
        yield from config.problems
    said: dict[str, list[Fact]] = {}
    for config in observed:
        said.setdefault(config.device, []).extend(config.facts)
    by_device: dict[str, list[ObservedConfig]] = {}
    for config in observed:
        by_device.setdefault(config.device, []).append(config)
    meant = {intent.device: list_sayable(intent, vendors, by_device.get(intent.device, ())) for intent in intents}
    for device in sorted(meant.keys() | said.keys()):
        yield from _compare_facts(device, meant.get(device, {}), said.get(device, ()))


def _compare_facts(device: str, meant: Mapping[str, FactValue], said: Sequence[Fact]) -> Iterator[Problem]:
    for fact in said:
        if fact.path not in meant or fact.value != meant[fact.path]:
            shall = repr(meant[fact.path])[:80] if fact.path in meant else "unsaid"
            yield _differs(f"{device}: {fact.path} is {repr(fact.value)[:80]}, and should be {shall}", fact.where)
    for path in sorted(meant.keys() - {fact.path for fact in said}):
        yield _differs(f"{device}: no file says {path}", None)


def _differs(message: str, where: Place | None) -> Problem:
    return Problem("internal.render-differs", message, where=where)
