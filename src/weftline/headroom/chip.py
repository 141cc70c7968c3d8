"""The switching chip behind a name, and what headroom depends on in it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from weftline.headroom.switch import KIB, WIDE_LANES
from weftline.model.headroom import HeadroomAsic, Term
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


def list_reserved(part: AsicPart, lanes: Sequence[int], lossy_groups: int) -> tuple[Term, ...] | None:
    """List what a chip reserves beside lossless groups, given the lanes of each port that is up; None when unknown.

    Each lossy group and the management group of each port hold what is in the pipeline, twice that on eight lanes.
    ``lossy_groups`` is their number on one port. Source: sonic-net/sonic-swss, cfgmgr/buffer_pool_mellanox.lua.
    """
    if part.pipeline_kib is None or part.management_kib is None:
        return None
    pipelines = sum(2 if count >= WIDE_LANES else 1 for count in lanes)
    each = round(part.pipeline_kib * KIB)
    terms = [
        Term("lossy groups", lossy_groups * pipelines * each, f"{lossy_groups} * {pipelines} * {each:,} B"),
        Term("management groups", pipelines * each, f"{pipelines} * {each:,} B"),
        Term("management pool", part.management_kib * KIB),
    ]
    if part.mirror_kib is not None:
        mirror = round(part.mirror_kib * KIB)
        terms.append(Term("mirrors", len(lanes) * mirror, f"{len(lanes)} * {mirror:,} B"))
    if part.descriptors_kib is not None:
        terms.append(Term("descriptors", part.descriptors_kib * KIB))
    return tuple(terms)
