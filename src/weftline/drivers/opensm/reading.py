"""What the devices of a subnet hold, asked by a program that speaks through libibumad as the diagnostics do."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from weftline.drivers.opensm import probe
from weftline.errors import Problem, SourceError
from weftline.kernels.column import U8
from weftline.model.driver import Access, ManagerState, NodeState, PortState, SubnetState

WINDOW = 40
"""Questions on their way at one time; a simulator that is asked more at once can block."""
LIMIT_S = 300
MANAGER_STATES = {0: "not active", 1: "discovering", 2: "standby", 3: "master"}
"""IBTA vol 1, 14.2.5.13."""
LIBRARY = "libibumad.so.3"
_RECORD = np.dtype([("guid", "<u8"), ("attribute", "<u2"), ("modifier", "<u4"), ("data", "u1", (64,))])
Records = NDArray[np.void]


def list_problems() -> tuple[Problem, ...]:
    """Say what is missing to read a subnet."""
    try:
        ctypes.CDLL(LIBRARY)
    except OSError:
        hint = "apt-get install -y libibumad3"
        return (Problem("artifact.program-missing", f"{LIBRARY} is not installed", hint),)
    return ()


def read_state(access: Access, with_lanes: bool) -> SubnetState:  # noqa: FBT001  (a record of functions has no names)
    """Read every device that can be reached from the entry by directed routes, forwarding tables or not.

    Raises:
        SourceError: ``source.no-answer`` when nothing answers, or the walk does not end.
    """
    environment = {**os.environ, **access.environment}
    if access.preload:
        environment["LD_PRELOAD"] = access.preload
    command = [sys.executable, "-I", str(Path(probe.__file__)), str(WINDOW), "1" if with_lanes else "0"]
    try:
        done = subprocess.run(  # noqa: S603  (our own program)
            command,
            env=environment,
            cwd=access.folder,
            input=access.key_file.read_bytes() if access.key_file is not None else b"",
            capture_output=True,
            timeout=LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise _no_answer(access.subnet, f"the walk did not end within {LIMIT_S} s") from error
    if done.returncode or len(done.stdout) < _RECORD.itemsize or len(done.stdout) % _RECORD.itemsize:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise _no_answer(access.subnet, said[-1][:200] if said else "the entry of the subnet does not answer")
    return parse_state(access.subnet, done.stdout)


def _no_answer(subnet: str, why: str) -> SourceError:
    return SourceError(
        "source.no-answer", f"{subnet} cannot be read: {why}", "see whether it runs, and look at its logs"
    )


def parse_state(subnet: str, data: bytes) -> SubnetState:
    """Turn the records of the walk into the state of a subnet."""
    records = np.frombuffer(data, dtype=_RECORD)
    if not len(records) or not (records["attribute"] == probe.NODE_INFO).any():
        raise _no_answer(subnet, "the entry of the subnet does not answer")
    nodes, endpoints = _read_nodes(records)
    key_tables = _read_keys(records)
    links: dict[tuple[int, int], tuple[int, int]] = {}
    for guid, port, raw in _rows(records, probe.LINK):
        far, number, port_id = probe.FAR_END.unpack(raw[: probe.FAR_END.size])
        links[guid, port] = (far, number)
        if far in nodes and not nodes[far].is_switch:
            endpoints[port_id] = (far, number)
    return SubnetState(
        subnet=subnet,
        nodes=nodes,
        ports={(guid, port): _read_port(raw) for guid, port, raw in _rows(records, probe.PORT_INFO)},
        endpoints=endpoints,
        links=links,
        keys={place: tuple(key for key in table if key) for place, table in key_tables.items()},
        tables=_read_tables(records),
        lanes={(guid, m >> 8, m & 0xFF): raw[:8] for guid, m, raw in _rows(records, probe.SL_TO_VL)},
        arbitration={(guid, m & 0xFFFF, m >> 16): raw for guid, m, raw in _rows(records, probe.VL_ARBITRATION)},
        silences=tuple(
            (guid, int.from_bytes(raw[:2], "little"), modifier) for guid, modifier, raw in _rows(records, probe.SILENT)
        ),
        answers=len(records),
        managers={
            (guid, port): ManagerState(raw[20] >> 4, MANAGER_STATES.get(raw[20] & 15, "unknown"))
            for guid, port, raw in _rows(records, probe.SM_INFO)
        },
        key_tables=key_tables,
        key_capacity={guid: int.from_bytes(raw[28:30], "big") for guid, _, raw in _rows(records, probe.NODE_INFO)},
        switch_key_capacity={
            guid: int.from_bytes(raw[14:16], "big") for guid, _, raw in _rows(records, probe.SWITCH_INFO)
        },
    )


def _rows(records: Records, attribute: int) -> Iterator[tuple[int, int, bytes]]:
    """Yield node, modifier and data of the records of one attribute."""
    part = records[records["attribute"] == attribute]
    data = part["data"].tobytes()
    for index, (guid, modifier) in enumerate(zip(part["guid"].tolist(), part["modifier"].tolist(), strict=True)):
        yield guid, modifier, data[64 * index : 64 * index + 64]


def _read_nodes(records: Records) -> tuple[dict[int, NodeState], dict[int, tuple[int, int]]]:
    nodes: dict[int, NodeState] = {}
    endpoints: dict[int, tuple[int, int]] = {}
    for guid, _, raw in _rows(records, probe.NODE_INFO):
        nodes[guid] = NodeState(is_switch=raw[2] == probe.SWITCH, ports=raw[3])
        if raw[2] != probe.SWITCH:
            endpoints[int.from_bytes(raw[20:28], "big")] = (guid, raw[36])
    return nodes, endpoints


def _read_port(raw: bytes) -> PortState:
    return PortState(address=int.from_bytes(raw[16:18], "big"), multipath_bits=raw[34] & 7, state=raw[32] & 15)


def _read_keys(records: Records) -> dict[tuple[int, int], tuple[int, ...]]:
    """Join the blocks of each port."""
    blocks: dict[tuple[int, int], dict[int, list[int]]] = {}
    for guid, modifier, raw in _rows(records, probe.PKEY_TABLE):
        words = [word if word & 0x7FFF else 0 for word in np.frombuffer(raw, dtype=">u2").tolist()]
        blocks.setdefault((guid, modifier >> 16), {})[modifier & 0xFFFF] = words
    return {place: _join_blocks(found) for place, found in blocks.items()}


def _join_blocks(blocks: dict[int, list[int]]) -> tuple[int, ...]:
    size = probe.KEYS_PER_BLOCK
    words = [word for number in range(max(blocks) + 1) for word in blocks.get(number, [0] * size)]
    last = max((index for index, word in enumerate(words) if word), default=-1)
    return tuple(words[: last + 1])


def _read_tables(records: Records) -> dict[int, U8]:
    part = records[records["attribute"] == probe.FORWARDING]
    tables: dict[int, U8] = {}
    for guid in np.unique(part["guid"]).tolist():
        own = part[part["guid"] == guid]
        table = np.full((int(own["modifier"].max()) + 1, probe.LIDS_PER_BLOCK), 255, dtype=np.uint8)
        table[own["modifier"]] = own["data"]
        tables[guid] = table.reshape(-1)
    return tables
