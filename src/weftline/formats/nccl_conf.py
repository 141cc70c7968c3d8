"""``nccl.conf``, ``env``, ``mpirun -x``: what collective libraries are told by variables."""

from __future__ import annotations

import re
from dataclasses import dataclass

from weftline.formats.text import ProblemLog
from weftline.formats.transcript import Output

MAX_VARIABLES = 10_000
LIBRARIES = ("NCCL_", "UCX_", "NVSHMEM_", "RCCL_", "HCCL_", "OMPI_MCA_btl_openib_")
_LINE = re.compile(r"^(?:export\s+|declare -x\s+)?([A-Za-z_][A-Za-z0-9_]{0,99})\s*=\s*(.*)$")
_INLINE = re.compile(r"-x\s+([A-Z][A-Z0-9_]{1,99})=(\S{1,200})")
_KNOWN = re.compile(rb"^(?:export\s+|.{0,200}-x\s+)?(?:NCCL|UCX|NVSHMEM)_[A-Z0-9_]+\s*=", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Variable:
    """One variable of a collective library."""

    name: str
    value: str
    line: int


def looks_like(head: bytes) -> bool:
    """Tell the text by a variable of a library that is read."""
    return _KNOWN.search(head) is not None


def parse(output: Output, log: ProblemLog, *, is_conf: bool = False) -> tuple[Variable, ...]:
    """Read the variables of collective libraries.

    All other variables of an environment stay out, since some of them are secrets; in ``nccl.conf`` they are named.
    """
    found: list[Variable] = []
    for number, line in output.numbered():
        text = line.strip()
        if text.startswith("#"):
            continue
        match = _LINE.match(text)
        pairs: list[tuple[str, str]] = [(match[1], match[2])] if match else _INLINE.findall(text)
        for name, value in pairs:
            if name.startswith(LIBRARIES) and len(found) < MAX_VARIABLES:
                found.append(Variable(name, _clean(value)[:200], number))
            elif is_conf and not name.startswith(LIBRARIES):
                log.add("artifact.host-line", f"{name[:60]} is no variable of NCCL", "", number, 1, "warning")
        if not pairs and is_conf:
            log.add("artifact.host-line", f"{text[:60]!r} is no NAME=value", "", number, 1, "warning")
    return tuple(found)


def _clean(value: str) -> str:
    """Strip blanks, and the quotes that a value may stand in."""
    value = value.strip()
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return value
