"""The vendors: one explicit table, and nothing outside it knows their names."""

from __future__ import annotations

from weftline.model.vendor import Vendor
from weftline.register import Register

VENDORS = Register[Vendor](
    {
        "opensm": "weftline.vendors.opensm:OPENSM",
        "opensm-export": "weftline.vendors.opensm.exports:OPENSM_EXPORT",
        "sonic": "weftline.vendors.sonic:SONIC",
        "frr": "weftline.vendors.frr:FRR",
        "eos": "weftline.vendors.eos:EOS",
        "nvue": "weftline.vendors.nvue:NVUE",
        "host": "weftline.vendors.host:HOST",
    }
)

__all__ = ["VENDORS"]
