"""Broken declarations, made from a seed: each must give problems, never an exception, within bounds."""

from __future__ import annotations

import random
from collections.abc import Callable

BASE = """\
fabric:
  name: broken
technology: infiniband
hosts:
  count: 64
  gpus: 8
  rails: 8
  rate_gbps: 400
  unit_size: 32
topology:
  kind: rail-optimised
  tiers: 2
tenants:
  - name: one
    hosts: 1-32
  - name: two
    hosts: 33-64
jobs:
  - name: train
    parameters: 70e9
    tensor_parallel: 8
    pipeline_parallel: 1
    data_parallel: 64
    global_batch: 1024
    sequence_length: 4096
    utilisation: 0.4
    gpu_hour_price: 2.95
"""

Breaker = Callable[[random.Random], bytes]

WRONG_VALUES = (
    "many", "yes", "'64'", "-1", "0", "1.5", "[1, 2]", "{a: 1}", "null", "~", "true", "0x", "1_000", "1e400",
    "-1e400", ".inf", ".nan", "9" * 5000, "1e99999999999", "''", "'\\u0000'", "!!int 3", "!!python/object:os.system x",
    "*nobody", "2024-01-01", "1:20", "[[[[]]]]", '"a\\tb"', "'\U0001f4a5'", "0o777777777777777777777777", "-.inf",
)  # fmt: skip
NUMBER_KEYS = (
    "count", "gpus", "rails", "rate_gbps", "unit_size", "tiers", "parameters", "tensor_parallel", "pipeline_parallel",
    "data_parallel", "global_batch", "sequence_length", "utilisation", "gpu_hour_price",
)  # fmt: skip
CONTRADICTIONS = (
    ("hosts: 33-64", "hosts: 20-64"),
    ("hosts: 33-64", "hosts: 33-65"),
    ("hosts: 33-64", "hosts: 64-33"),
    ("hosts: 33-64", "hosts: 0-3"),
    ("hosts: 33-64", "hosts: 33-64,40"),
    ("hosts: 33-64", "hosts: 1-99999999999999999999"),
    ("hosts: 33-64", "hosts: " + ",".join("1" for _ in range(3000))),
    ("name: two", "name: one"),
    ("data_parallel: 64", "data_parallel: 63"),
    ("tensor_parallel: 8", "tensor_parallel: 7"),
    ("kind: rail-optimised", "kind: cabling"),
    ("tiers: 2", "cabling: cables.csv"),
    ("technology: infiniband", "technology: roce\nrouting: {lmc: 2}"),
    ("technology: infiniband", "technology: infiniband\nlossless: {priority: 6}"),
    ("technology: infiniband", "technology: infiniband\nlossless: {mtu: 9000}"),
    ("technology: infiniband", "technology: infiniband\nlossless: {dscp: 48}"),
    ("technology: infiniband", "technology: infiniband\nsite: {management: [10.0.0.1/8, nowhere, 300.1.1.0/24]}"),
    ("tiers: 2", "leaf: SN5600"),
    ("tiers: 2", "leaf: QM8700"),
    ("tiers: 2", "spine: Q3400-RA"),
    ("tiers: 2", "core: QM97OO"),
    ("tiers: 2", "planes: 2"),
    ("tiers: 2", "planes: 2000000"),
    ("rate_gbps: 400", "rate_gbps: 123"),
    ("rate_gbps: 400", "part: DGX-H1000"),
    ("rate_gbps: 400", "nic: ConnectX-9"),
    ("rate_gbps: 400", "rate_gbps: 800\n  nic: ConnectX-7"),
)  # fmt: skip


def broken_declarations(count: int, seed: int) -> list[tuple[str, bytes]]:
    """Make broken declarations, each with a name that says what is wrong; the same seed makes the same bytes."""
    source = random.Random(seed)
    made: list[tuple[str, bytes]] = []
    kinds = list(BREAKERS.items())
    for index in range(count):
        name, breaker = kinds[index % len(kinds)]
        made.append((f"{index:03d}-{name}", breaker(source)))
    return made


def _wrong_value(source: random.Random) -> bytes:
    key, value = source.choice(NUMBER_KEYS), source.choice(WRONG_VALUES)
    lines = [
        f"{line.split(':')[0]}: {value}" if line.strip().startswith(f"{key}:") else line for line in BASE.splitlines()
    ]
    text = "\n".join(lines)
    if value == "1.5" or (key in {"parameters", "gpu_hour_price"} and value == "0"):
        text += "\nnonsense: 1\n"  # a value that some keys do allow
    return (text + "\nextra: here\n").encode("utf-8", "surrogatepass")


