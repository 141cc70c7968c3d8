"""SONiC, the network operating system of open switches: one file of tables per switch."""

from __future__ import annotations

from weftline.model.vendor import Vendor
from weftline.vendors.sonic.configured import PATCH, configure, recognise
from weftline.vendors.sonic.patching import change_from
from weftline.vendors.sonic.reading import observe
from weftline.vendors.sonic.switching import switch
from weftline.vendors.sonic.writing import NAME, render

SONIC = Vendor(
    name=NAME, render=render, observe=observe, recognise=recognise, configured=configure, change=change_from,
    change_form=PATCH, switch=switch,
)  # fmt: skip

__all__ = ["SONIC"]
