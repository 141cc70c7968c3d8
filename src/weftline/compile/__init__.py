"""Declarations become fabrics: plans by arithmetic, Clos wiring, cabling lists."""

from weftline.compile.build import build_fabric

__all__ = ["build_fabric"]
