"""What the name of a file promises, for files whose content is of no known form."""

from __future__ import annotations

import re

from weftline.adopt.forms import Form, find_form

_NAMES = (
    (r"ibnetdiscover.*|.*\.topo", "ibnetdiscover"),
    (r"iblinkinfo.*", "iblinkinfo"),
    (r"ibdiagnet2?\.db_csv|.*\.db_csv", "ibdiagnet-csv"),
    (r"ibdiagnet2?\.net_dump", "net-dump"),
    (r"ibdiagnet2?\.net_dump_ext", "net-dump-ext"),
    (r"ibdiagnet2?\.lst|opensm-subnet\.lst", "subnet-lst"),
    (r"ibdiagnet2?\.fdbs|opensm\.fdbs|opensm-lfts\.dump|(?:dump_)?l?fts.*|.*\.lft|ibroute.*", "lft"),
    (r"ibdiagnet2?\.far", "far"),
    (r"ibdiagnet2?\.slvl|opensm-sl2vl\.dump", "slvl"),
    (r"ibdiagnet2?\.mcfdbs|opensm\.mcfdbs", "mcfdbs"),
    (r"ibdiagnet2?\.pkey", "ibdiagnet-pkey"),
    (r"opensm-smdb\.dump", "opensm-smdb"),
    (r"sminfo.*", "sminfo"),
    (r"pkeys.*", "pkeys"),
    (r"pktr.*", "pktr"),
    (r"node-name-map", "node-name-map"),
    (r"opensm\.log", "opensm-log"),
)
_COMPILED = tuple((re.compile(rf"(?:{pattern})(?:\.txt)?", re.IGNORECASE), form) for pattern, form in _NAMES)


def find_promised(file: str) -> Form | None:
    """Find the form that the name of a file promises; None where it promises nothing."""
    name = file.replace("\\", "/").rsplit("/", 1)[-1]
    return next((find_form(form) for pattern, form in _COMPILED if pattern.fullmatch(name)), None)
