"""Tenants are kept apart on every platform: proved on what is read from the rendered files of its switches."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.designs import Rendered, render_design
from weftline.model.artifact import ArtifactSet
from weftline.model.observed import ObservedDevice
from weftline.model.proof import Verdict
from weftline.model.roce import RoceSection
from weftline.prove.separate import prove_separation
from weftline.prove.tenancy.cabling import bind_files
from weftline.render.check import check_files
from weftline.technologies.roce.owners import list_owners
from weftline.vendors import VENDORS

TENANTS = (("red", "1-2"), ("blue", "3-4"))


def make(system: str) -> Rendered:
    """Render a small fabric with two tenants."""
    section = RoceSection.model_validate({"platform": {"system": system}})
    return render_design("roce", hosts=4, rails=2, tenants=TENANTS, roce=section)


def judge(made: Rendered, artifacts: ArtifactSet, system: str) -> Verdict:
    """Prove the tenants apart on the files of one platform."""
    configured = VENDORS[system].configured
    assert configured is not None
    files = [(one.path, one.content) for one in artifacts.artifacts if one.vendor == system]
    devices: tuple[ObservedDevice, ...] = configured(files)
    owners = list_owners(made.design, made.fabric)
    return prove_separation(bind_files(made.fabric, owners, devices, source="files", of=""), required=True).verdict


@pytest.mark.parametrize("system", ["eos", "nvue"])
def test_tenants_are_kept_apart(system: str) -> None:
    made = make(system)
    switches = [intent for intent in made.intents if intent.role == "switch"]
    own = ArtifactSet("", tuple(one for one in made.artifacts.artifacts if one.vendor == system))
    assert check_files(switches, (VENDORS[system],), own) == ()
    assert judge(made, made.artifacts, system) is Verdict.PROVED


@pytest.mark.parametrize("system", ["eos", "nvue"])
def test_routes_of_another_tenant_are_seen(system: str) -> None:
    """A leaf whose one VRF takes over the routes of the other keeps nobody apart."""
    made = make(system)
    tenancy = made.intent("leaf-001").tenancy
    assert tenancy is not None
    red, blue = tenancy.vrfs[0], tenancy.vrfs[1]
    files = list(made.artifacts.artifacts)
    place = next(at for at, one in enumerate(files) if one.vendor == system and one.device == "leaf-001")
    text = files[place].content.decode()
    for target in red.imports:
        text = text.replace(target, blue.exports[0])
    files[place] = replace(files[place], content=text.encode())
    assert judge(made, ArtifactSet("", tuple(files)), system) is not Verdict.PROVED


EDGE = {
    "eos": ("   10 deny udp any any eq 4789\n", "   10 deny udp any any eq 8472\n"),
    "nvue": ("'4789':", "'8472':"),
}


@pytest.mark.parametrize("system", sorted(EDGE))
def test_a_port_that_lets_tunnel_packets_in_is_seen(system: str) -> None:
    """One rule of one port's filter drops another UDP port than that of tunnels."""
    made = make(system)
    files = list(made.artifacts.artifacts)
    place = next(at for at, one in enumerate(files) if one.vendor == system and one.device == "leaf-001")
    good, bad = EDGE[system]
    text = files[place].content.decode()
    good = good if good in text else good.replace("'", "")
    assert good in text
    files[place] = replace(files[place], content=text.replace(good, bad, 1).encode())
    assert judge(made, ArtifactSet("", tuple(files)), system) is Verdict.REFUTED
