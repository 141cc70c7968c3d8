"""Campaigns of packet simulations: seeds and settings over all cores, stopped and taken up again."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import re
import time
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import cast, get_args

import numpy as np
from pydantic import TypeAdapter

from weftline import __version__
from weftline.app.files import write_text
from weftline.app.packets import PacketChoice, make_machine, tell_seed
from weftline.app.pipeline import Progress, Routed, run_to_routes, silent
from weftline.app.simulate import LoadChoice, Simulated, check_choice, simulate_routed
from weftline.errors import InternalError, UsageError
from weftline.model.campaign import Outcome, Setting, Spread
from weftline.model.packet import Machine, Recovery

AXES = ("spread", "pacing", "recovery", "files", "collective", "algorithm", "size", "ranks", "placement")
"""What a grid can vary, by the names of the options."""
MOST_RUNS = 10_000
SAVE_S = 0.5
MAX_SEED = 2**32 - 1
_RANGE = re.compile(r"(\d{1,10})\.\.(\d{1,10})")
_SEED = re.compile(r"\d{1,10}")


@dataclass(frozen=True, slots=True)
class CampaignChoice:
    """What the command line asks for: the load of every run, and what differs."""

    load: LoadChoice
    seeds: str | None = None
    """``1..100`` or ``1,2,7``; the seed of the load when None."""
    grid: tuple[str, ...] = ()
    """``spread=hash,spray``: values of one option each."""
    jobs: int | None = None
    """Runs at one time; as many as there are cores when None."""
    is_anew: bool = False
    """Whether what an earlier call found is left aside."""


@dataclass(frozen=True, slots=True)
class Campaign:
    """All runs of a campaign."""

    title: str
    routes_digest: str
    settings: tuple[Setting, ...]
    seeds: tuple[int, ...]
    outcomes: tuple[Outcome, ...]
    """By setting, then by seed."""
    taken_over: int
    """Runs that an earlier call had done."""
    state: Path
    assumptions: tuple[str, ...]

    @property
    def bad(self) -> tuple[Outcome, ...]:
        """Runs in which something happened that must not."""
        return tuple(one for one in self.outcomes if one.is_bad)

    def of_setting(self, setting: int) -> tuple[Outcome, ...]:
        """List the runs of one setting, by seed."""
        count = len(self.seeds)
        return self.outcomes[setting * count : (setting + 1) * count]


def read_seeds(text: str | None, default: int) -> tuple[int, ...]:
    """Read ``1..100``, ``1,2,7`` or both, each seed once, ascending.

    Raises:
        UsageError: ``usage.campaign``.
    """
    if text is None:
        return (default,)
    seeds: set[int] = set()
    for part in text.split(","):
        span = _RANGE.fullmatch(part.strip())
        first, last = (span[1], span[2]) if span else (part.strip(), part.strip())
        if not _SEED.fullmatch(first) or int(last) > MAX_SEED or int(last) < int(first):
            raise UsageError("usage.campaign", f"--seeds {part[:40]!r} is no range of seeds", "write 1..100 or 1,2,7")
        if int(last) - int(first) >= MOST_RUNS:
            raise _too_many(int(last) - int(first) + 1)
        seeds |= set(range(int(first), int(last) + 1))
    return tuple(sorted(seeds))


def read_grid(texts: Sequence[str]) -> tuple[Setting, ...]:
    """Read the values of each option, and list all combinations, the last option varying fastest.

    Raises:
        UsageError: ``usage.campaign``.
    """
    axes: dict[str, list[str]] = {}
    for text in texts:
        key, equals, rest = text.partition("=")
        values = [value.strip() for value in rest.split(",")]
        if key not in AXES or not equals:
            raise UsageError("usage.campaign", f"--grid {text[:60]!r} varies nothing", f"vary one of {', '.join(AXES)}")
        if key in axes or not all(values) or len(set(values)) < len(values):
            said = "stands twice" if key in axes else "has a value that is empty or stands twice"
            raise UsageError("usage.campaign", f"--grid {key} {said}", "write each option once, as spread=hash,spray")
        axes[key] = values
    return tuple(Setting(tuple(zip(axes, values, strict=True))) for values in itertools.product(*axes.values()))


def run_campaign(place: Path, choice: CampaignChoice, progress: Progress = silent) -> Campaign:
    """Go from a declaration to all runs of a campaign; what an earlier call found is taken over.

    Raises:
        UsageError: ``usage.campaign``, and what a single simulation raises.
        InternalError: what a single simulation raises, with the seed that shows it again.
    """
    settings, seeds = read_grid(choice.grid), read_seeds(choice.seeds, choice.load.seed)
    if len(settings) * len(seeds) > MOST_RUNS:
        raise _too_many(len(settings) * len(seeds))
    loads = [_without_comparison(apply_setting(choice.load, setting)) for setting in settings]
    for load in loads:
        check_choice(load)
    routed = run_to_routes(place, progress)
    machines = _make_machines(routed, loads, progress)
    key = _digest(routed, loads, machines)
    folder = routed.built.checked.workspace.folder / "campaigns"
    state = folder / f"{key[:32]}.jsonl"
    known = {} if choice.is_anew else read_outcomes(state)
    wanted = [(setting, seed) for setting in range(len(settings)) for seed in seeds]
    before = sum(run in known for run in wanted)
    title, assumptions = _run_all(routed, loads, machines, wanted, known, state, choice.jobs, progress)
    return Campaign(
        title, routed.routes.digest, settings, seeds, tuple(known[run] for run in wanted), before, state, assumptions
    )


def spread_of(outcomes: Sequence[Outcome]) -> Spread:
    """Tell how the runs of one setting, of which there must be some, differ."""
    times = np.array([one.end_us for one in outcomes])
    known = [one.busbw_gbytes_per_s for one in outcomes if one.busbw_gbytes_per_s is not None]
    quantiles = [float(np.quantile(times, share, method="inverted_cdf")) for share in (0.0, 0.5, 0.9, 1.0)]
    return Spread(
        len(outcomes), sum(one.is_bad for one in outcomes), *quantiles,
        median_over_bound=float(np.quantile([one.over_bound for one in outcomes], 0.5, method="inverted_cdf")),
        median_busbw_gbytes_per_s=float(np.quantile(known, 0.5, method="inverted_cdf")) if known else None,
        dropped=sum(one.dropped for one in outcomes), pauses=sum(one.pauses for one in outcomes),
    )  # fmt: skip


def apply_setting(load: LoadChoice, setting: Setting) -> LoadChoice:
    """Change a load by one point of the grid.

    Raises:
        UsageError: ``usage.campaign`` for a value that the option does not take.
    """
    packets = load.packets or PacketChoice()
    for key, value in setting.words:
        match key:
            case "spread":
                packets = replace(packets, spread=value)
            case "pacing":
                packets = replace(packets, carriage=replace(packets.carriage, pacing=value))
            case "recovery":
                if value not in get_args(Recovery):
                    raise UsageError(
                        "usage.campaign", f"--grid recovery={value[:40]!r} is not known",
                        "choose go-back-n or selective",
                    )  # fmt: skip
                packets = replace(packets, carriage=replace(packets.carriage, recovery=cast("Recovery", value)))
            case "files":
                packets = replace(packets, files=Path(value))
            case "ranks":
                if not _SEED.fullmatch(value) or int(value) < 1:
                    raise UsageError("usage.campaign", f"--grid ranks={value[:40]!r} is no number", "write ranks=16,32")
                load = replace(load, ranks=int(value))
            case _:
                load = replace(load, **{key: value})
    return replace(load, packets=packets)


def read_outcomes(path: Path) -> dict[tuple[int, int], Outcome]:
    """Read what an earlier call found; a line that is torn or of something else is left out."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return {}
    reader = TypeAdapter(Outcome)
    found: dict[tuple[int, int], Outcome] = {}
    for line in lines:
        try:
            outcome = reader.validate_json(line, strict=True)
        except ValueError:
            continue
        found[outcome.setting, outcome.seed] = outcome
    return found


