"""The verb that simulates: a job, a collective and other loads, as fluid or packet by packet."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from weftline.cli import load_words as words
from weftline.cli.options import Json, NoColor, Place, Quiet, Seed
from weftline.errors import EXIT_DONE, EXIT_NO, UsageError

if TYPE_CHECKING:
    from weftline.app.packets import PacketChoice
    from weftline.app.simulate import LoadChoice, Simulated
    from weftline.model.parameters import CarriageChoice

FLUID, PACKET = "fluid", "packet"


def simulate(
    place: Place,
    collective: words.Collective = None,
    algorithm: words.Algorithm = None,
    size: words.Size = None,
    ranks: words.Ranks = None,
    placement: words.Placement = None,
    seed: Seed = 0,
    job: words.Job = None,
    latency_us: words.LatencyUs = None,
    load: words.Load = None,
    trace: words.Trace = None,
    straggler: words.Straggler = None,
    fidelity: words.Fidelity = FLUID,
    spread: words.Spread = None,
    pacing: words.Pacing = None,
    recovery: words.Recovery = None,
    fault: words.Fault = None,
    faults: words.FaultFile = None,
    reroute_after: words.RerouteAfter = None,
    seeds: words.Seeds = None,
    grid: words.Grid = None,
    jobs: words.Jobs = None,
    anew: words.Anew = False,
    until_us: words.UntilUs = None,
    parameters: words.Parameters = False,
    files: words.Files = None,
    against: words.Against = None,
    save: words.Save = None,
    page: words.Page = None,
    as_json: Json = False,
    quiet: Quiet = False,
    no_color: NoColor = False,
) -> int:
    """Simulate the declared job's all-reduce, or the collective and other loads that the options describe.

    With --fidelity packet a deadlock, or a loss where nothing may be lost, gives exit status 2.
    """
    if parameters:
        from weftline.cli.parameters import show_parameters

        choice = _choose_carriage(pacing, recovery)
        return show_parameters(place, files, choice, as_json=as_json, quiet=quiet, no_color=no_color)
    packets = _choose_packets(fidelity, spread, pacing, recovery, until_us, files)
    _refuse_without_packets(
        fidelity, {"--spread": spread, "--pacing": pacing, "--recovery": recovery, "--until-us": until_us,
        "--files": files, "--against": against, "--save": save, "--page": page, "--fault": fault, "--faults": faults,
        "--reroute-after": reroute_after, "--seeds": seeds, "--grid": grid, "--jobs": jobs},
    )  # fmt: skip
    from weftline.app.simulate import LoadChoice

    if packets is not None:
        packets = replace(packets, faults=tuple(fault or ()), fault_file=faults, reroute_us=reroute_after)
    others, late = tuple(load or ()), tuple(straggler or ())
    which = (collective, algorithm, size, ranks, placement)
    choice = LoadChoice(*which, seed, latency_us, job, others, trace, late, packets)
    if seeds is not None or grid:
        many = (seeds, grid or [], jobs, anew)
        return _run_campaign(place, choice, many, against, save, page, as_json=as_json, quiet=quiet, no_color=no_color)
    return _run(place, choice, against, save, page, as_json=as_json, quiet=quiet, no_color=no_color)


def _run_campaign(
    place: Path,
    choice: LoadChoice,
    many: tuple[str | None, list[str], int | None, bool],
    against: Path | None,
    save: Path | None,
    page: Path | None,
    *,
    as_json: bool,
    quiet: bool,
    no_color: bool,
) -> int:
    from weftline.app.campaign import CampaignChoice
    from weftline.cli.campaigning import simulate_campaign

    if against is not None:
        raise UsageError("usage.choice", "a campaign has no --against", "write --grid files=FOLDER,FOLDER")
    seeds, grid, jobs, is_anew = many
    runs = CampaignChoice(choice, seeds, tuple(grid), jobs, is_anew)
    return simulate_campaign(place, runs, save, page, as_json=as_json, quiet=quiet, no_color=no_color)


def _choose_packets(
    fidelity: str,
    spread: str | None,
    pacing: str | None,
    recovery: str | None,
    until_us: float | None,
    files: Path | None,
) -> PacketChoice | None:
    if fidelity not in {FLUID, PACKET}:
        raise UsageError("usage.choice", f"--fidelity {fidelity[:40]!r} is not known", f"choose {FLUID} or {PACKET}")
    carriage = _choose_carriage(pacing, recovery)
    if fidelity == FLUID:
        return None
    from weftline.app.packets import PacketChoice

    return PacketChoice(spread or "hash", until_us, files, carriage)


def _choose_carriage(pacing: str | None, recovery: str | None) -> CarriageChoice:
    if recovery not in {None, "go-back-n", "selective"}:
        raise UsageError(
            "usage.choice", f"--recovery {str(recovery)[:40]!r} is not known", "choose go-back-n or selective"
        )
    from weftline.model.parameters import CarriageChoice

    known = "go-back-n" if recovery == "go-back-n" else "selective" if recovery == "selective" else None
    return CarriageChoice(pacing=pacing, recovery=known)


def _refuse_without_packets(fidelity: str, given: dict[str, object]) -> None:
    """Refuse options that mean nothing as fluid, so that nobody thinks they did something."""
    for name, value in given.items() if fidelity == FLUID else ():
        if value is not None:
            raise UsageError("usage.choice", f"{name} is of packets", "add --fidelity packet, or leave it out")


def _run(
    place: Path,
    choice: LoadChoice,
    against: Path | None,
    save: Path | None,
    page: Path | None,
    *,
    as_json: bool,
    quiet: bool,
    no_color: bool,
) -> int:
    """Simulate once, or with two configurations; write what is asked for, and show it."""
    from weftline.app.simulate import simulate_both, simulate_place
    from weftline.cli import show
    from weftline.cli.output import show_progress

    with show_progress(quiet=quiet, no_color=no_color) as progress:
        if against is None:
            simulated, second = simulate_place(place, choice, progress), None
        else:
            simulated, second = simulate_both(place, choice, against, progress)
        if save is not None and simulated.sent is not None:
            from weftline.app.packet_tables import save_packets

            progress("writing tables", None)
            save_packets(simulated.sent.packets, simulated.sent.flows, simulated.sent.fabric, save)
        if page is not None:
            _write_page(page, simulated, second, against)
    shown = [simulated] if second is None else [simulated, second]
    show.show_simulations(shown, as_json=as_json, no_color=no_color)
    is_bad = any(one.sent is not None and one.sent.packets.is_bad for one in shown)
    return EXIT_NO if is_bad else EXIT_DONE


def _write_page(page: Path, simulated: Simulated, second: Simulated | None, against: Path | None) -> None:
    from weftline.app.report.packets import Side, write_packets
    from weftline.app.simulate import tell_reductions

    if simulated.sent is None:
        return
    sides = [
        Side(name, one.title, one.sent.packets, one.busbw_gbytes_per_s, one.result.assumptions, tell_reductions(one))
        for name, one in (("first", simulated), (f"against {against}", second))
        if one is not None and one.sent is not None
    ]
    write_packets(page, simulated.sent.fabric, sides)
