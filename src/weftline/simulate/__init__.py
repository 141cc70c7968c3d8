"""Flows on a fabric become times: exact max-min fair rates, event by event, beside analytic lower bounds."""

from weftline.model.result import SimOptions, SimResult
from weftline.simulate.paths import walk_ports
from weftline.simulate.run import simulate

__all__ = ["SimOptions", "SimResult", "simulate", "walk_ports"]
