"""OpenSM's options for service levels: a lane for each, and what each lane gets; written and read back strictly."""

from __future__ import annotations

from dataclasses import dataclass, field

from weftline.errors import Place
from weftline.formats.lines import Reading, read_number, read_numbers
from weftline.model.intent import FactValue
from weftline.model.levels import LEVELS, MAX_LANES, ServiceIntent
from weftline.model.observed import Fact
from weftline.vendors.opensm import policy

INSTALL = "/etc/opensm"
MAX_WEIGHT = 255
_LANE_CODES = (1, 2, 4, 8, 15)
"""Data lanes by the code of OpVLs, from 1 up. IBTA vol 1, 14.2.5.6, table 146."""
Options = dict[str, tuple[str, Place]]
"""Value and place of each option."""


def list_options(service: ServiceIntent) -> dict[str, str]:
    """List the options that set lanes, weights and the policy file."""
    options = {
        "qos": "TRUE",
        "qos_max_vls": str(service.lanes),
        # OpenSM programs OpVLs from max_op_vls alone: lanes that nobody uses then take no buffer from the others.
        "max_op_vls": str(_encode_lanes(service.lanes)),
        "qos_high_limit": str(service.high_limit),
        "qos_sl2vl": ",".join(str(lane) for lane in service.lane_of_level),
        "qos_vlarb_high": ",".join(f"{weight.key}:{weight.high}" for weight in service.weights),
        "qos_vlarb_low": ",".join(f"{weight.key}:{weight.low}" for weight in service.weights),
    }
    if service.levels:
        options["qos_policy_file"] = f"{INSTALL}/{policy.FILE}"
    return options


def _encode_lanes(lanes: int) -> int:
    return next(code for code, most in enumerate(_LANE_CODES, start=1) if lanes <= most)


def read_service(options: Options, reading: Reading) -> list[Fact]:
    """Read lanes and weights, which count only with ``qos TRUE``."""
    qos, where = options.get("qos", ("FALSE", reading.place()))
    if qos not in {"TRUE", "FALSE"}:
        reading.report("artifact.out-of-range", f"qos is {qos!r}, and is TRUE or FALSE", where)
    if qos == "TRUE":
        return _Service(options, reading, where).read()
    stray = [name for name in options if name.startswith("qos_")]
    if stray:
        reading.report("artifact.unexpected", f"option {stray[0]} counts only with qos TRUE", options[stray[0]][1])
    return []


@dataclass
class _Service:
    """The options of service levels, and what was read of them so far."""

    options: Options
    reading: Reading
    where: Place
    facts: list[Fact] = field(default_factory=list[Fact])

    def read(self) -> list[Fact]:
        """Read each option that a policy needs."""
        lanes = read_number(self.get("qos_max_vls"), 1, MAX_LANES)
        self.note("qos_max_vls", "lanes", lanes, f"a number from 1 to {MAX_LANES}")
        if lanes is not None and self.get("max_op_vls") != str(_encode_lanes(lanes)):
            message = f"max_op_vls is {self.get('max_op_vls')!r}, and {lanes} lanes need {_encode_lanes(lanes)}"
            self.reading.report("artifact.unexpected", message, self.place("max_op_vls"))
        levels = read_numbers(self.get("qos_sl2vl"), 0, MAX_LANES)
        is_whole = levels is not None and len(levels) == LEVELS
        self.note("qos_sl2vl", "lane_of_level", levels if is_whole else None, f"{LEVELS} lanes from 0 to {MAX_LANES}")
        limit = read_number(self.get("qos_high_limit"), 0, MAX_WEIGHT)
        self.note("qos_high_limit", "high_limit", limit, f"a number from 0 to {MAX_WEIGHT}")
        for name in ("high", "low"):
            option = f"qos_vlarb_{name}"
            weights = read_weights(self.get(option))
            if weights is None:
                self.note(option, "", None, f"LANE:WEIGHT for different lanes, with weights from 0 to {MAX_WEIGHT}")
            for lane, weight in (weights or {}).items():
                self.note(option, f"weights.{lane}.{name}", weight, "")
        return self.facts

    def get(self, name: str) -> str:
        """Return the value of an option, empty where it is missing."""
        return self.options.get(name, ("", self.where))[0]

    def place(self, name: str) -> Place:
        """Say where an option stands, or that of ``qos``."""
        return self.options.get(name, ("", self.where))[1]

    def note(self, name: str, path: str, value: FactValue | None, form: str) -> None:
        """Keep a fact, or report that the option is no ``form``."""
        if value is None:
            message = f"{name} is {self.get(name)[:80]!r}, and is {form}"
            self.reading.report("artifact.out-of-range", message, self.place(name))
        else:
            self.facts.append(Fact(f"service.{path}", value, self.place(name)))


def read_weights(text: str) -> dict[int, int] | None:
    """Read ``0:64,1:32`` as a weight per lane; None when it is something else."""
    found: dict[int, int] = {}
    for pair in text.split(","):
        first, _, second = pair.partition(":")
        lane, weight = read_number(first, 0, MAX_LANES - 1), read_number(second, 0, MAX_WEIGHT)
        if lane is None or weight is None or lane in found:
            return None
        found[lane] = weight
    return found
