"""What each lane gets of a link, as options of a subnet manager say it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from weftline.errors import ArtifactError
from weftline.model.levels import LEVELS, MAX_LANES, NO_LANE
from weftline.model.parameters import Figure
from weftline.model.survey import OptionFact

NO_LIMIT = 255
"""A high limit that lets lanes of high priority go first for ever. IBTA vol 1, 7.6.9."""
EQUAL = Figure(1, "default", "no options say how lanes share a link: alike")
WEIGHTED = Figure("weighted", "default", "no options say how lanes share a link: alike")


@dataclass(frozen=True, slots=True)
class LaneWeights:
    """Shares of lanes on every link of a subnet."""

    lanes: int
    """Lanes in use, counted from lane 0."""
    shares: Mapping[int, tuple[Figure, Figure]]
    """Arbitration and weight of each lane that an option names."""
    assumptions: tuple[str, ...] = ()

    def share(self, lane: int) -> tuple[Figure, Figure]:
        """Give arbitration and weight of a lane."""
        return self.shares.get(lane, (WEIGHTED, EQUAL))


def read_weights(options: Mapping[str, OptionFact]) -> LaneWeights:
    """Read the options of service levels; without ``qos TRUE`` every lane is alike.

    A lane with a weight of high priority goes before all others; a finite limit of it is said among the assumptions.

    Raises:
        ArtifactError: ``artifact.packet-option`` for what is no list of lanes or weights.
    """
    qos = options.get("qos")
    if qos is None or qos.value.upper() != "TRUE":
        return LaneWeights(1, {})
    used = {lane for lane in _read_list(options.get("qos_sl2vl")) if lane != NO_LANE}
    high, low = (_read_pairs(options.get(f"qos_vlarb_{name}")) for name in ("high", "low"))
    assumptions: list[str] = []
    limit = options.get("qos_high_limit")
    shares: dict[int, tuple[Figure, Figure]] = {}
    for lane in sorted({*high, *low} & used):
        option = options["qos_vlarb_high"] if high.get(lane) else options.get("qos_vlarb_low")
        where = qos.where if option is None else option.where
        name = qos.name if option is None else option.name
        words = "strict" if high.get(lane) else "weighted"
        weight = high.get(lane) or low.get(lane, 0)
        shares[lane] = Figure(words, "file", name, where), Figure(max(weight, 1), "file", name, where)
        if not weight:
            assumptions.append(f"lane {lane} has no weight, and would never be sent: it has the least instead")
    strict = [lane for lane in shares if high.get(lane)]
    if strict and (limit is None or limit.value != str(NO_LIMIT)):
        said = "not said" if limit is None else limit.value[:20]
        assumptions.append(f"lanes of high priority go first without a limit (qos_high_limit is {said})")
    if max(used, default=0) >= MAX_LANES:
        raise ArtifactError("artifact.packet-option", "qos_sl2vl names a lane above 14", "", qos.where)
    return LaneWeights(max(used, default=0) + 1, shares, tuple(assumptions))


def _read_list(option: OptionFact | None) -> list[int]:
    """Read the lane of each level; what no option says is lane 0."""
    if option is None:
        return [0]
    try:
        lanes = [int(word, 0) for word in option.value.split(",")]
    except ValueError:
        lanes = []
    if not 1 <= len(lanes) <= LEVELS or any(not 0 <= lane <= NO_LANE for lane in lanes):
        message = f"{option.name} is {option.value[:60]!r}, and is {LEVELS} lanes from 0 to {NO_LANE}"
        raise ArtifactError("artifact.packet-option", message, "write them as 0,1,2,...", option.where)
    return lanes


def _read_pairs(option: OptionFact | None) -> dict[int, int]:
    """Read ``0:64,1:32``; several entries of a lane add up."""
    found: dict[int, int] = {}
    for pair in () if option is None else option.value.split(","):
        lane, _, weight = pair.partition(":")
        try:
            numbers = int(lane, 0), int(weight, 0)
        except ValueError:
            numbers = (-1, -1)
        if option is not None and not (0 <= numbers[0] <= NO_LANE and 0 <= numbers[1] <= NO_LIMIT):
            message = f"{option.name} is {option.value[:60]!r}, and is LANE:WEIGHT, with weights from 0 to 255"
            raise ArtifactError("artifact.packet-option", message, "write them as 0:64,1:32", option.where)
        found[numbers[0]] = found.get(numbers[0], 0) + numbers[1]
    return found
