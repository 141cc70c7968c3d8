"""Latency and rate of the smallest messages, simulated on the parts of the catalogue, against what the parts say."""

from __future__ import annotations

from benchmarks.measure import Figure
from tests.latency import PARTS, SMALLEST, make_stage, measure_rate, simulate_one, sum_parts

MESSAGES = 4000


def run() -> list[Figure]:
    """Send one message over one, three and five switches, and many to one peer and to 32."""
    figures: list[Figure] = []
    for technology, part in PARTS.items():
        stage = make_stage(technology)
        words = f"latency: {SMALLEST} bytes, {technology}, {part},"
        for switches in (1, 3, 5):
            way = f"{words} {switches} switch{'es' if switches > 1 else ''},"
            figures.append(Figure(f"{way} simulated", simulate_one(stage, switches) / 1e6, "us"))
            figures.append(Figure(f"{way} sum of the parts", sum_parts(stage, switches) / 1e6, "us"))
        for peers in (1, 32):
            rate, most = measure_rate(stage, MESSAGES, peers)
            way = f"{words} messages of one host to {peers} peer{'s' if peers > 1 else ''}"
            figures.append(Figure(f"{way}, simulated", rate / 1e6, "M/s"))
            figures.append(Figure(f"{way}, most that the line takes", most / 1e6, "M/s"))
    return figures
