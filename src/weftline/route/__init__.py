"""Routes from a fabric: engines by name, and one path traced and explained."""

from weftline.route.engines import ENGINES, Engine, compute_routes
from weftline.route.names import find_destination, find_endpoint
from weftline.route.trace import name_destination, trace_path

__all__ = [
    "ENGINES",
    "Engine",
    "compute_routes",
    "find_destination",
    "find_endpoint",
    "name_destination",
    "trace_path",
]
