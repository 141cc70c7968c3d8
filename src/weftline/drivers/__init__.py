"""The drivers: one explicit table of what reaches a fabric that runs."""

from __future__ import annotations

from weftline.drivers.opensm import OPENSM
from weftline.model.driver import Driver

DRIVERS: dict[str, Driver] = {driver.name: driver for driver in (OPENSM,)}

__all__ = ["DRIVERS"]
