"""Arista EOS: one running configuration per switch."""

from __future__ import annotations

from weftline.model.vendor import Vendor
from weftline.vendors.eos.configured import configure, recognise
from weftline.vendors.eos.file import NAME
from weftline.vendors.eos.reading import observe
from weftline.vendors.eos.switching import switch
from weftline.vendors.eos.writing import render, unsaid

EOS = Vendor(
    name=NAME, render=render, observe=observe, recognise=recognise, configured=configure, unsaid=unsaid, switch=switch
)

__all__ = ["EOS"]
