"""A change in the order in which it goes out: stages, each proved before it is sent."""

from weftline.enact.order import Stage, order_tables

__all__ = ["Stage", "order_tables"]
