from __future__ import annotations

from typing import Any

from tests.designs import render_design
from weftline.model.spec import TenantSpec
from weftline.model.subnet import InfinibandSection, KeysSection, QosSection, ServiceClass
from weftline.technologies.infiniband import risks

TENANTS = (TenantSpec(name="red", hosts="1-2"), TenantSpec(name="blue", hosts="3-4"))


def find(**options: Any) -> tuple[str, ...]:
    """List what remains of a design."""
    return render_design("infiniband", kind="fat-tree", hosts=15, **options).intent("subnet-1").risks


def test_nothing_is_said_of_a_design_that_promises_nothing() -> None:
    assert find() == ()


def test_tenants_without_a_key_rest_on_trust() -> None:
    found = find(tenants=TENANTS, extras=(("mgmt", 1, "auto"),))
    assert found[0] == risks.NO_KEY
    assert {risks.ENUMERATION, risks.NO_ENCRYPTION, risks.ONE_TENANT, risks.CLEARED} < set(found)
    assert risks.LOGGED_KEYS not in found


def test_a_manager_on_the_host_of_a_tenant() -> None:
    found = find(tenants=TENANTS)
    assert "runs at host-0001/nic1, a host of tenant red" in found[0]


def test_a_key_is_one_for_all_and_is_logged() -> None:
    keys = KeysSection(m_key_file="m", protection=1)
    found = find(tenants=TENANTS, extras=(("mgmt", 1, "auto"),), infiniband=InfinibandSection(keys=keys))
    assert found[:3] == (risks.ONE_KEY, risks.OPEN_READING, risks.LOGGED_KEYS)
    assert risks.NO_KEY not in found


def test_levels_are_chosen_by_hosts() -> None:
    qos = QosSection(classes=(ServiceClass(name="a", sl=1, vl=0),))
    assert find(infiniband=InfinibandSection(qos=qos)) == (risks.CHOSEN_LEVELS,)


def test_what_remains_stands_in_the_manifest_and_not_in_every_file() -> None:
    made = render_design("infiniband", hosts=4, rails=1, tenants=TENANTS)
    assert risks.NO_ENCRYPTION in made.artifacts.notes
    assert risks.NO_ENCRYPTION not in made.text("opensm/subnet-1/partitions.conf")
