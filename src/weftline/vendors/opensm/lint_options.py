"""What OpenSM's options say about partitions and about the keys that protect them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from weftline.model.finding import Finding, FindingSeverity
from weftline.model.survey import OptionFact
from weftline.vendors.opensm.prediction import ENFORCEMENTS

SWEEP_S = 10
"""Seconds between sweeps where no option says."""
NO_KEY = "without a management key, root on any host can rewrite tables, and every proof of isolation falls"


def judge_options(options: Sequence[OptionFact]) -> Iterator[Finding]:
    """Judge the options that were given; what is absent from a file has OpenSM's default."""
    known = {option.name: option for option in options}
    if known:
        yield from _judge_enforcement(known)
        yield from _judge_management_key(known)
        yield from _judge_shared_keys(known)


def _make(
    rule: str, severity: FindingSeverity, option: OptionFact | None, message: str, step: str, *controls: str
) -> Finding:
    subject = "opensm.conf" if option is None else f"option {option.name}"
    return Finding(rule, severity, subject, message, step, () if option is None else (option.where,), controls)


def _judge_enforcement(known: Mapping[str, OptionFact]) -> Iterator[Finding]:
    rule, step = "partition.enforcement-off", "write part_enforce both"
    old = known.get("no_partition_enforcement")
    if old is not None and old.value == "TRUE":
        message = "no_partition_enforcement TRUE: no switch port enforces, whatever part_enforce says"
        yield _make(rule, "critical", old, message, "take the option out, and write part_enforce both", "TEN-03")
    option = known.get("part_enforce")
    if option is None or option.value == "both":
        return
    if option.value == "off":
        message = "no switch port enforces partitions: only the table of a host keeps its packets in"
        yield _make(rule, "critical", option, message, step, "TEN-03")
    elif option.value in ENFORCEMENTS:
        message = f"switch ports enforce in one direction only ({option.value}): packets reach ports of other tenants"
        yield _make(rule, "critical", option, message, step, "TEN-03")
    else:
        message = f"{option.value[:40]!r} is no word that OpenSM knows; it enforces in both directions"
        yield _make(rule, "note", option, message, step, "TEN-03")


def _judge_management_key(known: Mapping[str, OptionFact]) -> Iterator[Finding]:
    key = known.get("m_key")
    if key is None or key.value != "set":
        message = f"no management key is set: {NO_KEY}"
        step = "set m_key from a file of mode 0600, m_key_protection_level 2, and the same on each standby"
        yield _make("keys.no-management-key", "critical", key, message, step, "IBS-01")
        return
    level = known.get("m_key_protection_level")
    if level is None or _number(level, 0) < 2:
        value = 0 if level is None else _number(level, 0)
        message = f"protection level {value}: anybody can read the management key with one packet"
        yield _make("keys.protection-level", "critical", level or key, message, "m_key_protection_level 2", "IBS-01")
    lease, sweep = known.get("m_key_lease_period"), known.get("sweep_interval")
    seconds = 0 if lease is None else _number(lease, 0)
    interval = SWEEP_S if sweep is None else _number(sweep, SWEEP_S)
    if lease is not None and 0 < seconds <= interval:
        message = f"the lease of {seconds} s is no longer than the {interval} s between sweeps: protection lapses"
        step = "make the lease longer than a sweep and than the fail-over to a standby"
        yield _make("keys.lease", "critical", lease, message, step, "IBS-01")


def _judge_shared_keys(known: Mapping[str, OptionFact]) -> Iterator[Finding]:
    for name, who in (("sm_key", "other managers"), ("sa_key", "whoever asks the subnet administrator as trusted")):
        option = known.get(name)
        value = "default" if option is None else option.value
        if value == "set":
            continue
        rule = "keys.sm-key" if name == "sm_key" else "keys.sa-key"
        word = "zero" if value == "zero" else "the one that every OpenSM has"
        message = f"{name} is {word}, so {who} need no secret"
        yield _make(rule, "warning", option, message, f"set {name} from a file of mode 0600", "IBS-02")


def _number(option: OptionFact, otherwise: int) -> int:
    try:
        return int(option.value, 0)
    except ValueError:
        return otherwise
