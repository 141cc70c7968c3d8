"""The host: its NICs, its kernel and its collective library, for every technology."""

from __future__ import annotations

from weftline.model.vendor import Vendor
from weftline.vendors.host.reading import observe
from weftline.vendors.host.writing import render

HOST = Vendor(name="host", render=render, observe=observe)

__all__ = ["HOST"]
