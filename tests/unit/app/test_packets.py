"""Packet simulations as the application runs them: what files say, what is bad news, tables and pages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from pyarrow import parquet

from tests.media import files_of, route
from weftline.app.packet_tables import TABLES, save_packets
from weftline.app.packets import PacketChoice, tell_ending, tell_loss
from weftline.app.pipeline import Routed
from weftline.app.report.packets import Side, render_packets
from weftline.app.simulate import LoadChoice, Sent, Simulated, simulate_routed
from weftline.app.views.load import view_simulation
from weftline.errors import ArtifactError, UsageError
from weftline.model.parameters import CarriageChoice

NO_PACE = CarriageChoice(pacing="none")


def simulate(routed: Routed, packets: PacketChoice, **load: object) -> Simulated:
    return simulate_routed(routed, LoadChoice(packets=packets, **load))  # type: ignore[arg-type]


def read(path: Path) -> dict[str, list[Any]]:
    tables = cast("Any", parquet)
    return tables.read_table(path).to_pydict()


def sent_of(simulated: Simulated) -> Sent:
    assert simulated.sent is not None
    return simulated.sent


def write_files(routed: Routed, folder: Path, headroom: int, share: str) -> Path:
    """Write the rendered files with another headroom and share of the pool for every lossless group."""
    for one in files_of(routed).artifacts:
        path = folder / one.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(one.content)
        if path.name == "config_db.json":
            tables = json.loads(one.content)
            for name, profile in tables["BUFFER_PROFILE"].items():
                if name.startswith("pg_"):
                    profile |= {"size": str(int(profile["xon"]) + headroom), "xoff": str(headroom), "dynamic_th": share}
            path.write_text(json.dumps(tables), encoding="utf-8")
    return folder


@pytest.mark.parametrize("technology", ["roce", "infiniband"])
def test_a_ring_by_packets_is_near_the_fluid_one(technology: str) -> None:
    routed = route(technology)
    load = {"collective": "all-reduce", "algorithm": "ring", "size": "16MiB", "ranks": 4}
    fluid = simulate_routed(routed, LoadChoice(**load)).result  # type: ignore[arg-type]
    packets = simulate(routed, PacketChoice(carriage=NO_PACE), **load)
    assert sent_of(packets).packets.result.ending == "done"
    # Headers take 2 % of the line, and each step the time of a packet per hop.
    assert fluid.total_us < packets.result.total_us < 1.05 * fluid.total_us
    assert packets.result.bound_low_us <= packets.result.total_us
    assert packets.busbw_gbytes_per_s is not None
    assert packets.busbw_gbytes_per_s < 50


def test_what_files_say_can_be_watched_failing(tmp_path: Path) -> None:
    routed = route("roce")
    loads = ("incast:senders=3,size=4MiB",)
    good = write_files(routed, tmp_path / "good", 100_000, "-6")
    bad = write_files(routed, tmp_path / "bad", 2_000, "-6")
    fine = simulate(routed, PacketChoice(files=good, carriage=NO_PACE), loads=loads)
    lost = simulate(routed, PacketChoice(files=bad, carriage=NO_PACE), loads=loads)
    kept, gone = sent_of(fine), sent_of(lost)
    assert not kept.packets.is_bad
    assert tell_loss(kept.packets, kept.fabric) == "nothing was lost where nothing may be lost"
    assert gone.packets.is_bad
    assert gone.packets.result.loss is not None
    assert tell_loss(gone.packets, gone.fabric).startswith("the first packet, one of ")
    assert tell_ending(gone.packets, gone.fabric) == "all has arrived"
    document = view_simulation(lost)["packets"]
    assert isinstance(document, dict)
    assert document["loss"]["port"] == gone.fabric.port_name(gone.packets.result.loss.port)
    sides = [
        Side(name, one.title, sent_of(one).packets, one.busbw_gbytes_per_s, one.result.assumptions)
        for name, one in (("first", fine), ("second", lost))
    ]
    page = render_packets(gone.fabric, sides)
    assert page == render_packets(gone.fabric, sides)
    assert page.count('class="banner no"') == 1
    assert "was lost after" in page
    assert page.count("<svg") >= 4


def test_an_early_stop_leaves_times_open() -> None:
    stopped = simulate(route("roce"), PacketChoice(until_us=20.0), collective="all-reduce", size="64MiB", ranks=4)
    sent = sent_of(stopped)
    assert sent.packets.result.ending == "until"
    assert stopped.loads[0].finish_us is None
    assert stopped.busbw_gbytes_per_s is None
    assert "have not arrived" in tell_ending(sent.packets, sent.fabric)
    assert not sent.packets.is_bad
    json.dumps(view_simulation(stopped), allow_nan=False)


def test_tables_say_what_the_result_says(tmp_path: Path) -> None:
    simulated = simulate(route("roce"), PacketChoice(), collective="all-to-all", size="1MiB", ranks=4)
    sent = sent_of(simulated)
    paths = save_packets(sent.packets, sent.flows, sent.fabric, tmp_path / "tables")
    assert [path.name for path in paths] == list(TABLES)
    assert sorted(path.name for path in (tmp_path / "tables").iterdir()) == sorted(TABLES)
    flows, ports, series = map(read, paths)
    assert flows["finish_ps"] == sent.packets.result.finish_ps.tolist()
    assert sum(ports["bytes"]) == int(sent.packets.result.port_bytes.sum())
    last = np.array(series["at_ps"]) == max(series["at_ps"])
    assert int(np.array(series["sent_bytes"])[last].sum()) == sum(ports["bytes"])


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    simulated = simulate(route("roce"), PacketChoice(), collective="all-to-all", size="1MiB", ranks=4)
    sent = sent_of(simulated)
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(ArtifactError) as caught:
        save_packets(sent.packets, sent.flows, sent.fabric, tmp_path / "file")
    assert caught.value.code == "artifact.unwritable"


@pytest.mark.parametrize("choice", [PacketChoice(spread="hsah"), PacketChoice(until_us=0.0)])
def test_words_that_mean_nothing(choice: PacketChoice) -> None:
    with pytest.raises(UsageError) as caught:
        simulate(route("roce"), choice)
    assert caught.value.code == "usage.choice"
