from __future__ import annotations

from typing import Any

import pytest

from tests.designs import Rendered, render_design
from tests.fabrics import make_design
from weftline.errors import SpecError
from weftline.model.intent import IsolationIntent, PartitionIntent
from weftline.model.spec import SharedSpec, TenantSpec
from weftline.model.subnet import InfinibandSection, KeysSection
from weftline.technologies.infiniband.isolation import number_partitions

MGMT = (("mgmt", 2, "auto"),)


def seats(made: Rendered, subnet: str = "subnet-1") -> list[tuple[str, int]]:
    """List the managers of a subnet with their priorities."""
    manager = made.intent(subnet).manager
    assert manager is not None
    return [(seat.name, seat.priority) for seat in manager.seats]


def isolation(made: Rendered) -> IsolationIntent:
    """Return the partitions of the first subnet."""
    found = made.intent("subnet-1").isolation
    assert found is not None
    return found


def partition(made: Rendered, name: str) -> PartitionIntent:
    """Return one partition of the first subnet."""
    (found,) = [one for one in isolation(made).partitions if one.name == name]
    return found


def ids(made: Rendered, *names: str) -> tuple[str, ...]:
    """Port ids of ports by name, ascending."""
    keys = made.intent("subnet-1").keys
    assert keys is not None
    known = {key.name: key.key for key in keys.endpoints}
    return tuple(sorted(known[name] for name in names))


def test_the_first_extra_endpoint_is_the_manager() -> None:
    assert seats(render_design("infiniband", kind="fat-tree", hosts=15, extras=(("mgmt", 1, "auto"),))) == [
        ("mgmt/1", 15)
    ]


def test_a_host_is_the_manager_where_nothing_else_can_be() -> None:
    assert seats(render_design("infiniband", hosts=4, rails=1)) == [("host-0001/nic1", 15)]


def test_the_declared_order_is_the_order_of_priorities() -> None:
    section = InfinibandSection(managers=("host-0002/nic1", "host-0001/nic1"), sweep_interval_s=5)
    made = render_design("infiniband", kind="fat-tree", hosts=8, infiniband=section)
    assert seats(made) == [("host-0002/nic1", 15), ("host-0001/nic1", 14)]
    assert isolation(made).default_full == ids(made, "host-0001/nic1", "host-0002/nic1")
    assert "sweep_interval 5\n" in made.text("opensm/subnet-1/opensm.conf")
    lines = made.text("opensm/subnet-1/managers").splitlines()
    assert [line.split()[1:] for line in lines if not line.startswith("#")] == [
        ["15", "host-0002/nic1"],
        ["14", "host-0001/nic1"],
    ]


def test_each_plane_and_each_rail_has_a_manager() -> None:
    made = render_design(
        "infiniband", planes=2, rails=2, hosts=6, infiniband=InfinibandSection(managers=("host-0003/nic1p2",))
    )
    assert seats(made) == [("host-0001/nic1p1", 15)]
    assert seats(made, "subnet-2") == [("host-0003/nic1p2", 15)]
    rails = render_design("infiniband", kind="rail-only", rails=2, hosts=8)
    assert seats(rails) == [("host-0001/nic1", 15), ("host-0001/nic2", 15)]


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (("host-9999/nic1",), "'host-9999/nic1' is no port"),
        (("leaf-001/1",), "'leaf-001/1' is no port"),
        (("host-0001/nic1", "host-0001/nic1"), "'host-0001/nic1' stands twice"),
    ],
)
def test_a_manager_that_is_not_there(names: tuple[str, ...], words: str) -> None:
    with pytest.raises(SpecError, match=words) as caught:
        render_design("infiniband", infiniband=InfinibandSection(managers=names))
    assert caught.value.code == "spec.unknown-manager"


def test_keys_are_named_and_the_file_is_not_yet_one_that_opensm_finds() -> None:
    keys = KeysSection(m_key_file="secrets/m", sa_key_file="secrets/sa", lease_s=90, protection=3)
    made = render_design("infiniband", hosts=4, rails=1, infiniband=InfinibandSection(keys=keys))
    paths = {artifact.path for artifact in made.artifacts.artifacts}
    assert "opensm/subnet-1/opensm.conf" not in paths
    text = made.text("opensm/subnet-1/opensm.conf.in")
    lines = set(text.splitlines())
    assert {"m_key @m_key@", "sa_key @sa_key@", "m_key_lease_period 90", "m_key_protection_level 3"} <= lines
    assert "sm_key" not in text
    assert "secrets/" not in text


def test_tenants_are_numbered_as_declared_and_around_that() -> None:
    design = make_design(
        tenants=(
            TenantSpec(name="red", hosts="1", partition=0x12),
            TenantSpec(name="blue", hosts="2"),
            TenantSpec(name="green", hosts="3"),
        ),
        extras=(("disk", 1, "auto"),),
        hosts=15,
        shared=(SharedSpec(name="store", endpoints=("disk",)), SharedSpec(name="tape", endpoints=("disk",))),
        infiniband=InfinibandSection(partition_first_key=0x11),
    )
    assert number_partitions(design) == {
        "red": 0x12, "blue": 0x11, "green": 0x13, "": 0x14, "/store": 0x15, "/tape": 0x16,
    }  # fmt: skip


def test_who_shares_a_service_meets_only_the_service() -> None:
    made = render_design(
        "infiniband",
        kind="fat-tree",
        hosts=14,
        tenants=(("red", "1-2"), ("blue", "3-4"), ("green", "5-6")),
        extras=(("disk", 1, "auto"), ("mgmt", 1, "auto")),
        shared=(SharedSpec(name="store", endpoints=("disk",), tenants=("red", "blue")),),
        infiniband=InfinibandSection(managers=("mgmt/1",)),
    )
    store = partition(made, "store")
    assert store.full == ids(made, "disk/1")
    assert store.limited == ids(made, *(f"host-000{n}/nic1" for n in range(1, 5)))
    assert (store.is_first, store.is_first_of_limited) == (True, False)
    rest = partition(made, "unassigned")
    assert ids(made, "disk/1")[0] not in rest.full
    assert ids(made, "mgmt/1")[0] in rest.full
    text = made.text("opensm/subnet-1/partitions.conf")
    assert f"store=0x{store.key:04x}, indx0, defmember=full : {store.full[0]} ;" in text
    assert f"store=0x{store.key:04x}, defmember=limited : " in text


@pytest.mark.parametrize("membership", ["full", "limited", "both"])
def test_membership_of_a_tenant(membership: Any) -> None:
    made = render_design(
        "infiniband",
        hosts=4,
        rails=1,
        tenants=(TenantSpec(name="red", hosts="1-2", membership=membership),),
        infiniband=InfinibandSection(allow_both=membership == "both"),
    )
    red = partition(made, "red")
    members = {"full": red.full, "limited": red.limited, "both": red.both}
    assert {name for name, found in members.items() if found} == {membership}
    assert f"red=0x0001, indx0, defmember={membership} : " in made.text("opensm/subnet-1/partitions.conf")
