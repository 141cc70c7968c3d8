"""What rendered files say device by device, read by the same code that reads files of others."""

from __future__ import annotations

from collections.abc import Sequence

from weftline.lint.merging import merge_devices
from weftline.model.artifact import ArtifactSet
from weftline.model.observed import ObservedDevice
from weftline.vendors import VENDORS

HEAD = 65_536


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
