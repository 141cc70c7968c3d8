"""OpenSM, the subnet manager: it programs tables, addresses and partitions that it reads from files."""

from __future__ import annotations

from weftline.model.vendor import TablesFile, Vendor
from weftline.vendors.opensm.isolation import observe_isolation
from weftline.vendors.opensm.linting import lint
from weftline.vendors.opensm.reading import observe
from weftline.vendors.opensm.switching import switch
from weftline.vendors.opensm.tables import exchange_table
from weftline.vendors.opensm.writing import TABLES, render

OPENSM = Vendor(
    name="opensm",
    render=render,
    observe=observe,
    isolation=observe_isolation,
    lint=lint,
    tables=TablesFile(TABLES, exchange_table),
    switch=switch,
)

__all__ = ["OPENSM"]
