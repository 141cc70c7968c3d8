"""Many simulations of packets at once: over seeds, and over a grid of settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weftline.cli.output import make_console, print_json, show_progress
from weftline.errors import EXIT_DONE, EXIT_NO

if TYPE_CHECKING:
    from pathlib import Path

    from weftline.app.campaign import Campaign, CampaignChoice

SHOWN_BAD = 5


def simulate_campaign(
    place: Path,
    choice: CampaignChoice,
    save: Path | None,
    page: Path | None,
    *,
    as_json: bool,
    quiet: bool,
    no_color: bool,
) -> int:
    """Do all runs, write what is asked for, and show the spread of each setting."""
    from weftline.app.campaign import run_campaign

    with show_progress(quiet=quiet, no_color=no_color) as progress:
        campaign = run_campaign(place, choice, progress)
        if save is not None:
            from weftline.app.packet_tables import save_campaign

            save_campaign(campaign, save)
        if page is not None:
            from weftline.app.report.campaign import write_campaign

            write_campaign(page, campaign)
    if as_json:
        from weftline.app.views.campaign import view_campaign

        print_json(view_campaign(campaign))
    else:
        show_campaign(campaign, no_color=no_color)
    return EXIT_NO if campaign.bad else EXIT_DONE


def show_campaign(campaign: Campaign, *, no_color: bool) -> None:
    """Print a line per setting, then the runs in which something happened that must not."""
    from weftline.app.campaign import spread_of
    from weftline.cli.layout import make_table
    from weftline.units import format_busbw, format_time_us

    console = make_console(no_color=no_color)
    taken = f", {campaign.taken_over:,} of them taken over from {campaign.state}" if campaign.taken_over else ""
    console.print(campaign.title)
    console.print(f"{len(campaign.outcomes):,} runs: {len(campaign.seeds):,} seeds of each setting{taken}")
    heads = (campaign.settings[0].axes, "least", "median", "p90", "most", "over bound", "busbw", "bad")
    table = make_table(heads, right=tuple(range(1, len(heads))))
    for index, setting in enumerate(campaign.settings):
        one = spread_of(campaign.of_setting(index))
        times = [format_time_us(time) for time in (one.least_us, one.median_us, one.p90_us, one.most_us)]
        over, busbw = f"{one.median_over_bound:.2f}x", format_busbw(one.median_busbw_gbytes_per_s)
        table.add_row(setting.name, *times, over, busbw, f"{one.bad:,}")
    console.print(table)
    for one in campaign.bad[:SHOWN_BAD]:
        lost = f", {one.lost:,} packets lost where nothing may be lost" if one.lost else ""
        words = (*(f"--{key} {value}" for key, value in campaign.settings[one.setting].words), f"--seed {one.seed}")
        console.print(f"bad: seed {one.seed} ended as {one.ending}{lost}: {' '.join(words)} shows it alone")
    if len(campaign.bad) > SHOWN_BAD:
        console.print(f"and {len(campaign.bad) - SHOWN_BAD:,} more, with --json")
    for text in campaign.assumptions:
        console.print(f"assumes: {text}", style="dim")