def _contradiction(source: random.Random) -> bytes:
    old, new = source.choice(CONTRADICTIONS)
    return BASE.replace(old, new, 1).encode()


def _unknown_key(source: random.Random) -> bytes:
    lines: list[str] = [*BASE.splitlines()]
    index = source.choice([number for number, line in enumerate(lines) if ":" in line])
    key, rest = lines[index].split(":", 1)
    letters: list[str] = [*key]
    place = source.randrange(len(key) - len(key.lstrip(" -")), len(letters))
    letters[place] = source.choice("qxz") if source.random() < 0.5 else letters[place] * 2
    lines[index] = "".join(letters) + ":" + rest
    return ("\n".join(lines) + "\nzzz: 1\n").encode()


def _missing_line(source: random.Random) -> bytes:
    needed = ("fabric:", "  name: broken", "technology:", "  count:", "    global_batch:", "    sequence_length:")
    gone = source.choice(needed)
    lines = [line for line in BASE.splitlines() if not line.startswith(gone)]
    return "\n".join(lines).encode()


def _junk(source: random.Random) -> bytes:
    return source.randbytes(source.randrange(1, 4000)) + b"\x00\xff"


def _flipped(source: random.Random) -> bytes:
    data = bytearray(BASE.encode())
    for _ in range(source.randrange(1, 20)):
        data[source.randrange(len(data))] = source.choice((0, 1, 27, 127, 128, 192, 254, 255))
    return bytes(data)


def _cut(source: random.Random) -> bytes:
    return BASE.encode()[: source.randrange(0, 60)]


def _bomb(source: random.Random) -> bytes:
    width, depth = source.randrange(6, 12), source.randrange(6, 14)
    lines = ["a0: &a0 [x, x, x]"]
    lines += [f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * width)}]" for level in range(1, depth)]
    return ("\n".join(lines) + "\n" + BASE).encode()


def _map_bomb(source: random.Random) -> bytes:
    depth = source.randrange(20, 50)
    lines = ["b0: &b0 {k: v}"]
    lines += [f"b{level}: &b{level} {{l: *b{level - 1}, r: *b{level - 1}}}" for level in range(1, depth)]
    return ("\n".join(lines) + "\n" + BASE).encode()


def _deep(source: random.Random) -> bytes:
    opener = source.choice(("[", "{a: ", "- ", "? "))
    return (BASE + "deep: " + "\n  " * (opener in {"- ", "? "}) + opener * source.choice((70, 900, 40_000))).encode()


def _indented(source: random.Random) -> bytes:
    depth = source.choice((65, 300, 1000))
    return (BASE + "".join(f"{' ' * level}k{level}:\n" for level in range(depth))).encode()


def _cycle(source: random.Random) -> bytes:
    return (
        source.choice(
            (
                "loop: &loop [*loop]\n",
                "loop: &loop {again: *loop}\n",
                "loop: &one [&two [*one], *two]\n",
            )
        ).encode()
        + BASE.encode()
    )


def _part_cycle(source: random.Random) -> bytes:
    length = source.choice((1, 2, 3, 9, 200))
    parts = "".join(f"    part{index}: {{base: part{(index + 1) % length}}}\n" for index in range(length))
    return (BASE + "parts:\n  switches:\n" + parts).encode()


def _merge(source: random.Random) -> bytes:
    return BASE.replace("hosts:\n  count", "x: &x {gpus: 8}\nhosts:\n  <<: *x\n  count", 1).encode() + (
        b"more: 1\n" if source.random() < 0.5 else b""
    )


def _duplicate(source: random.Random) -> bytes:
    lines = BASE.splitlines()
    index = source.choice(
        [number for number, line in enumerate(lines) if line.startswith("  ") and "-" not in line[:5]]
    )
    return "\n".join([*lines[: index + 1], lines[index], *lines[index + 1 :]]).encode()


def _documents(source: random.Random) -> bytes:
    return (BASE + "---\n" + (BASE if source.random() < 0.5 else "")).encode()


