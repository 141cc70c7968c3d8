"""The page of packet simulations: how each ended, who was paused when, what held it, and two configurations beside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import jinja2
import numpy as np
from markupsafe import Markup

from weftline import __version__
from weftline.app.files import write_text
from weftline.app.packets import PS_PER_US, Packets, has_credits, rank_ports, tell_cost, tell_ending, tell_loss
from weftline.app.report.figures import draw_heat_map, gather_heat_maps
from weftline.app.report.over_time import draw_completions, draw_strips
from weftline.app.report.page import load_legend, port_share
from weftline.model.fabric import Fabric
from weftline.units import format_busbw, format_time_us

STRIPS = 6
HOLDERS = 8


@dataclass(frozen=True, slots=True)
class Side:
    """One simulation, and what it is called on the page."""

    name: str
    title: str
    packets: Packets
    busbw_gbytes_per_s: float | None
    assumptions: tuple[str, ...]
    reductions: tuple[str, ...] = ()
    """What of it was reduced in the network along which trees, or why not."""


def write_packets(path: Path, fabric: Fabric, sides: Sequence[Side]) -> Path:
    """Write a page of one simulation, or of two side by side at the same scales; same input, same bytes."""
    write_text(path, render_packets(fabric, sides))
    return path


def render_packets(fabric: Fabric, sides: Sequence[Side]) -> str:
    """Render the page."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("weftline.app", "report"), autoescape=True, undefined=jinja2.StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    ports = _choose_ports(sides)
    names = [fabric.port_name(at) for at in ports]
    end = max(side.packets.result.end_ps for side in sides)
    top = max(
        [float(side.packets.result.series.queued_bytes[:, ports].max(initial=0)) for side in sides] if ports else [0.0]
    )
    longest = max(float(np.nanmax(_took(side.packets), initial=0.0)) for side in sides)
    shown = [_show(side, fabric, ports, names, (max(top, 1.0), end, max(longest, 1e-6))) for side in sides]
    return environment.get_template("packets.html.j2").render(
        version=__version__, name=fabric.name, sides=shown, legend=Markup(load_legend()),  # noqa: S704
        pauses=not all(has_credits(side.packets) for side in sides),
    )  # fmt: skip


def _choose_ports(sides: Sequence[Side]) -> list[int]:
    """Choose the ports that suffered most in any of the runs, so that the same ones stand side by side."""
    ranked = [rank_ports(side.packets, STRIPS) for side in sides]
    found: list[int] = []
    for turn in range(STRIPS):
        for ports in ranked:
            if turn < len(ports) and ports[turn] not in found and len(found) < STRIPS:
                found.append(ports[turn])
    return found


def _took(packets: Packets) -> np.ndarray:
    result = packets.result
    took = (result.finish_ps - result.start_ps) / PS_PER_US
    return np.where(result.finish_ps < 0, np.nan, took)


def _show(
    side: Side, fabric: Fabric, ports: list[int], names: list[str], tops: tuple[float, int, float]
) -> dict[str, object]:
    packets, result = side.packets, side.packets.result
    queue, end, longest = tops
    share = port_share(fabric, result.port_bytes.astype(np.float64), result.end_ps / PS_PER_US)
    return {
        "name": side.name,
        "title": side.title,
        "is_bad": packets.is_bad,
        "ending": tell_ending(packets, fabric),
        "loss": tell_loss(packets, fabric),
        "faults": packets.disturbance.told if packets.disturbance else (),
        "cost": tell_cost(packets),
        "cards": _cards(side),
        "strips": Markup(draw_strips(result.series, ports, names, queue, end, _marks(packets))),  # noqa: S704  (our own SVG, escaped there)
        "has_strips": bool(ports),
        "has_completions": bool(np.isfinite(_took(packets)).any()),
        "completions": Markup(draw_completions(_took(packets), longest)),  # noqa: S704
        "maps": [
            {"title": heat.title, "svg": Markup(draw_heat_map(heat))}  # noqa: S704
            for heat in gather_heat_maps(fabric, share)
        ],
        "held_by": [(one.name, format_time_us(one.wait_us)) for one in packets.held_by[:HOLDERS]],
        "ports": [_port_row(packets, fabric, at) for at in rank_ports(packets)],
        "reductions": side.reductions,
        "assumptions": side.assumptions,
    }


def _marks(packets: Packets) -> tuple[float, ...]:
    return packets.disturbance.marks_us if packets.disturbance else ()


def _cards(side: Side) -> list[tuple[str, str]]:
    result = side.packets.result
    return [
        ("finished after" if result.ending == "done" else "stopped after", format_time_us(result.end_ps / PS_PER_US)),
        ("bus bandwidth", format_busbw(side.busbw_gbytes_per_s)),
        ("packets dropped", f"{result.dropped:,}"),
        _waits(side.packets),
        ("packets marked", f"{int(result.lanes.marks.sum()):,}"),
        ("packets sent again", f"{result.again:,}"),
    ]


def _waits(packets: Packets) -> tuple[str, str]:
    """Say how often links were paused, or how long one had no credit."""
    lanes = packets.result.lanes
    if has_credits(packets):
        return "longest without credit", format_time_us(float(lanes.starved_ps.max(initial=0)) / PS_PER_US)
    return "pause frames", f"{int(lanes.pauses.sum()):,}"


def _port_row(packets: Packets, fabric: Fabric, at: int) -> dict[str, str]:
    lanes = packets.result.lanes
    return {
        "port": fabric.port_name(at),
        "held": format_time_us(float(lanes.held_ps[at].sum() + lanes.starved_ps[at].sum()) / PS_PER_US),
        "queue": f"{int(lanes.most_queued[at].max()):,}",
        "pauses": f"{int(lanes.pauses[at].sum()):,}",
        "marks": f"{int(lanes.marks[at].sum()):,}",
        "drops": f"{int(lanes.drops[at].sum()):,}",
    }
