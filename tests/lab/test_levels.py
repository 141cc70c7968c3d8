"""Service levels under a real OpenSM: lanes, weights and levels by destination are what was rendered."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import replace
from pathlib import Path

from tests.designs import render_design
from weftline.drivers import DRIVERS
from weftline.labs import LABS
from weftline.labs.ibsim import opensm
from weftline.model.artifact import ArtifactSet
from weftline.model.driver import Rendered
from weftline.model.lab import LabDesign, LabSubnet
from weftline.model.levels import GroupIntent, LevelIntent, MatchIntent, ServiceIntent, WeightIntent
from weftline.render import render

LANES = 4


def make_service(first: str, fifth: str) -> ServiceIntent:
    """Send traffic to one endpoint, from another, and of questions that name a partition, over lanes of their own."""
    return ServiceIntent(
        lanes=LANES,
        lane_of_level=tuple(level if level < LANES else 15 for level in range(16)),
        high_limit=4,
        weights=tuple(WeightIntent(lane, 64 if lane == 3 else 0, 16 * (lane + 1)) for lane in range(LANES)),
        levels=(LevelIntent("DEFAULT", 0), LevelIntent("one", 1), LevelIntent("two", 2), LevelIntent("three", 3)),
        groups=(GroupIntent("first", (first,)), GroupIntent("fifth", (fifth,))),
        matches=(
            MatchIntent(1, "one", destination="first"),
            MatchIntent(2, "two", source="fifth"),
            MatchIntent(3, "three", partition=2),
        ),
    )


def test_lanes_weights_and_levels(tmp_path: Path) -> None:
    made = render_design(
        "infiniband", hosts=8, rails=1, unit_size=4, tenants=(("red", "1-4"), ("blue", "5-8")), kind="fat-tree"
    )
    manager = made.intent("subnet-1")
    assert manager.keys is not None
    endpoints = {key.name: key for key in manager.keys.endpoints}
    service = make_service(endpoints["host-0001/nic1"].key, endpoints["host-0005/nic1"].key)
    intents = tuple(replace(one, service=service) if one is manager else one for one in made.intents)
    artifacts = render(intents, made.vendors, of="")
    own = [one for one in artifacts.artifacts if one.vendor == "opensm"]
    files = {one.path.rpartition("/")[2]: one.content for one in own}
    design = LabDesign("", made.fabric, made.addresses, (LabSubnet("subnet-1", 0, files),))
    lab, driver = LABS["ibsim"], DRIVERS["opensm"]
    folder = tmp_path / "lab"
    try:
        status = lab.up(design, folder, lambda _text, _share: None)
        (access,) = status.accesses
        options = dict(
            line.split(" ", 1) for line in files["opensm.conf"].decode().splitlines() if not line.startswith("#")
        )
        assert driver.wants_lanes(options)
        (config,) = made.vendors[0].observe(ArtifactSet("", tuple(own)))
        state = driver.read_state(access, True)
        readback = driver.compare(Rendered(config, options, made.fabric, made.addresses, 0), state, access.entry)
        assert readback.differences == ()
        assert readback.compared["lanes"] > 8
        assert readback.compared["arbitration"] > 8
        lids = {name: key.first for name, key in endpoints.items()}
        questions = (
            ("0002", "0001", (), 1),
            ("0001", "0002", (), 0),
            ("0005", "0006", (), 2),
            ("0006", "0005", (), 0),
            ("0006", "0005", ("--pkey", "0x8002"), 3),
        )
        for source, target, more, level in questions:
            pair = f"{lids[f'host-{source}/nic1']}:{lids[f'host-{target}/nic1']}"
            environment = {**os.environ, **access.environment, "LD_PRELOAD": opensm.find_library()}
            said = subprocess.run(
                ["saquery", "PR", "--src-to-dst", pair, *more],
                env=environment, cwd=folder, capture_output=True, text=True, timeout=60, check=True,
            ).stdout  # fmt: skip
            found = re.search(r"sl\.*(0x[0-9A-Fa-f]+|\d+)", said)
            assert found is not None, said
            assert int(found[1], 0) == level, (source, target)
    finally:
        lab.down(folder)
