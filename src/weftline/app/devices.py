"""What rendered files say device by device, read by the same code that reads files of others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from weftline.app.build import Built
from weftline.app.bulk import beside
from weftline.errors import Problem
from weftline.lint.merging import merge_devices
from weftline.model.addresses import Addresses
from weftline.model.artifact import ArtifactSet
from weftline.model.observed import ObservedDevice
from weftline.model.routes import Routes
from weftline.render import check_files, render
from weftline.vendors import VENDORS

HEAD = 65_536


MAX_CHECKED_BYTES = 192 * 2**20
"""Files of one design that are read back before they are written, some seconds; larger sets carry a note instead."""
MIN_BESIDE_BYTES = 16 * 2**20
"""From here on they are read back on a second processor."""


@dataclass(frozen=True, slots=True)
class DeviceFiles:
    """The files that were rendered for every device, and what they say."""

    artifacts: ArtifactSet
    problems: tuple[Problem, ...]
    """Where the files and what the devices should do differ, read back strictly."""
    observed: tuple[ObservedDevice, ...]
    """Read as anybody's files; empty where the technology judges nothing by it."""


def render_devices(built: Built, addresses: Addresses, routes: Routes) -> DeviceFiles:
    """Render the files of all devices and read them back: strictly, and as anybody's where claims are about them."""
    design, spec = built.checked.technology.design, built.checked.design
    names = design.list_vendors(spec)
    vendors = tuple(VENDORS[name] for name in names)
    intents = design.intents(spec, built.fabric, addresses, routes)
    artifacts = render(intents, vendors, of=routes.digest)
    size = sum(len(artifact.content) for artifact in artifacts.artifacts)
    judges_files = design.lossless is not None
    if size > MAX_CHECKED_BYTES:
        note = f"the files were not read back: they have {size:,} bytes, and up to {MAX_CHECKED_BYTES:,} are"
        artifacts = replace(artifacts, notes=(*artifacts.notes, note))
        return DeviceFiles(artifacts, (), observe_devices(artifacts, names) if judges_files else ())

    def check() -> tuple[Problem, ...]:
        return check_files(intents, vendors, artifacts)

    with beside(check, if_worth=judges_files and size >= MIN_BESIDE_BYTES) as result:
        observed = observe_devices(artifacts, names) if judges_files else ()
        return DeviceFiles(artifacts, result(), observed)


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
