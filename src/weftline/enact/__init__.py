"""Enact: a change of tables in the order in which it goes out, each stage proved."""

from weftline.enact.order import Stage, order_tables
from weftline.enact.staging import BUDGET, Drain, Ordering, Pieces, order_change

__all__ = ["BUDGET", "Drain", "Ordering", "Pieces", "Stage", "order_change", "order_tables"]
