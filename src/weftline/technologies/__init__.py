"""The technologies: one explicit table, and nothing outside it knows their names."""

from __future__ import annotations

from weftline.model.audit import Observation
from weftline.model.technology import Technology
from weftline.register import Register

TECHNOLOGIES = Register[Technology](
    {
        "infiniband": "weftline.technologies.infiniband:INFINIBAND",
        "roce": "weftline.technologies.roce:ROCE",
    }
)
OBSERVATIONS = Register[Observation]({"infiniband": "weftline.technologies.infiniband.audit:OBSERVATION"})
"""How dumps of a fabric are judged, by technology; absent where they are not judged yet."""

__all__ = ["OBSERVATIONS", "TECHNOLOGIES"]
