"""The host: its NICs, its kernel and its collective library, for every technology."""

from __future__ import annotations

from weftline.model.vendor import Vendor
from weftline.vendors.host.dumps import read_hosts
from weftline.vendors.host.forms import recognise
from weftline.vendors.host.reading import observe
from weftline.vendors.host.writing import render

HOST = Vendor(name="host", render=render, observe=observe, recognise=recognise, configured=read_hosts)

__all__ = ["HOST"]
