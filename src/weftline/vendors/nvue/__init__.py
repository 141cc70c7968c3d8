"""Cumulus Linux with NVUE: one ``startup.yaml`` per switch, in the spelling of its release."""

from __future__ import annotations

from weftline.model.vendor import Vendor
from weftline.vendors.nvue.configured import configure, recognise
from weftline.vendors.nvue.file import NAME
from weftline.vendors.nvue.reading import observe
from weftline.vendors.nvue.switching import switch
from weftline.vendors.nvue.writing import render, unsaid

NVUE = Vendor(
    name=NAME, render=render, observe=observe, recognise=recognise, configured=configure, unsaid=unsaid, switch=switch
)

__all__ = ["NVUE"]