def _make_machines(routed: Routed, loads: Sequence[LoadChoice], progress: Progress) -> list[Machine]:
    known: dict[PacketChoice, Machine] = {}
    machines: list[Machine] = []
    for load in loads:
        packets = load.packets or PacketChoice()
        alike = PacketChoice(files=packets.files, carriage=packets.carriage)
        if alike not in known:
            known[alike] = make_machine(routed, packets, progress)
        machines.append(known[alike])
    return machines


def _without_comparison(load: LoadChoice) -> LoadChoice:
    """A campaign shows what runs with faults come to, and not what the faults cost each."""
    return replace(load, packets=replace(load.packets or PacketChoice(), compares=False))


def _digest(routed: Routed, loads: Sequence[LoadChoice], machines: Sequence[Machine]) -> str:
    """Name what the runs depend on, so that those of another fabric, file or version are never taken over."""
    digest = hashlib.sha256(f"{__version__} {routed.built.fabric.digest} {routed.routes.digest}".encode())
    for load, machine in zip(loads, machines, strict=True):
        digest.update(repr(replace(load, seed=0)).encode())
        for part in (machine.medium, machine.carriage):
            for field in fields(part):
                value = getattr(part, field.name)
                digest.update(value.tobytes() if isinstance(value, np.ndarray) else repr(value).encode())
    return digest.hexdigest()


