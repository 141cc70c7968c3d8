"""Which packets a filter lets in, rule by rule, against a slow judge that tries packets one by one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tenant_files import place, rule, say
from weftline.admit.filters import (
    Admission,
    RuleIndex,
    find_dropped_port,
    judge_sources,
    judge_tunnels,
    list_rules,
)
from weftline.admit.prefix import Prefix, is_inside, parse_prefix
from weftline.model.observed_routing import ObservedFilter, ObservedRule

ENDS = ("10.0.0.1", "10.0.0.2")
PORT = frozenset({"e1"})


def make(*rules: ObservedRule, rest: Any = None) -> ObservedFilter:
    """Make a filter."""
    return ObservedFilter(
        "f", place("leaf", "f"), rules=rules, otherwise=None if rest is None else say("leaf", "r", rest)
    )


def act(order: int, action: Any, **fields: Any) -> ObservedRule:
    """Make a rule."""
    return rule("leaf", order, action, **fields)


def find(*texts: str) -> list[Prefix]:
    """Read prefixes."""
    return [prefix for text in texts if (prefix := parse_prefix(text)) is not None]


def judge_ends(one: ObservedFilter, *ends: str, udp_port: int = 4789) -> Admission:
    """Judge a filter by what it does with packets for the ends of tunnels."""
    return judge_tunnels(one, list_rules(one, PORT), find(*ends), udp_port)


def judge(*rules: ObservedRule, rest: Any = "permit") -> str:
    """Judge a filter by what it does with packets for tunnels."""
    return judge_ends(make(*rules, rest=rest), *ENDS).verdict


DROP = {"protocol": "udp", "target_port": "4789"}


@pytest.mark.parametrize(
    "fields",
    [
        DROP, {}, {"protocol": "17"}, {"protocol": "0x11"}, {"protocol": "IP"}, {"target_port": "4789"},
        {**DROP, "target_port": "vxlan"}, {**DROP, "target_port": "4000-5000"}, {**DROP, "target_port": "4789-4789"},
        {**DROP, "target_port": "range 4788 4789"}, {**DROP, "target_port": "gt 4788"},
        {**DROP, "target_port": "lt 4790"}, {**DROP, "target_port": "neq 1"}, {**DROP, "target_port": "8472,4789"},
        {**DROP, "target_port": "4000:4789"}, {**DROP, "target": "10.0.0.0/30"}, {**DROP, "target": "0.0.0.0/0"},
        {**DROP, "source": "any"}, {**DROP, "in_ports": frozenset({"e1", "e2"})},
    ],
)  # fmt: skip
def test_a_drop_that_holds_for_all_of_them(fields: dict[str, Any]) -> None:
    assert judge(act(1, "deny", **fields), act(2, "permit")) == "drops"


@pytest.mark.parametrize(
    "fields",
    [
        {"protocol": "tcp"}, {"protocol": "6"}, {**DROP, "target_port": "4790"}, {**DROP, "target_port": "4790-5000"},
        {**DROP, "target_port": "range 1 4788"}, {**DROP, "target_port": "gt 4789"}, {**DROP, "target_port": "lt 4789"},
        {**DROP, "target_port": "neq 4789"}, {**DROP, "target_port": "8472,1"}, {**DROP, "target_port": "65536"},
        {**DROP, "target_port": "roce"}, {**DROP, "target": "10.0.0.1/32"}, {**DROP, "target": "10.0.0.2"},
        {**DROP, "target": "somewhere"}, {**DROP, "source": "10.1.0.0/31"}, {**DROP, "unread": ("DSCP",)},
        {**DROP, "protocol": "vendor"}, {**DROP, "in_ports": frozenset({"e2"})}, {**DROP, "target_port": "eq roce"},
        {"protocol": "0"},
    ],
)  # fmt: skip
def test_a_drop_that_misses_some_of_them(fields: dict[str, Any]) -> None:
    assert judge(act(1, "deny", **fields), act(2, "permit")) == "lets"


@pytest.mark.parametrize(
    ("fields", "verdict"),
    [
        ({"protocol": "tcp"}, "drops"), ({"protocol": "udp", "target_port": "4791"}, "drops"),
        ({"target": "10.9.0.0/16"}, "drops"), ({"in_ports": frozenset({"e2"})}, "drops"),
        ({"protocol": "icmp"}, "drops"), ({"target": "2001:db8::/32"}, "drops"),
        ({}, "lets"), ({"source": "10.1.0.0/31"}, "lets"), ({"protocol": "udp"}, "lets"),
        ({"target": "10.0.0.2/32"}, "lets"), ({"target": "10.0.0.0/8"}, "lets"), (DROP, "lets"),
        ({"unread": ("DSCP",)}, "unknown"), ({"protocol": "vendor"}, "unknown"), ({"target": "here"}, "unknown"),
        ({"protocol": "udp", "target_port": "roce"}, "unknown"), ({"protocol": "0"}, "unknown"),
    ],
)  # fmt: skip
def test_what_stands_before_the_drop_decides(fields: dict[str, Any], verdict: str) -> None:
    assert judge(act(2, "deny", **DROP), act(1, "permit", **fields)) == verdict


def test_other_actions_and_the_rest() -> None:
    assert judge(act(1, "other"), act(2, "deny")) == "unknown"
    assert judge(act(1, "other", protocol="tcp"), act(2, "deny")) == "drops"
    assert judge(act(1, "mirror"), act(2, "deny")) == "drops"
    assert [judge(rest=rest) for rest in ("deny", "permit", None)] == ["drops", "lets", "unknown"]
    both = judge_ends(
        make(act(1, "deny", target="10.0.0.1"), act(2, "deny", target="host 10.0.0.2"), rest="permit"), *ENDS
    )
    assert (both.verdict, both.says) == ("drops", "rule 2 of filter f drops UDP 4789 to every end of a tunnel")
    nowhere = make(act(1, "deny", target="10.0.0.1"), act(2, "permit"))
    assert judge_ends(nowhere).verdict == "lets"


def test_other_ports_of_tunnels_are_judged_as_well() -> None:
    one = make(act(1, "deny", **DROP), rest="permit")
    assert judge_ends(one, udp_port=4789).verdict == "drops"
    assert judge_ends(one, udp_port=8472).verdict == "lets"


def test_sources_of_the_port_itself_are_told_from_those_of_its_tenant() -> None:
    near, own = find("10.1.0.0/31")[0], find("10.1.0.0/16")[0]

    def judge_one(*rules: ObservedRule) -> tuple[str, bool]:
        one = make(*rules)
        found = judge_sources(one, list_rules(one, PORT), (near,), lambda source: is_inside(source, own))
        return found.verdict, found.is_exact

    drop = act(9, "deny")
    assert judge_one(act(1, "permit", source="10.1.0.1/32"), drop) == ("drops", True)
    assert judge_one(act(1, "permit", source="10.1.0.1/32"), act(2, "permit", source="10.1.9.0/24"), drop) == (
        "drops", False)  # fmt: skip
    assert judge_one(act(1, "permit", source="10.2.0.1/32"), drop)[0] == "lets"
    assert judge_one(act(1, "permit", source="10.2.0.1/32", in_ports=frozenset({"e2"})), drop) == ("drops", True)
    assert judge_one(act(1, "deny", in_ports=frozenset({"e2"})), act(2, "permit"))[0] == "lets"
    assert judge_one(act(1, "permit", source="host 10.1.0.1"))[0] == "unknown"


def test_the_port_that_a_first_rule_drops() -> None:
    drop, late = act(1, "deny", **DROP), act(3, "deny", **DROP)
    assert find_dropped_port(make(act(2, "permit"), drop)) == (4789, drop.where)
    assert find_dropped_port(make(act(2, "permit"), late)) is None
    for fields in ({"source": "10.0.0.0/8"}, {"target": "10.0.0.0/8"}, {"protocol": "tcp"}, {"target_port": "1-2"},
                   {"unread": ("x",)}, {"in_ports": PORT}, {"target_port": ""}):  # fmt: skip
        assert find_dropped_port(make(act(1, "deny", **{**DROP, **fields}))) is None
    assert find_dropped_port(make()) is None


rules = st.builds(
    act,
    st.integers(1, 9),
    st.sampled_from(["permit", "deny", "mirror"]),
    protocol=st.sampled_from(["", "udp", "17", "tcp"]),
    target_port=st.sampled_from(["", "4789", "4791", "4000-5000", "gt 4789"]),
    target=st.sampled_from(["", "10.0.0.1", "10.0.0.2/32", "10.0.0.0/30", "10.9.0.0/16"]),
    in_ports=st.sampled_from([frozenset[str](), PORT, frozenset({"e2"})]),
)


def passes(one: ObservedFilter, end: str) -> bool:
    """Send one packet through a filter, rule by rule."""
    for held in sorted(one.rules, key=lambda rule: rule.order):
        ports = {"": True, "4789": True, "4791": False, "4000-5000": True, "gt 4789": False}
        aims = {"": True, "10.0.0.1": end == "10.0.0.1", "10.0.0.2/32": end == "10.0.0.2", "10.0.0.0/30": True,
                "10.9.0.0/16": False}  # fmt: skip
        here = not held.in_ports or "e1" in held.in_ports
        if (
            here
            and held.action != "mirror"
            and held.protocol != "tcp"
            and ports[held.target_port]
            and aims[held.target]
        ):
            return held.action == "permit"
    assert one.otherwise is not None
    return one.otherwise.value == "permit"


@given(st.lists(rules, max_size=6), st.sampled_from(["permit", "deny"]))
def test_it_judges_as_packets_do(chosen: list[ObservedRule], rest: str) -> None:
    one = make(*chosen, rest=rest)
    let_in = any(passes(one, end) for end in ENDS)
    assert judge_ends(one, *ENDS).verdict == ("lets" if let_in else "drops")


@given(
    st.lists(st.tuples(st.integers(0, 4), st.frozensets(st.sampled_from("abc"), max_size=2)), max_size=8),
    st.frozensets(st.sampled_from("abcd"), max_size=3),
)
def test_an_index_finds_the_rules_that_hold_at_ports(
    rules: list[tuple[int, frozenset[str]]], ports: frozenset[str]
) -> None:
    one = make(*(act(order, "deny", source=f"10.0.0.{at}", in_ports=held) for at, (order, held) in enumerate(rules)))
    assert RuleIndex(one).find(ports) == list_rules(one, ports)


def test_a_rule_of_a_port_without_a_name_holds_at_no_other() -> None:
    assert RuleIndex(make(act(1, "deny", in_ports=frozenset({""})))).find(PORT) == []


def test_ends_of_tunnels_are_left_as_they_were() -> None:
    ends = find(*ENDS)
    filters = make(act(1, "deny", target="10.0.0.1/32", **DROP), act(2, "deny", target="10.0.0.2/32", **DROP))
    assert judge_tunnels(filters, filters.rules, ends).verdict == "drops"
    assert ends == find(*ENDS)