def _encoded(source: random.Random) -> bytes:
    return source.choice(
        (
            BASE.encode("utf-16"),
            BASE.encode("utf-32-le"),
            b"\xef\xbb\xbf" + BASE.replace("hosts:", "\ufeffhosts:", 1).encode(),
            BASE.replace("broken", "\ud800").encode("utf-8", "surrogatepass"),
            BASE.replace("broken", '"\\ud800"').encode(),
            BASE.replace("broken", '"\\U00110000"').encode(),
            BASE.replace("broken", "br\x85oken").encode("latin-1"),
        )
    )


def _tabs(source: random.Random) -> bytes:
    text = BASE.replace("  ", "\t")
    return (text.replace("\n", "\r\n") if source.random() < 0.5 else text).encode()


def _crlf(source: random.Random) -> bytes:
    end = source.choice(("\r\n", "\r"))
    return (BASE + "unknown: 1\n").replace("\n", end).encode()


def _wide(source: random.Random) -> bytes:
    count = source.choice((200, 5_000, 20_000))
    shape = source.choice(("key{0}: {0}\n", "? [{0}]\n: 1\n", "jbos{0}: [a, b]\n"))
    return (BASE + "".join(shape.format(index) for index in range(count))).encode()


def _long_list(source: random.Random) -> bytes:
    count = source.choice((70, 1_000, 4_000))
    item = source.choice(("  - {name: x, hosts: 1}\n", "  - {nmae: x}\n", "  - 3\n", "  - [[]]\n"))
    return (BASE.split("tenants:", maxsplit=1)[0] + "tenants:\n" + item * count).encode()


def _large(source: random.Random) -> bytes:
    return BASE.encode() + b"# " + b"x" * source.choice((1_100_000, 3_000_000)) + b"\n"


def _long_words(source: random.Random) -> bytes:
    word = source.choice("ab1-") * source.choice((300, 20_000, 900_000))
    return source.choice(
        (f"{word}: 1\n", f"fabric: {{name: {word}}}\n", f"{word}\n", f"hosts: {{count: {word}}}\n")
    ).encode()


def _root(source: random.Random) -> bytes:
    return source.choice(
        (
            "[]",
            "- a",
            "text",
            "12",
            "null",
            "",
            "# only a comment\n",
            "---\n",
            "...\n",
            "{}",
            "%YAML 9.9\n---\n{}",
            "&a",
            "*a",
        )
    ).encode()


def _parts(source: random.Random) -> bytes:
    return (
        BASE
        + source.choice(
            (
                "parts: 3\n",
                "parts:\n  swiches: {}\n",
                "parts:\n  switches: {X: 3}\n",
                "parts:\n  switches: {X: {base: nothing}}\n",
                "parts:\n  switches: {X: {base: [1]}}\n",
                "parts:\n  switches: {X: {technologies: [infiniband]}}\n",
                "parts:\n  switches: {QM9700: {ports: [{rate_gbps: 400, count: 99999999}]}}\n",
                "parts:\n  switches: {QM9700: {ports: []}}\n",
                "parts:\n  switches: {QM9700: {sources: 3}}\n",
                "parts:\n  switches: {QM9700: {sources: [{figures: [a], text: b, date: never}]}}\n",
                "parts:\n  hosts: {DGX-H100: {nic: nowhere}}\n",
                "parts:\n  hosts: {DGX-H100: {gpu_peak_tflops: {bf17: 3}}}\n",
                "parts:\n  nics: {'': {base: ConnectX-7}}\n",
                "parts:\n  cables: {C: {rate_gbps: -1, medium: string, technologies: [ethernet]}}\n",
            )
        )
    ).encode()


BREAKERS: dict[str, Breaker] = {
    "wrong-value": _wrong_value,
    "contradiction": _contradiction,
    "unknown-key": _unknown_key,
    "missing-line": _missing_line,
    "junk": _junk,
    "flipped": _flipped,
    "cut": _cut,
    "bomb": _bomb,
    "map-bomb": _map_bomb,
    "deep": _deep,
    "indented": _indented,
    "cycle": _cycle,
    "part-cycle": _part_cycle,
    "merge": _merge,
    "duplicate": _duplicate,
    "documents": _documents,
    "encoded": _encoded,
    "tabs": _tabs,
    "crlf": _crlf,
    "wide": _wide,
    "long-list": _long_list,
    "large": _large,
    "long-words": _long_words,
    "root": _root,
    "parts": _parts,
}
