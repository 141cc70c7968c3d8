"""YAML becomes a checked declaration and a resolved design; the parts catalogue is read here too."""

from weftline.declare.around import look_further
from weftline.declare.catalog import load_catalog
from weftline.declare.checks import check_spec
from weftline.declare.read import Declaration, parse_spec, read_bytes, read_spec
from weftline.declare.resolve import resolve_spec
from weftline.declare.schema import spec_schema
from weftline.declare.starters import STARTERS, starter

__all__ = [
    "STARTERS",
    "Declaration",
    "check_spec",
    "load_catalog",
    "look_further",
    "parse_spec",
    "read_bytes",
    "read_spec",
    "resolve_spec",
    "spec_schema",
    "starter",
]
