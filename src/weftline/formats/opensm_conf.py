"""opensm.conf: the options of a subnet manager; of a key only whether there is one, never its value."""

from __future__ import annotations

import re

from weftline.errors import Place
from weftline.formats.text import ProblemLog, read_lines
from weftline.model.survey import OptionFact, SurveyPart

MAX_BYTES = 16 * 2**20
MAX_OPTIONS = 10_000
DEFAULT_SECRETS = {"sm_key": 1, "sa_key": 1}
"""Values that OpenSM has without a file, known to everybody. Read off ``opensm -c`` of 3.3.23."""
_SECRET = re.compile(r"(?:^|_)(?:m|sm|sa|cc|vs|n2n|am|mgmt)?_?key$|seed|password|secret")
_OF_LEVEL = re.compile(r"\s*cc_ca_cong_setting_(?:ccti_timer|ccti_increase|trigger_threshold|ccti_min)\s+\d{1,2}\s+\S")
"""Options that stand once for each service level: their names here end with it."""
_KNOWN = re.compile(
    rb"^[ \t]*(?:guid|m_key|sm_key|sa_key|subnet_prefix|lmc|max_wire_smps|sweep_interval|routing_engine|lfts_file|"
    rb"partition_config_file|part_enforce|sminfo_polling_timeout|honor_guid2lid_file)[ \t]+\S",
    re.MULTILINE,
)


def looks_like(head: bytes) -> bool:
    """Tell an option file by two lines that begin with options that every version knows."""
    return len(_KNOWN.findall(head)) >= 2


def is_secret(name: str) -> bool:
    """Tell whether the value of an option is a key, or what keys are made from."""
    return _SECRET.search(name) is not None


def mask(name: str, value: str) -> str:
    """Say of a secret whether it is set, zero, or what everybody has."""
    try:
        number = int(value, 0)
    except ValueError:
        return "zero" if value in {"", "(null)"} else "set"
    if number == 0:
        return "zero"
    return "default" if DEFAULT_SECRETS.get(name) == number else "set"


def parse(data: bytes, file: str) -> SurveyPart:
    """Read the options; of one that stands twice the manager takes the last."""
    log = ProblemLog(file)
    lines = read_lines(data, file, MAX_BYTES)
    if not isinstance(lines, list):
        return SurveyPart(problems=(lines,))
    found: dict[str, OptionFact] = {}
    for number, line in enumerate(lines, start=1):
        words = line.split(None, 1)
        if not words or words[0].startswith("#"):
            continue
        name, value = words[0], _clean(words[1]) if len(words) > 1 else ""
        if _OF_LEVEL.match(line):
            level, _, value = value.partition(" ")
            name, value = f"{name} {level}", value.strip()
        if name not in found and len(found) >= MAX_OPTIONS:
            log.add("artifact.dump-too-large", f"the file has more than {MAX_OPTIONS:,} options", "", number)
            break
        shown = mask(name, value) if is_secret(name) else value[:1024]
        found[name] = OptionFact(name[:128], shown, Place(file, number, 1))
    return SurveyPart(options=tuple(found.values()), problems=log.close())


def _clean(value: str) -> str:
    """Strip blanks, and the quotes that a value may stand in."""
    value = value.strip()
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return value
