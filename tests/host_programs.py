"""Stand-ins for the programs of a host that need an mlx5 NIC: they keep state, print as the real ones, and log calls.

Run as ``python host_programs.py PROGRAM ARGUMENT...`` with the folder of the state in ``STANDINS``. They refuse what
the real ones refuse: trust together with a map, buffers larger than the NIC. As with the real mlnx_qos, a cable length
without ``--pfc`` switches PFC off.
"""

from __future__ import annotations

import json
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DEFAULT: dict[str, Any] = {
    "dcbx": "Firmware controlled",
    "trust": "pcp",
    "map": {},
    "sizes": [262144, 0, 0, 0, 0, 0, 0, 0],
    "total": 1027728,
    "cable": 7,
    "pfc": [0] * 8,
    "buffers": [0] * 8,
    "tc": [1, 0, 2, 3, 4, 5, 6, 7],
    "tsa": ["vendor"] * 8,
    "bw": [0] * 8,
    "rx": "on",
    "tx": "on",
    "tos": 0,
    "has_buffers": True,
    "takes_many": True,
}


def say(line: object) -> None:
    """Print a line."""
    sys.stdout.write(f"{line}\n")


def numbers(text: str) -> list[int]:
    """Read eight numbers."""
    found = [int(piece) for piece in text.split(",")]
    assert len(found) == 8, text
    return found


def set_qos(state: dict[str, Any], options: list[tuple[str, str]]) -> None:
    """Do what mlnx_qos does."""
    names = [name for name, _ in options]
    assert not {"--trust", "--dscp2prio"} <= set(names), "trust and dscp2prio commands cannot be used at the same time"
    given = dict(options)
    if "--dcbx" in given:
        state["dcbx"] = {"os": "OS controlled", "fw": "Firmware controlled"}[given["--dcbx"]]
    if "--pfc" in given or "--cable_len" in given:
        state["pfc"] = numbers(given.get("--pfc", "0,0,0,0,0,0,0,0"))
        length = int(given.get("--cable_len", "0"))
        state["cable"] = length if 0 < length < 1000 else state["cable"]
    if "--trust" in given and given["--trust"] != state["trust"]:
        state["trust"] = given["--trust"]
        state["map"] = {str(dscp): dscp // 8 for dscp in range(64)} if state["trust"] == "dscp" else {}
    maps = [value for name, value in options if name == "--dscp2prio"]
    for value in maps if state["takes_many"] else maps[-1:]:
        _, dscp, priority = value.split(",")
        assert 0 <= int(dscp) < 64
        assert 0 <= int(priority) < 8
        state["map"][dscp] = int(priority)
    if "--prio2buffer" in given or "--buffer_size" in given:
        assert state["has_buffers"], "Buffers commands are not supported on your system"
        sizes = numbers(given["--buffer_size"])
        assert sum(sizes) <= state["total"], "the buffers do not fit"
        state["buffers"], state["sizes"] = numbers(given["--prio2buffer"]), sizes
    for name, key in (("--prio_tc", "tc"), ("--tcbw", "bw")):
        if name in given:
            state[key] = numbers(given[name])
    if "--tsa" in given:
        state["tsa"] = given["--tsa"].split(",")
        shares = [share for share, kind in zip(state["bw"], state["tsa"], strict=True) if kind == "ets"]
        assert sum(shares) == (100 if shares else 0), "percents must sum to 100"


def print_qos(state: dict[str, Any]) -> None:
    """Print what mlnx_qos prints."""
    say(f"DCBX mode: {state['dcbx']}\nPriority trust state: {state['trust']}")
    if state["trust"] == "dscp":
        say("dscp2prio mapping:")
        for priority in range(8):
            codes = sorted((int(code) for code, value in state["map"].items() if value == priority), reverse=True)
            for start in range(0, len(codes), 8):
                say(f"\tprio:{priority} dscp:" + "".join(f"{code:02d}," for code in codes[start : start + 8]))
    say("default priority:")
    if state["has_buffers"]:
        sizes = "".join(f"{size}," for size in state["sizes"])
        say(f"Receive buffer size (bytes): {sizes}total_size={state['total']}")
    say(f"Cable len: {state['cable']}\nPFC configuration:\n\tpriority    0   1   2   3   4   5   6   7")
    say("\tenabled     " + "".join(f"{bit}   " for bit in state["pfc"]))
    if state["has_buffers"]:
        say("\tbuffer      " + "".join(f"{buffer}   " for buffer in state["buffers"]))
    for tc in range(8):
        share = f", bw: {state['bw'][tc]}%" if state["tsa"][tc] == "ets" else ""
        say(f"tc: {tc} ratelimit: unlimited, tsa: {state['tsa'][tc]}{share}")
        for priority in range(8):
            if state["tc"][priority] == tc:
                say(f"\t priority:  {priority}")


def main() -> None:
    """Behave as the program that is named first."""
    program, *arguments = sys.argv[1:]
    folder = os.environ["STANDINS"]
    with open(f"{folder}/log", "a") as log:  # noqa: PTH123  (pathlib doubles the time that it takes to start)
        log.write(" ".join([program, *arguments]) + "\n")
    owner = arguments[1]
    file = f"{folder}/{owner}.json"
    state: dict[str, Any] = dict(DEFAULT)
    if os.path.exists(file):  # noqa: PTH110
        with open(file) as old:  # noqa: PTH123
            state.update(json.load(old))
    if program == "mlnx_qos":
        rest = [word for word in arguments[2:] if word != "-a"]
        set_qos(state, list(zip(rest[::2], rest[1::2], strict=True)))
        print_qos(state)
    elif program == "ethtool":
        state.update(zip(arguments[2::2], arguments[3::2], strict=True))
        if arguments[0] == "-a":
            say(f"Pause parameters for {owner}:\nAutonegotiate:\toff\nRX:\t\t{state['rx']}\nTX:\t\t{state['tx']}\n")
    elif program == "cma_roce_tos":
        state["tos"] = int(arguments[3]) if "-t" in arguments else state["tos"]
        say(state["tos"])
    with open(file, "w") as new:  # noqa: PTH123
        json.dump(state, new)


if __name__ == "__main__":
    main()
