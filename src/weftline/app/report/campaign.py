"""The page of a campaign: every run of each setting as a mark, its median and its bound."""

from __future__ import annotations

from html import escape
from pathlib import Path

import jinja2
from markupsafe import Markup

from weftline import __version__
from weftline.app.campaign import Campaign, spread_of
from weftline.app.files import write_text
from weftline.units import format_busbw, format_time_us

_WIDTH, _ROW, _LEFT, _RIGHT = 860, 40, 14, 20
_TOP, _FOOT = 8, 22


def write_campaign(path: Path, campaign: Campaign) -> Path:
    """Write the page; same campaign, same bytes."""
    write_text(path, render_campaign(campaign))
    return path


def render_campaign(campaign: Campaign) -> str:
    """Render the page."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("weftline.app", "report"), autoescape=True, undefined=jinja2.StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    rows: list[dict[str, str]] = []
    for index, setting in enumerate(campaign.settings):
        one = spread_of(campaign.of_setting(index))
        rows.append(
            {
                "name": setting.name,
                "least": format_time_us(one.least_us),
                "median": format_time_us(one.median_us),
                "p90": format_time_us(one.p90_us),
                "most": format_time_us(one.most_us),
                "over": f"{one.median_over_bound:.2f}",
                "busbw": format_busbw(one.median_busbw_gbytes_per_s),
                "dropped": f"{one.dropped:,}",
                "pauses": f"{one.pauses:,}",
                "bad": f"{one.bad:,}",
            }
        )
    return environment.get_template("campaign.html.j2").render(
        version=__version__, title=campaign.title, runs=f"{len(campaign.outcomes):,}", seeds=f"{len(campaign.seeds):,}",
        bad=len(campaign.bad), rows=rows, axes=campaign.settings[0].axes, assumptions=campaign.assumptions,
        strips=Markup(draw_runs(campaign)),  # noqa: S704  (our own SVG, escaped there)
    )  # fmt: skip


def draw_runs(campaign: Campaign) -> str:
    """Draw every run by its time, a row per setting, with the median and the bound of each."""
    top = max((one.end_us for one in campaign.outcomes), default=1.0) or 1.0
    parts: list[str] = []
    for index, setting in enumerate(campaign.settings):
        runs = campaign.of_setting(index)
        base = _TOP + index * _ROW + 16
        name = escape(setting.name)
        parts += [
            f'<text class="axis" x="{_LEFT}" y="{base - 4}">{name}</text>',
            f'<line class="grid" x1="{_LEFT}" y1="{base + 8}" x2="{_WIDTH - _RIGHT}" y2="{base + 8}"/>',
        ]
        for one in runs:
            words = escape(f"seed {one.seed}: {format_time_us(one.end_us)}, {one.ending}")
            kind = "run bad" if one.is_bad else "run"
            x = _x(one.end_us, top)
            parts.append(f'<circle class="{kind}" cx="{x:.1f}" cy="{base + 8}" r="4"><title>{words}</title></circle>')
        for kind, value in (("median", spread_of(runs).median_us), ("optimum", runs[0].bound_us)):
            x = _x(value, top)
            parts.append(f'<line class="{kind}" x1="{x:.1f}" y1="{base}" x2="{x:.1f}" y2="{base + 16}"/>')
    height = _TOP + len(campaign.settings) * _ROW + _FOOT
    for share in (0.0, 0.5, 1.0):
        end = "end" if share == 1 else "middle" if share else ""
        x = _x(share * top, top)
        parts.append(f'<text class="axis {end}" x="{x:.1f}" y="{height - 6}">{format_time_us(share * top)}</text>')
    return (
        f'<svg class="spread" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}" role="img" '
        f'aria-label="Time of every run">{"".join(parts)}</svg>'
    )


def _x(value: float, top: float) -> float:
    return _LEFT + value / top * (_WIDTH - _LEFT - _RIGHT)
