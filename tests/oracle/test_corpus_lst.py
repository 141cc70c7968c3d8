"""The link lists of the corpus are adopted, with the counts that their lines give to a plain pattern."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from weftline.adopt import build_fabric, recognise
from weftline.formats import subnet_lst
from weftline.kernels.column import NIL
from weftline.model.adoption import Adoption

NODE = re.compile(rb"NodeGUID:([0-9a-f]{16})")
END = re.compile(rb"NodeGUID:([0-9a-f]{16})[^{]*\{[^}]*\}\s+LID:[0-9A-Fa-f]+ PN:([0-9A-Fa-f]+)")
LISTS = {
    "nmorey_ibutils/ibdm_Clusters_subnet.lst": ("irregular", [("artifact.unknown-speed", "note")]),
    "nmorey_ibutils/ibdm_Clusters_RhinoBased512.lst": ("fat-tree", [("artifact.node-kind", "warning")]),
}


@pytest.mark.parametrize("name", sorted(LISTS))
def test_a_link_list_is_adopted(corpus: Path, name: str) -> None:
    shape, problems = LISTS[name]
    data = (corpus / "infiniband" / name).read_bytes()
    form = recognise(name, data)
    assert form is not None
    assert form.name == "subnet-lst"
    part = subnet_lst.parse(data, name)
    assert part.discovery is not None
    assert len(part.discovery.nodes) == len(set(NODE.findall(data)))
    found = build_fabric(part.discovery)
    assert isinstance(found, Adoption)
    links = {frozenset(END.findall(line)) for line in data.splitlines() if line.strip()}
    assert np.count_nonzero(found.fabric.port_peer != NIL) == 2 * len(links)
    assert found.shape == shape
    assert [(problem.code, problem.severity) for problem in (*part.problems, *found.problems)] == problems


def test_no_link_list_of_the_corpus_is_forgotten(corpus: Path) -> None:
    folder = corpus / "infiniband"
    found = {path.relative_to(folder).as_posix() for path in folder.rglob("*.lst")}
    assert found == set(LISTS)
