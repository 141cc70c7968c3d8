"""The drivers: one explicit table of what reaches a fabric that runs."""

from __future__ import annotations

from weftline.model.driver import Driver
from weftline.register import Register

DRIVERS = Register[Driver]({"opensm": "weftline.drivers.opensm:OPENSM"})

__all__ = ["DRIVERS"]
