from __future__ import annotations

from tests.designs import Rendered, render_design
from weftline.model.spec import RoutingSection
from weftline.model.subnet import InfinibandSection, KeysSection

FOLDER = "opensm/subnet-1/exports"


def options(made: Rendered, path: str) -> dict[str, str]:
    """Read the options of one export."""
    lines = (line for line in made.text(f"{FOLDER}/{path}").splitlines() if line and line[0] != "#")
    return dict(line.split(" ", 1) for line in lines)


def names(made: Rendered, folder: str) -> set[str]:
    """List the files of one export."""
    head = f"{FOLDER}/{folder}/"
    return {one.path.removeprefix(head) for one in made.artifacts.artifacts if one.path.startswith(head)}


def test_a_tree_is_exported_for_the_engine_of_trees() -> None:
    made = render_design("infiniband", kind="fat-tree", hosts=15, extras=(("disk", 1, "auto"),))
    found = options(made, "upstream/opensm.conf")
    assert found["routing_engine"] == "ftree,updn,no_fallback"
    assert found["part_enforce"] == "both"
    assert "lfts_file" not in found
    assert names(made, "upstream") == {
        "README.txt", "cn-guids.conf", "guid-routing-order.conf", "io-guids.conf", "node-name-map", "opensm.conf",
        "partitions.conf", "root-guids.conf",
    }  # fmt: skip
    for option, value in found.items():
        if value.startswith("/etc/opensm/"):
            assert value.removeprefix("/etc/opensm/") in names(made, "upstream"), option
    stores = made.text(f"{FOLDER}/upstream/io-guids.conf").splitlines()[1:]
    computes = made.text(f"{FOLDER}/upstream/cn-guids.conf").splitlines()[1:]
    order = made.text(f"{FOLDER}/upstream/guid-routing-order.conf").splitlines()[1:]
    assert (len(stores), len(computes)) == (1, 15)
    assert sorted(order) == sorted(stores + computes)


def test_other_shapes_have_other_engines() -> None:
    lmc = render_design("infiniband", kind="fat-tree", hosts=16, routing=RoutingSection(lmc=1))
    assert options(lmc, "upstream/opensm.conf")["routing_engine"] == "updn,no_fallback"
    spine = render_design("infiniband", kind="fat-tree", hosts=16, spine_ports=17, extras=(("ufm", 1, "spine"),))
    assert options(spine, "upstream/opensm.conf")["routing_engine"] == "updn,no_fallback"
    one = render_design("infiniband", kind="rail-only", rails=2, hosts=4)
    assert options(one, "upstream/opensm.conf")["routing_engine"] == "minhop,no_fallback"
    assert "root_guid_file" not in options(one, "upstream/opensm.conf")


def test_each_export_says_what_it_cannot_guarantee() -> None:
    made = render_design("infiniband", hosts=4, rails=1)
    for folder in ("upstream", "nvidia"):
        assert "What it cannot guarantee:" in made.text(f"{FOLDER}/{folder}/README.txt")
    text = made.text(f"{FOLDER}/nvidia/opensm.conf")
    assert text.index("# unverified") < text.index("shield_mode")
    assert text.index("ar_sl_mask") < text.index("# unverified")
    unverified = text.partition("# unverified")[2].splitlines()[1:]
    assert unverified
    assert all(line.startswith("#") for line in unverified)


def test_a_chain_takes_its_options_from_the_main_file() -> None:
    chain = render_design("infiniband", hosts=4, rails=1).text(f"{FOLDER}/nvidia/rch.conf")
    assert "topology: 0\n" in chain
    assert "config:" not in chain


def test_keys_are_named_in_exports_too() -> None:
    keys = KeysSection(m_key_file="secrets/m")
    made = render_design("infiniband", hosts=4, rails=1, infiniband=InfinibandSection(keys=keys))
    for folder in ("upstream", "nvidia"):
        assert "opensm.conf" not in names(made, folder)
        assert options(made, f"{folder}/opensm.conf.in")["m_key"] == "@m_key@"
    assert options(made, "nvidia/opensm.conf.in")["m_key_per_port"] == "TRUE"
    plain = render_design("infiniband", hosts=4, rails=1)
    assert "m_key_per_port" not in options(plain, "nvidia/opensm.conf")


def test_each_plane_has_its_own_ends() -> None:
    made = render_design("infiniband", planes=2, rails=2, hosts=6)
    lists = [made.text(f"opensm/subnet-{plane}/exports/upstream/cn-guids.conf").splitlines()[1:] for plane in (1, 2)]
    assert len(lists[0]) == len(lists[1]) == 12
    assert not set(lists[0]) & set(lists[1])
