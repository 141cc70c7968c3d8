"""Every single link and every single switch of 16,384 endpoints, the loss of two jobs included; and one question."""

from __future__ import annotations

from benchmarks.measure import OUT, Figure, peak_gib, time_call
from weftline.app.asked import Question
from weftline.app.rehearse import FaultChoice, ask_ready, prepare, rehearse_ready

DECLARATION = """\
fabric: {{name: bench-rehearse}}
technology: {technology}
hosts: {{count: 2048, part: auto, gpus: 8, rails: 8, rate_gbps: 400, unit_size: 4}}
topology: {{kind: fat-tree, tiers: 3, oversubscription: 1.0}}
jobs:
  - {{name: all, parameters: 70e9, tensor_parallel: 8, data_parallel: 2048, global_batch: 4096,
     sequence_length: 4096, utilisation: 0.4, gpu_hour_price: 2.95}}
  - {{name: half, hosts: 1-1024, parameters: 70e9, tensor_parallel: 8, pipeline_parallel: 2, data_parallel: 512,
     global_batch: 4096, sequence_length: 4096, utilisation: 0.4, gpu_hour_price: 2.95}}
"""


def run() -> list[Figure]:
    """Measure a whole sweep and one question, with repaired and with converging tables."""
    figures: list[Figure] = []
    for technology in ("infiniband", "roce"):
        path = OUT / f"rehearse-{technology}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(DECLARATION.format(technology=technology), encoding="utf-8")
        ready = prepare(path)
        question = Question("link", "leaf-001/33")
        ask_ready(ready, question)  # compiles the kernels, or loads them
        ask_s, _ = time_call(lambda ready=ready, question=question: ask_ready(ready, question))
        sweep_s, told = time_call(lambda ready=ready: rehearse_ready(ready, FaultChoice("all", is_anew=True)))
        if told.whole:
            message = f"{told.whole} states were judged from scratch"
            raise SystemExit(message)
        words = f"rehearse {told.states:,} links and switches of 16,384 endpoints, two jobs, {technology}"
        figures.append(Figure(words, sweep_s, "s", must=300.0, aim=60.0))
        figures.append(Figure(f"may this link be disabled, 16,384 endpoints, {technology}", ask_s, "s", must=1.0))
    return [*figures, Figure("memory for rehearsals", peak_gib(), "GiB")]
