"""The second stage: the fabric that a declaration or its cabling list describes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from weftline.app.check import Checked, check_counts, problems_error
from weftline.app.files import read_bytes
from weftline.compile import build_fabric, count_fabric
from weftline.errors import ArtifactError
from weftline.formats import inventory
from weftline.model.counts import FabricCounts
from weftline.model.fabric import Fabric
from weftline.rehearse.faults import check_risks

MAX_CABLING_BYTES = 40 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Built:
    """The compiled fabric."""

    checked: Checked
    fabric: Fabric
    counts: FabricCounts


def build(checked: Checked) -> Built:
    """Compile the fabric."""
    checked = _bind_inventory(checked)
    design = checked.design
    text = _read_cabling(checked) if design.cabling_path else None
    fabric = build_fabric(design, text)
    if isinstance(fabric, tuple):
        raise problems_error(fabric)
    if design.spec.risks:
        strangers = check_risks(fabric, design.spec.risks, design.places)
        if strangers:
            raise problems_error(strangers)
    counts = count_fabric(fabric, design)
    if text is not None:
        check_counts(design, checked.technology, counts)
    return Built(checked, fabric, counts)


def _bind_inventory(checked: Checked) -> Checked:
    """Read the inventory, if one is declared; its path is relative to the declaration."""
    named = checked.design.spec.inventory
    if named is None:
        return checked
    where = checked.design.places.get("inventory")
    path = checked.workspace.declaration.parent / named
    try:
        data = read_bytes(path, inventory.MAX_BYTES, "an inventory of one fabric is far smaller")
    except ArtifactError as error:
        raise ArtifactError(error.code, error.message, f"inventory names it; {error.hint}", where) from error
    rows, problems = inventory.parse(data, str(path))
    if any(problem.is_error for problem in problems):
        raise problems_error(problems)
    return replace(checked, design=replace(checked.design, inventory=rows))


def _read_cabling(checked: Checked) -> str:
    """Read the cabling list; its path is relative to the declaration."""
    path = checked.workspace.declaration.parent / str(checked.design.cabling_path)
    where = checked.design.places.get("topology.cabling")
    try:
        return read_bytes(path, MAX_CABLING_BYTES, "a list of one fabric is far smaller").decode("utf-8")
    except ArtifactError as error:
        raise ArtifactError(error.code, error.message, f"topology.cabling names it; {error.hint}", where) from error
    except UnicodeDecodeError as error:
        raise ArtifactError("artifact.not-text", f"{path} is not UTF-8 text", "save it as UTF-8", where) from error
