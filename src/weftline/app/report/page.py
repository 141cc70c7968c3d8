"""The page: every section of the report as plain values, and the one template that lays them out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import jinja2
import numpy as np
from markupsafe import Markup

from weftline import __version__
from weftline.app.pipeline import Proved
from weftline.app.report.bundles import gather_picture
from weftline.app.report.circle import draw_circle, gather_circle, map_groups
from weftline.app.report.figures import BUCKETS, HeatMap, draw_heat_map, draw_topology, gather_heat_maps
from weftline.app.report.grid import draw_grid
from weftline.app.report.spread import draw_classes, draw_worst
from weftline.app.simulate import Simulated
from weftline.kernels.column import F64
from weftline.model.artifact import ArtifactSet
from weftline.model.fabric import Fabric
from weftline.model.proof import Proof
from weftline.model.rehearsal import Rehearsal
from weftline.model.result import JobPrediction
from weftline.model.spread import Family, LoadSpread
from weftline.model.topology import GROUPED
from weftline.units import format_busbw, format_size, format_time_us

MAX_SAMPLE_LINES = 160
MAX_SAMPLE_BYTES = 48_000
MAX_BUSIEST = 12
MAX_FILES = 300


@dataclass(frozen=True, slots=True)
class ReportInput:
    """All that the report shows."""

    proved: Proved
    simulated: Simulated
    artifacts: ArtifactSet | None
    files_folder: str
    files_reason: str
    failures: tuple[Rehearsal, F64] | None = None
    """A rehearsal of every link, where there was one, and the worst loss behind each port."""
    spread: LoadSpread | None = None
    """How loads spread over links; None where the fabric is too large to measure it on the way."""


def render_report(source: ReportInput) -> str:
    """Render the whole page; the same input gives the same bytes."""
    loader = jinja2.PackageLoader("weftline.app", "report")
    environment = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template("page.html.j2").render(_context(source))


def _context(source: ReportInput) -> dict[str, object]:
    built = source.proved.routed.built
    fabric, site = built.fabric, built.checked.design.spec.site
    return {
        "version": __version__,
        "name": fabric.name,
        "technology": built.checked.technology.name,
        "shape": fabric.shape,
        "facility": site.facility,
        "jurisdiction": site.jurisdiction,
        "accepted": source.proved.report.is_accepted,
        "warnings": [problem.message for problem in built.checked.warnings],
        "routes": {
            "engine": source.proved.routed.routes.engine,
            "entries": f"{source.proved.routed.routes.entries:,}",
            "switches": f"{len(fabric.switch_node):,}",
            "guarantee": source.proved.routed.routes.guarantee,
        },
        **_fabric_part(source.proved),
        **_load_part(source),
        "spread": [] if source.spread is None else show_spread(source.spread),
        "hashed": source.spread is not None and not source.spread.is_single,
        "failures": None if source.failures is None else _show_failures(fabric, *source.failures),
        **_proof_part(source.proved.report.proofs),
        **_job_part(source.simulated),
        **_file_part(source),
        "limits": list(source.artifacts.notes) if source.artifacts else [],
        "origin": [
            {"what": "Declaration", "digest": built.checked.design.digest},
            {"what": "Fabric", "digest": fabric.digest},
            {"what": "Addresses", "digest": source.proved.routed.addresses.digest},
            {"what": "Routes", "digest": source.proved.routed.routes.digest},
        ],
    }


def _fabric_part(proved: Proved) -> dict[str, object]:
    built = proved.routed.built
    counts, design = built.counts, built.checked.design
    cards = [
        ("hosts", counts.hosts),
        ("GPUs", counts.gpus),
        ("endpoints (NIC ports)", counts.endpoints),
        ("switches", sum(counts.switches.values())),
        ("cables", sum(counts.cables.values())),
        ("logical links", counts.links),
    ]
    tiers = [
        ("core", design.core.name, "spine_core"),
        ("spine", design.spine.name, "leaf_spine"),
        ("leaf", design.leaf.name, "host_leaf"),
    ]
    rows = [
        {"tier": tier, "part": part, "devices": f"{counts.switches[tier]:,}", "cables": f"{counts.cables[run]:,}"}
        for tier, part, run in tiers
        if counts.switches[tier]
    ]
    rows += [
        {"tier": words, "part": part.name, "devices": "", "cables": f"{counts.cables[run]:,}"}
        for run, part, words in (
            ("leaf_leaf", design.leaf_leaf, "leaf to leaf"),
            ("between_groups", design.between_groups, "group to group"),
        )
        if part is not None and counts.cables[run]
    ]
    rows.append({"tier": "host", "part": design.host_name, "devices": f"{counts.hosts:,}", "cables": ""})
    return {"cards": [{"label": label, "value": f"{value:,}"} for label, value in cards], "tiers": rows}


def port_share(fabric: Fabric, port_bytes: F64, total_us: float) -> F64:
    """Turn bytes sent into the share of each port's capacity over a run."""
    capacity = fabric.port_rate_gbps * 125.0 * max(total_us, 1e-12)
    return np.divide(port_bytes, capacity, out=np.zeros(fabric.port_count), where=capacity > 0)


