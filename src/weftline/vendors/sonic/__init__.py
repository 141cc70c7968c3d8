"""SONiC, the network operating system of open switches: one file of tables per switch."""

from __future__ import annotations

from weftline.model.vendor import Vendor
from weftline.vendors.sonic.reading import observe
from weftline.vendors.sonic.writing import render

SONIC = Vendor(name="sonic", render=render, observe=observe)

__all__ = ["SONIC"]
