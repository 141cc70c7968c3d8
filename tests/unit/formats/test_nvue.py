"""NVUE's settings become one tree with places: changes in order, ranges spread, secrets hidden, bounds kept."""

from __future__ import annotations

import pytest

from weftline.formats.nvue import NvueFile, expand_key, read_nvue
from weftline.formats.settings import Setting

STARTUP = b"""- header:
    model: MSN4600
    nvue-api-version: nvue_v1
    version: Cumulus Linux 5.15.0
- set:
    interface:
      swp1-3:
        mtu: 9216
        type: swp
      swp2:
        mtu: 1500
    qos:
      pfc:
        default-global:
          switch-priority:
            2-3: {}
      roce: {enable: on}
    system:
      aaa: {user: {admin: {hashed-password: '$6$abc'}}}
- unset:
    interface:
      swp3: {type: }
"""


def value(read: NvueFile, *path: str) -> tuple[str | None, int, int] | None:
    """Find a value and its place."""
    found = read.root.find(*path)
    return None if found is None else (found.text, found.line, found.column)


def test_changes_are_made_in_their_order() -> None:
    read = read_nvue(STARTUP, "startup.yaml")
    assert read.problems == ()
    assert (read.release, read.model) == ((5, 15), "MSN4600")
    assert value(read, "interface", "swp1", "mtu") == ("9216", 8, 9)
    assert value(read, "interface", "swp2", "mtu") == ("1500", 11, 9)
    assert value(read, "interface", "swp2", "type") == ("swp", 9, 9)
    assert value(read, "interface", "swp3", "type") is None
    assert value(read, "qos", "roce", "enable") == ("on", 17, 14)
    priorities = read.root.find("qos", "pfc", "default-global", "switch-priority")
    assert priorities is not None
    assert list(priorities.children) == ["2", "3"]
    assert value(read, "system", "aaa", "user", "admin", "hashed-password") == ("set", 19, 28)


def test_commands_say_the_same() -> None:
    read = read_nvue(
        b"nv set interface swp1-3 mtu 9216\nnv set qos roce enable on\nroot@leaf:~# nv set interface lo type loopback\n"
        b"nv unset interface swp3\nnv config apply\n",
        "commands.txt",
    )
    assert read.problems == ()
    assert list(dict(read.root.items("interface"))) == ["swp1", "swp2", "lo"]
    assert value(read, "interface", "swp2", "mtu") == ("9216", 1, 25)
    assert value(read, "qos", "roce", "enable") == ("on", 2, 17)


def test_a_bare_tree_and_json_are_read() -> None:
    assert value(read_nvue(b"qos:\n  roce:\n    mode: lossless\n", "x"), "qos", "roce", "mode") == ("lossless", 3, 5)
    assert value(read_nvue(b'{"set": {"qos": {"roce": {"enable": "on"}}}}', "x"), "qos", "roce", "enable") is not None


@pytest.mark.parametrize(
    ("key", "names"),
    [
        ("swp1-3", ("swp1", "swp2", "swp3")),
        ("swp1-2,5", ("swp1", "swp2", "swp5")),
        ("swp1s0-3", ("swp1s0", "swp1s1", "swp1s2", "swp1s3")),
        ("swp1-2s0-1", ("swp1s0", "swp1s1", "swp2s0", "swp2s1")),
        ("swp1,bond2", ("swp1", "bond2")),
        ("10,20", ("10", "20")),
        ("ipv4-unicast", ("ipv4-unicast",)),
        ("swp1-999999", ("swp1-999999",)),
    ],
)
def test_ranges(key: str, names: tuple[str, ...]) -> None:
    assert expand_key(key) == names


BOMB = b"a: &a [1,1,1,1,1,1,1,1,1,1]\n" + b"".join(
    b"%c: &%c [%s]\n" % (98 + step, 98 + step, b",".join([b"*%c" % (97 + step)] * 10)) for step in range(9)
)
RANGES = b"".join(b"%sinterface:\n%sswp1-4000:\n" % (b" " * 4 * step, b" " * (4 * step + 2)) for step in range(4))


@pytest.mark.parametrize(
    ("data", "code", "line", "column"),
    [
        (b"- set:\n    qos:\n      roce: {", "artifact.config-yaml", 4, 1),
        (b"a: b: c", "artifact.config-yaml", 1, 5),
        (b"? [a]\n: b", "artifact.config-yaml", 1, 3),
        (b"&a [*a]", "artifact.config-yaml", 1, 5),
        (b"[" * 3_000, "artifact.config-yaml", 1, None),
        (b"just words", "artifact.config-yaml", 1, 1),
        (b"- set: {a: {b: 1}}\n- sat: {}\n", "artifact.config-yaml", 2, 1),
        (b"a: 1\na: 2\n", "artifact.config-twice", 2, 1),
        (b"\xff\xfea", "artifact.config-binary", 1, 1),
        (b"", "artifact.config-empty", None, None),
        (BOMB, "artifact.config-too-large", 6, None),
        (RANGES, "artifact.config-too-large", 6, None),
        (b"nv set a b\nnv fly\n", "artifact.config-line", 2, 1),
    ],
)
def test_what_settings_cannot_be(data: bytes, code: str, line: int | None, column: int | None) -> None:
    (problem,) = [problem for problem in read_nvue(data, "x").problems if problem.code == code]
    assert problem.where is not None
    assert problem.where.line == line
    assert column is None or problem.where.column == column


def test_what_stands_before_an_error_is_kept() -> None:
    read = read_nvue(STARTUP[: STARTUP.index(b"enable")], "startup.yaml")
    assert [problem.code for problem in read.problems] == ["artifact.config-yaml"]
    assert value(read, "interface", "swp2", "mtu") == ("1500", 11, 9)


def test_a_setting_without_anything_below_has_no_text() -> None:
    assert Setting(1, 1).text is None
