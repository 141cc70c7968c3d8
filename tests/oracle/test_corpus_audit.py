"""Every real dump of the corpus gets an audit report: an answer to every question, and none that is made up."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from weftline.app.audit import Audited, audit
from weftline.app.report.audit import write_audit
from weftline.errors import WeftlineError

OUT = Path(__file__).parents[2] / "out" / "audits"
DIRECTOR = "ufm_sdk/plugins_UFM_NDT_Plugin_tests_positive_flow_ibnetdiscover_ibnetdiscover_director.txt"
DGX = "topograph/tests_output_ibnetdiscover_example.out"
CUT = "topograph/tests_output_ibnetdiscover_example-bad.out"
FOLDERS = {
    "dgx-ndr": (DGX,),
    "dgx-ndr-cut": (CUT,),
    "director-hdr": (DIRECTOR, "ufm_sdk/plugins_UFM_NDT_Plugin_tests_positive_flow_ndts_switch_to_host_topo1.ndt"),
    "exporter-1": ("treydock_infiniband_exporter/ibnetdiscover/test.out",),
    "exporter-2": ("treydock_infiniband_exporter/ibnetdiscover/test2.out",),
    "exporter-3": ("treydock_infiniband_exporter/ibnetdiscover/test3.out",),
    "ibtopotool-1": ("junousi_ibtopotool/tests_1.topo",),
    "ibtopotool-2": ("junousi_ibtopotool/tests_2.topo",),
    "ibtopotool-4": ("junousi_ibtopotool/tests_4.topo",),
    "rhino-512": ("nmorey_ibutils/ibdm_Clusters_RhinoBased512.lst",),
    "clusters-subnet": ("nmorey_ibutils/ibdm_Clusters_subnet.lst",),
}
"""Each a folder of its own, as somebody would send it."""
WITHOUT_TOPOLOGY = {"dgx-ndr-cut", "exporter-3"}


def judge(corpus: Path, name: str, folder: Path) -> Audited:
    """Audit the files of one fabric, and leave the report where a person can look at it."""
    place = folder / name
    place.mkdir()
    for file in FOLDERS[name]:
        shutil.copyfile(corpus / "infiniband" / file, place / Path(file).name)
    audited = audit(place, None)
    write_audit(audited, OUT / name)
    return audited


@pytest.mark.parametrize("name", FOLDERS)
def test_a_report(name: str, corpus: Path, tmp_path: Path) -> None:
    audited = judge(corpus, name, tmp_path)
    page = (OUT / name / "audit.html").read_text(encoding="utf-8")
    for topic in audited.topics:
        assert f'id="{topic.key}"' in page
        assert topic.summary
    assert all(item.form for item in audited.source.survey.sources)
    assert (audited.source.adoption is None) == (name in WITHOUT_TOPOLOGY)
    # None of these folders says what the tables or the partitions hold, so nothing may be claimed about them.
    verdicts = {topic.key: topic.verdict for topic in audited.topics}
    for key in ("reach", "deadlock", "balance", "managers", "lanes", "partitions", "keys"):
        assert verdicts.get(key, "unknown") == "unknown"
    assert not [control for control in audited.controls if control.verdict == "good"]


def test_tables_to_compare_with_hold_on_every_fabric(corpus: Path, tmp_path: Path) -> None:
    for name in FOLDERS.keys() - WITHOUT_TOPOLOGY:
        proposed = judge(corpus, name, tmp_path).source.proposed
        assert proposed is not None
        assert {proof.claim: str(proof.verdict) for proof in proposed.report.proofs if proof.required} == {
            "reach": "proved",
            "deadlock": "proved",
        }, name


def test_a_place_that_is_gone(tmp_path: Path) -> None:
    with pytest.raises(WeftlineError) as caught:
        audit(tmp_path / "none", None)
    assert caught.value.code == "artifact.no-place"
