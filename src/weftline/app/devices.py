"""What rendered files say device by device, read by the same code that reads files of others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weftline.app.build import Built
from weftline.lint.merging import merge_devices
from weftline.model.addresses import Addresses
from weftline.model.artifact import ArtifactSet
from weftline.model.intent import DeviceIntent
from weftline.model.observed import ObservedDevice
from weftline.model.routes import Routes
from weftline.render import render
from weftline.vendors import VENDORS

HEAD = 65_536


@dataclass(frozen=True, slots=True)
class DeviceFiles:
    """What every device should do, the files that were rendered for it, and what these say."""

    intents: tuple[DeviceIntent, ...]
    artifacts: ArtifactSet
    observed: tuple[ObservedDevice, ...]
    """Read from the bytes of the files; empty where the technology judges nothing by it."""


def render_devices(built: Built, addresses: Addresses, routes: Routes) -> DeviceFiles:
    """Render the files of all devices, and read them as anybody's files where claims are about what they say."""
    design, spec = built.checked.technology.design, built.checked.design
    names = design.list_vendors(spec)
    intents = design.intents(spec, built.fabric, addresses, routes)
    artifacts = render(intents, tuple(VENDORS[name] for name in names), of=routes.digest)
    return DeviceFiles(intents, artifacts, () if design.lossless is None else observe_devices(artifacts, names))


def observe_devices(artifacts: ArtifactSet, names: Sequence[str]) -> tuple[ObservedDevice, ...]:
    """Read the files of some vendors, and put together what several of them say of one device."""
    found: list[ObservedDevice] = []
    for name in names:
        vendor = VENDORS[name]
        if vendor.configured is None:
            continue
        files = [(one.path, one.content) for one in artifacts.artifacts if one.vendor == name]
        forms = [vendor.recognise is None or vendor.recognise(path, content[:HEAD]) for path, content in files]
        known = [file for file, form in zip(files, forms, strict=True) if form and form != vendor.change_form]
        found.extend(vendor.configured(known))
    return merge_devices(found)