def _load_part(source: ReportInput) -> dict[str, object]:
    fabric = source.proved.routed.built.fabric
    result = source.simulated.result
    share = port_share(fabric, result.port_bytes, result.total_us)
    worst, words = _worst_shift(source.proved)
    known = source.simulated.has_loads
    topology, is_gathered = _draw(fabric, share if known or worst is None else worst)
    order = np.lexsort((np.arange(fabric.port_count), -share))[:MAX_BUSIEST]
    return {
        "topology": Markup(topology),  # noqa: S704  (our own SVG, escaped there)
        "gathered": is_gathered,
        "legend": Markup(load_legend()),  # noqa: S704
        "load_of": source.simulated.title if known else "the worst shift permutation",
        "maps": [_show_map(heat) for heat in _heat_maps(fabric, share)] if known else [],
        "maps_reason": "" if known else "The job was not simulated, so the load of each link in it is not known.",
        "worst_maps": [] if worst is None else [_show_map(heat) for heat in _heat_maps(fabric, worst)],
        "worst_text": words,
        "busiest": [
            {
                "link": fabric.link_name(int(port)),
                "bytes": format_size(float(result.port_bytes[port])),
                "share": f"{share[port]:.1%}",
            }
            for port in order
            if result.port_bytes[port] > 0
        ],
    }


def show_spread(spread: LoadSpread) -> list[dict[str, object]]:
    """Show shifts and random permutations as pictures, with their figures in words."""
    return [
        {
            "title": _title_family(family, spread.seed),
            "words": f"The busiest link carries {float(family.worst.max()):.3g} times its rate, "
            f"{float(np.median(family.worst)):.3g} in the median of patterns; no routes could bring the worst "
            f"pattern below {float(family.optimum.max()):.3g}. On average a flow is left with "
            f"{float(family.share_mean.mean()):.1%} of its rate, the least with "
            f"{float(family.share_least.min()):.1%}."
            + (f" {family.lost:,} flows are not delivered." if family.lost else ""),
            "figures": [Markup(draw_classes(family)), Markup(draw_worst(family))],  # noqa: S704
        }
        for family in spread.families
        if family.name in {"shifts", "permutations"} and len(family.worst)
    ]


def _title_family(family: Family, seed: int) -> str:
    count = len(family.pattern)
    if not family.of:
        return f"{count:,} random permutations (seed {seed})"
    return f"All {count:,} shifts" if count == family.of else f"{count:,} of {family.of:,} shifts"


def _show_failures(fabric: Fabric, told: Rehearsal, loss: F64) -> dict[str, object]:
    """Show what a lost link costs the job that it costs most, by kind and as a map of links."""
    return {
        "what": f"{told.states:,} states: {told.what}; {told.broken:,} are not allowed",
        "load": told.load,
        "kinds": [
            {
                "kind": kind.kind,
                "states": f"{kind.states:,}",
                "broken": f"{kind.broken:,}",
                "loss": "unknown" if np.isnan(kind.most_lost) else f"{kind.most_lost:.1%}",
                "leave": f"{kind.most_leaving:,}",
            }
            for kind in told.kinds
        ],
        "maps": [_show_map(heat, "Loss") for heat in _heat_maps(fabric, loss)[::2]],
        "legend": Markup(_loss_legend()),  # noqa: S704
        "worst": [
            {
                "fault": state.fault,
                "kind": state.kind,
                "loss": "unknown" if None in dict(state.job_loss).values() else f"{state.most_lost:.1%}",
                "leave": f"{state.leaving:,}",
                "cut": f"{state.lost_endpoints:,}",
                "link": next((link for _, link in state.worst_link), "") if state.most_lost else "",
                "breaks": "; ".join(state.breaks),
            }
            for state in told.worst
        ],
    }


def _loss_legend() -> str:
    """Explain the colours of losses; nothing lost looks like nothing, and what is not known like neither."""
    steps = ["nothing", *(f"to {round(100 * step / (BUCKETS - 2))} %" for step in range(1, BUCKETS - 1))]
    items = "".join(f'<span><i class="load-{i}"></i>{text}</span>' for i, text in enumerate(steps))
    return f'<div class="legend">{items}<span><i class="load-unknown"></i>not known</span></div>'


def _draw(fabric: Fabric, load: F64) -> tuple[str, bool]:
    """Draw a fabric as suits its shape; also say whether switches were gathered to fit."""
    if fabric.shape in GROUPED:
        circle = gather_circle(fabric, load)
        return draw_circle(circle), any(label.startswith("groups") for label in circle.labels)
    grid = draw_grid(fabric, load) if fabric.node_place is not None else ""
    if grid:
        return grid, False
    picture = gather_picture(fabric, load)
    return draw_topology(picture), any(box.nodes > 1 and box.row for box in picture.boxes)


