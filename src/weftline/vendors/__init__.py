"""The vendors: one explicit table, and nothing outside it knows their names."""

from __future__ import annotations

from weftline.model.vendor import Vendor
from weftline.vendors.eos import EOS
from weftline.vendors.frr import FRR
from weftline.vendors.host import HOST
from weftline.vendors.nvue import NVUE
from weftline.vendors.opensm import OPENSM
from weftline.vendors.opensm.exports import OPENSM_EXPORT
from weftline.vendors.sonic import SONIC

VENDORS: dict[str, Vendor] = {vendor.name: vendor for vendor in (OPENSM, OPENSM_EXPORT, SONIC, FRR, EOS, NVUE, HOST)}

__all__ = ["VENDORS"]
