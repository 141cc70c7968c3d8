"""The technologies: one explicit table, and nothing outside it knows their names."""

from __future__ import annotations

from weftline.model.technology import Technology
from weftline.technologies.infiniband import INFINIBAND
from weftline.technologies.roce import ROCE

TECHNOLOGIES: dict[str, Technology] = {technology.name: technology for technology in (INFINIBAND, ROCE)}

__all__ = ["TECHNOLOGIES"]