def _heat_maps(fabric: Fabric, load: F64) -> tuple[HeatMap, ...]:
    maps = gather_heat_maps(fabric, load)
    return (map_groups(gather_circle(fabric, load)), *maps) if fabric.shape in GROUPED else maps


def _worst_shift(proved: Proved) -> tuple[F64 | None, str]:
    """Take the load of the worst shift from the balance certificate, as a share of each link's rate."""
    for proof in proved.report.proofs:
        if proof.claim == "balance" and proof.certificate is not None and "load_gbps" in proof.certificate.columns:
            rate = proved.routed.built.fabric.port_rate_gbps
            load = proof.certificate.columns["load_gbps"].astype(np.float64)
            share: F64 = np.divide(load, rate, out=np.zeros(len(rate)), where=rate > 0)
            return share, f"{proof.statement} The map shows the worst of them, as a share of each link's rate."
    return None, ""


def _show_map(heat: HeatMap, what: str = "Load") -> dict[str, object]:
    note = "" if heat.block == (1, 1) else f"worst of blocks of {heat.block[0]} by {heat.block[1]} switches"
    return {"title": heat.title, "note": note, "svg": Markup(draw_heat_map(heat, what))}  # noqa: S704


def load_legend() -> str:
    """Explain the colours of loads."""
    steps = ["idle", *(f"to {round(100 * step / (BUCKETS - 2))} %" for step in range(1, BUCKETS - 1)), "over"]
    items = "".join(f'<span><i class="load-{i}"></i>{text}</span>' for i, text in enumerate(steps))
    return f'<div class="legend">{items}</div>'


def _proof_part(proofs: Sequence[Proof]) -> dict[str, object]:
    return {
        "proofs": [
            {
                "claim": proof.claim,
                "required": proof.required,
                "verdict": str(proof.verdict),
                "bound": proof.bound_text,
                "statement": proof.statement,
                "witness": proof.witness.summary if proof.witness else "",
                "certificate": proof.certificate.statement if proof.certificate else "",
            }
            for proof in proofs
        ]
    }


def _job_part(simulated: Simulated) -> dict[str, object]:
    result = simulated.result
    prediction = simulated.prediction
    assumptions = list(result.assumptions)
    if prediction is not None:
        assumptions += [text for text in prediction.assumptions if text not in assumptions]
    return {
        "job": None if prediction is None else {"cards": job_cards(prediction)},
        "assumptions": assumptions,
        "simulation": {
            "title": simulated.title,
            "finish": format_time_us(result.total_us),
            "bound": format_time_us(result.bound_low_us),
            "bound_name": result.bound_name,
            "busbw": format_busbw(simulated.busbw_gbytes_per_s),
            "flows": f"{simulated.flows:,}",
            "is_simulated": simulated.has_loads,
            "fidelity": result.fidelity,
        },
    }


def job_cards(job: JobPrediction) -> list[dict[str, str]]:
    """Show the figures of a job, 'unknown' where one could not be computed."""
    cost = job.lost_ms_cost_per_month
    values = [
        ("GPUs", f"{job.gpus:,}"),
        ("all-reduce of the gradients", format_time_us(job.allreduce_us)),
        ("predicted bus bandwidth", format_busbw(job.busbw_gbytes_per_s)),
        ("step time", "unknown" if job.step_us is None else format_time_us(job.step_us)),
        ("tokens per second", "unknown" if job.tokens_per_s is None else f"{job.tokens_per_s:,.0f}"),
        ("one lost ms per step, a month", "unknown" if cost is None else f"{cost:,.0f} {job.currency}"),
    ]
    return [{"label": label, "value": value} for label, value in values]


def _file_part(source: ReportInput) -> dict[str, object]:
    artifacts = source.artifacts.artifacts if source.artifacts else ()
    samples: list[dict[str, object]] = []
    seen: set[tuple[str, str]] = set()
    for artifact in artifacts:
        kind = (artifact.vendor, artifact.path.rsplit("/", 1)[-1])
        if kind in seen:
            continue
        seen.add(kind)
        lines = artifact.content[:MAX_SAMPLE_BYTES].decode("utf-8", "replace").splitlines()
        shown = min(len(lines), MAX_SAMPLE_LINES)
        samples.append(
            {
                "path": artifact.path,
                "size": format_size(len(artifact.content)),
                "text": "\n".join(lines[:shown]),
                "shown": shown,
                "cut": shown < len(lines) or len(artifact.content) > MAX_SAMPLE_BYTES,
            }
        )
    return {
        "files": [
            {"path": artifact.path, "size": format_size(len(artifact.content)), "digest": artifact.digest}
            for artifact in artifacts[:MAX_FILES]
        ],
        "file_count": f"{len(artifacts):,}",
        "files_left": max(0, len(artifacts) - MAX_FILES),
        "samples": samples,
        "files_folder": source.files_folder,
        "files_reason": source.files_reason,
    }