def _run_all(  # noqa: PLR0913, PLR0917 - everything that a run is made of
    routed: Routed,
    loads: Sequence[LoadChoice],
    machines: Sequence[Machine],
    wanted: Sequence[tuple[int, int]],
    known: dict[tuple[int, int], Outcome],
    state: Path,
    jobs: int | None,
    progress: Progress,
) -> tuple[str, tuple[str, ...]]:
    """Do the runs that are not known yet, as many at one time as there are cores, and save what is known.

    Kernels leave the interpreter to others, so that threads are enough, and the fabric is there once.
    """

    def do(run: tuple[int, int]) -> tuple[Outcome, Simulated]:
        setting, seed = run
        try:
            simulated = simulate_routed(routed, replace(loads[setting], seed=seed), silent, machines[setting])
        except InternalError as error:
            error.hint = f"the same run alone, with --seed {seed}, shows it again; {error.hint}"
            raise
        return _note(setting, seed, simulated), simulated

    missing = [run for run in wanted if run not in known]
    words = f"simulating {len(wanted):,} runs"
    progress(words, (len(wanted) - len(missing)) / len(wanted))
    # The first run compiles what is not compiled yet, and says what all of them assume.
    outcome, first = do(missing[0] if missing else wanted[0])
    known[outcome.setting, outcome.seed] = outcome
    saved, count = 0.0, len(wanted) - len(missing[1:])
    workers = max(1, jobs or os.cpu_count() or 1)
    with ThreadPoolExecutor(workers) as pool:
        rest = iter(missing[1:])
        running: set[Future[tuple[Outcome, Simulated]]] = {
            pool.submit(do, run) for run in itertools.islice(rest, workers)
        }
        while running:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for one in done:
                found, _ = one.result()
                known[found.setting, found.seed] = found
            running |= {pool.submit(do, run) for run in itertools.islice(rest, len(done))}
            count += len(done)
            progress(words, count / len(wanted))
            if time.monotonic() - saved >= SAVE_S:
                _save(state, known)
                saved = time.monotonic()
    _save(state, known)
    title = first.title if len(loads) == 1 else first.title.split(",")[0]
    shared = tuple(text for text in first.result.assumptions if text != tell_seed(first.seed))
    return title, shared


def _note(setting: int, seed: int, simulated: Simulated) -> Outcome:
    if simulated.sent is None:
        raise UsageError("usage.campaign", "a campaign is of packets", "add --fidelity packet")
    result = simulated.sent.packets.result
    return Outcome(
        setting, seed, result.ending, simulated.result.total_us, simulated.result.bound_low_us,
        simulated.busbw_gbytes_per_s, result.dropped, result.discarded, result.again, int(result.lanes.marks.sum()),
        int(result.lanes.pauses.sum()), result.loss.count if result.loss else 0,
    )  # fmt: skip


def _save(path: Path, known: dict[tuple[int, int], Outcome]) -> None:
    lines = [json.dumps(asdict(known[run])) for run in sorted(known)]
    write_text(path, "\n".join(lines) + "\n")


def _too_many(count: int) -> UsageError:
    return UsageError("usage.campaign", f"{count:,} runs are too many", f"a campaign has at most {MOST_RUNS:,}")
