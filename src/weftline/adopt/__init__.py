"""Adopt what exists: discovery dumps and tables become a Fabric and Routes; declared against discovered."""

from weftline.adopt.adaptive import find_adaptive
from weftline.adopt.build import build_fabric
from weftline.adopt.compare import compare
from weftline.adopt.forms import FORMS, Form, find_form, recognise
from weftline.adopt.levels import place_levels
from weftline.adopt.match import match_nodes
from weftline.adopt.named import find_promised
from weftline.adopt.overlay import find_overlay, lay_over
from weftline.adopt.plan import hold_plan
from weftline.adopt.read import read_discovery
from weftline.adopt.running import place_states
from weftline.adopt.survey import read_survey
from weftline.adopt.systems import Systems, collect_systems, expand_topology
from weftline.adopt.tables import place_tables, read_programmed, read_tables

__all__ = [
    "FORMS",
    "Form",
    "Systems",
    "build_fabric",
    "collect_systems",
    "compare",
    "expand_topology",
    "find_adaptive",
    "find_form",
    "find_overlay",
    "find_promised",
    "hold_plan",
    "lay_over",
    "match_nodes",
    "place_levels",
    "place_states",
    "place_tables",
    "read_discovery",
    "read_programmed",
    "read_survey",
    "read_tables",
    "recognise",
]
