"""The switching chip behind a name, and what headroom depends on in it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from weftline.model.headroom import HeadroomAsic
from weftline.model.parts import AsicPart

_MODEL = re.compile(r"^[^-]+-[^-]+?-(?P<model>.+?)(?:-simx)?(?:-r\d+)?$")


def find_asic(asics: Mapping[str, AsicPart], name: str) -> str | None:
    """Name the chip of a SONiC platform (``x86_64-nvidia_sn5600-r0``) or hardware SKU; None when nobody says.

    A SKU carries the model of its platform, as ``Mellanox-SN5600-O128``; of several models the longest counts.
    """
    said = name.lower().replace("_", "-")
    best, found = "", None
    for asic, part in asics.items():
        for platform in part.sonic_platforms:
            match = _MODEL.match(platform.lower().replace("_", "-").replace("x86-64", "x86", 1))
            model = "" if match is None else match["model"]
            for form in (model, model.removeprefix("m")):
                if len(form) > len(best) and re.search(rf"(?:^|[^a-z0-9]){re.escape(form)}(?:[^a-z0-9]|$)", said):
                    best, found = form, asic
    return found


def headroom_asic(part: AsicPart | None) -> HeadroomAsic | None:
    """Take from a chip what the headroom formula needs; None where a figure has no source."""
    if part is None or part.cell_bytes is None or part.is_tiled is None:
        return None
    if part.pipeline_kib is None or part.mac_phy_kib is None:
        return None
    return HeadroomAsic(
        cell_bytes=part.cell_bytes,
        pipeline_kib=part.pipeline_kib,
        mac_phy_kib=part.mac_phy_kib,
        is_tiled=part.is_tiled,
        pause_quanta=tuple((item.speed_mbps, item.quanta) for item in part.pause_quanta),
    )
