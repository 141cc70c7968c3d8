"""InfiniBand on this machine: ibsim as the devices, a real OpenSM over them, no root."""

from __future__ import annotations

from weftline.labs.ibsim.attending import attend
from weftline.labs.ibsim.engines import try_engine
from weftline.labs.ibsim.faults import heal, inject
from weftline.labs.ibsim.running import down, list_missing, up, verify
from weftline.labs.ibsim.seats import kill_master
from weftline.labs.ibsim.settling import settle
from weftline.labs.ibsim.trials import list_trials
from weftline.model.lab import Lab

IBSIM = Lab(
    name="ibsim",
    technologies=("infiniband",),
    driver="opensm",
    problems=list_missing,
    up=up,
    verify=verify,
    inject=inject,
    heal=heal,
    down=down,
    list_trials=list_trials,
    try_engine=try_engine,
    attend=attend,
    kill_master=kill_master,
    settle=settle,
)

__all__ = ["IBSIM"]
