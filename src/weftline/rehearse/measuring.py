"""The loads of the whole fabric, measured in the way in which states are, so that a state can be held against them."""

from __future__ import annotations

import numpy as np

from weftline.kernels.column import F64, I32, NIL
from weftline.rehearse.certifying import find_ways
from weftline.rehearse.crews import list_sends
from weftline.rehearse.ground import Base, Flows, Units, Ways
from weftline.rehearse.quick import Bench
from weftline.rehearse.scene import Found, Scene
from weftline.rehearse.whole import Plan, judge_whole
from weftline.route.graph import count_to_ptr


def open_bench(plan: Plan) -> Bench | None:
    """Prepare a plan for states that are judged by their parts; None where each has to be judged from scratch."""
    ways = find_ways(plan)
    if ways is None:
        return None
    flows = list_flows(plan)
    return Bench(plan, ways, flows, measure_base(plan, ways, flows))


def copy_bench(bench: Bench) -> Bench:
    """Make the same room to work in for another thread."""
    return Bench(bench.scene, bench.ways, bench.flows, bench.base)


def judge(plan: Plan, bench: Bench | None, ports: I32) -> Found:
    """Judge the state without the links of ``ports`` (both ends, lit): by its parts where that does."""
    found = None if bench is None else bench.judge_parts(ports)
    return judge_whole(plan, ports) if found is None else found


def list_flows(scene: Scene) -> Flows:
    """List the flows of the steady step on the whole fabric."""
    crews, fabric = scene.crews, scene.fabric
    planes = crews.port.shape[1]
    sends = list_sends(crews, fabric.port_peer != NIL, fabric.port_component)
    at = sends.rank * planes + sends.plane
    goal = np.full(crews.ranks * planes, NIL, dtype=np.int32)
    rate = np.zeros(crews.ranks * planes)
    goal[at], rate[at] = sends.goal, sends.rate
    port = crews.port.reshape(-1)
    goals = len(scene.routes.destination_port)
    by_goal = at[np.argsort(sends.goal, kind="stable")].astype(np.int32)
    return Flows(
        goal=goal,
        row=crews.row[port],
        job=np.repeat(crews.job, planes),
        port=port.astype(np.int32),
        rate=rate,
        in_ptr=count_to_ptr(sends.goal, goals),
        in_flow=by_goal,
    )


def measure_base(scene: Scene, ways: Ways, flows: Flows) -> Base:
    """Load the whole fabric."""
    crews = scene.crews
    sent = np.flatnonzero(flows.goal != NIL).astype(np.int32)
    units = _gather_units(scene, ways, flows, sent) if ways.is_set and len(sent) else None
    quiet = Base(np.zeros((len(crews.names), scene.fabric.port_count)), (), (), (), units)
    bench = Bench(scene, ways, flows, quiet)
    bench.token = 1
    if units is None:
        bench.move(sent, 1.0)
    else:
        units = _load_units(bench, units, sent)
    relative = bench.load / crews.capacity
    worst = tuple(relative.max(axis=1, initial=0.0).tolist())
    port = tuple(
        int((one >= most - 1e-12).argmax()) if most > 0 else NIL for one, most in zip(relative, worst, strict=True)
    )
    return Base(bench.load, tuple(_order(one) for one in relative), worst, port, units)


def _order(relative: F64) -> I32:
    """Order the loaded ports by falling load."""
    falling = np.lexsort((np.arange(len(relative)), -relative))
    return falling[: int(np.count_nonzero(relative > 0))].astype(np.int32)


def _gather_units(scene: Scene, ways: Ways, flows: Flows, sent: I32) -> Units:
    """Gather the flows of each job to each home; who uses which port is not known yet."""
    homes, jobs = len(ways.home), len(scene.crews.names)
    unit = flows.job[sent] * homes + ways.home_of[flows.goal[sent]]
    of_flow = np.full(len(flows.goal), NIL, dtype=np.int32)
    of_flow[sent] = unit
    return Units(
        ptr=count_to_ptr(unit, homes * jobs),
        flow=sent[np.argsort(unit, kind="stable")].astype(np.int32),
        home=np.tile(np.arange(homes, dtype=np.int32), jobs),
        job=np.repeat(np.arange(jobs, dtype=np.int32), homes),
        of_flow=of_flow,
        use_ptr=np.zeros(scene.fabric.port_count + 1, dtype=np.int32),
        use_unit=np.zeros(0, dtype=np.int32),
    )


def _load_units(bench: Bench, units: Units, sent: I32) -> Units:
    """Spread every unit over the whole fabric, and write down which ports it uses."""
    used: list[I32] = []
    none = (np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int32), np.zeros(0))
    every = np.unique(units.of_flow[sent])
    for at in every.tolist():
        bench.token += 1
        bench.counts[:] = 0
        bench.spread(np.array([at], dtype=np.int32), 1.0, none)
        job = int(units.job[at])
        used.append(bench.touched[job, : bench.counts[job]].copy())
    bench.token += 1
    bench.counts[:] = 0
    bench.add_ends(sent, 1.0)
    which = np.repeat(every, [len(one) for one in used]).astype(np.int32)
    port = np.concatenate(used) if used else np.zeros(0, dtype=np.int32)
    ptr = count_to_ptr(port, bench.scene.fabric.port_count)
    use_unit = which[np.argsort(port, kind="stable")]
    return Units(units.ptr, units.flow, units.home, units.job, units.of_flow, ptr, use_unit)
