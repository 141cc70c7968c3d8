"""FRR, the routing daemons of open switches: one integrated configuration per switch."""

from __future__ import annotations

from weftline.model.vendor import Vendor
from weftline.vendors.frr.configured import configure, recognise
from weftline.vendors.frr.reading import observe
from weftline.vendors.frr.switching import switch
from weftline.vendors.frr.writing import render

FRR = Vendor(name="frr", render=render, observe=observe, recognise=recognise, configured=configure, switch=switch)

__all__ = ["FRR"]
