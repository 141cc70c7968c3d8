"""The JSON of a packet simulation."""

from __future__ import annotations

from weftline.app.packets import PS_PER_US, SHOWN_PORTS, Packets, rank_ports
from weftline.model.fabric import Fabric


def view_packets(packets: Packets, fabric: Fabric) -> dict[str, object]:
    """Show how it ended, what was lost, marked and paused, which links held it, and the ports that suffered most."""
    result, loss = packets.result, packets.result.loss
    lanes = result.lanes
    return {
        "ending": result.ending,
        "simulated_us": result.end_ps / PS_PER_US,
        "deadlock": [{"port": fabric.port_name(port), "lane": lane} for port, lane in result.cycle],
        "loss": None
        if loss is None
        else {
            "at_us": loss.at_ps / PS_PER_US,
            "port": fabric.port_name(loss.port),
            "lane": loss.lane,
            "flow": loss.flow,
            "count": loss.count,
        },
        "faults": None if packets.disturbance is None else _view_faults(packets),
        "hops": result.hops,
        "events": result.events,
        "sent_again": result.again,
        "notices": result.notices,
        "dropped": result.dropped,
        "corrupted": result.corrupted,
        "discarded": result.discarded,
        "marks": int(lanes.marks.sum()),
        "pauses": int(lanes.pauses.sum()),
        "held_by": [{"link": one.name, "wait_us": one.wait_us} for one in packets.held_by[:SHOWN_PORTS]],
        "ports": [_view_port(packets, fabric, at) for at in rank_ports(packets)],
    }


def _view_faults(packets: Packets) -> dict[str, object]:
    disturbance, calm = packets.disturbance, packets.calm
    return {
        "told": list(disturbance.told) if disturbance else [],
        "marks_us": list(disturbance.marks_us) if disturbance else [],
        "ending_without": calm.ending if calm else None,
        "simulated_us_without": calm.end_ps / PS_PER_US if calm else None,
    }


def _view_port(packets: Packets, fabric: Fabric, at: int) -> dict[str, object]:
    lanes = packets.result.lanes
    return {
        "port": fabric.port_name(at),
        "bytes": int(packets.result.port_bytes[at]),
        "largest_queue_bytes": int(lanes.most_queued[at].max()),
        "held_us": float(lanes.held_ps[at].sum()) / PS_PER_US,
        "without_credit_us": float(lanes.starved_ps[at].sum()) / PS_PER_US,
        "marks": int(lanes.marks[at].sum()),
        "drops": int(lanes.drops[at].sum()),
        "pauses_sent": int(lanes.pauses[at].sum()),
        "discards": int(lanes.discards[at].sum()),
    }
