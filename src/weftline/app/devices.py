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
        known = [file for file in files if vendor.recognise is None or vendor.recognise(file[0], file[1][:HEAD])]
        found.extend(vendor.configured(known))
    return merge_devices(found)
