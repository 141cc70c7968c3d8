"""Hashing out of SONiC's tables."""

from __future__ import annotations

from weftline.vendors.sonic.file import SwitchFile
from weftline.vendors.sonic.write_hash import FIELDS, SEEDS

_WORDS = {field: word for word, field in FIELDS.items()}
MAX_SEED = 0xFFFFFFFF


def read_hash(file: SwitchFile) -> None:
    """Read what is hashed, and the seed."""
    text = file.rows("SWITCH_HASH").get("GLOBAL", {}).get("ecmp_hash")
    where = "SWITCH_HASH.GLOBAL.ecmp_hash"
    if text is None:
        return
    _read_seed(file)
    names = text.split(",")
    unknown = [name for name in names if name not in _WORDS]
    if unknown:
        file.blame("artifact.out-of-range", f"{unknown[0][:40]!r} is no field that is hashed", where)
    else:
        file.say("hashing.fields", tuple(_WORDS[name] for name in names), where)


def _read_seed(file: SwitchFile) -> None:
    """Read the seed: that of the device, else that of its type."""
    row = file.rows("DEVICE_METADATA").get("localhost", {})
    where = "DEVICE_METADATA.localhost.ecmp_hash_seed"
    seed = file.read_int(row.get("ecmp_hash_seed"), 0, MAX_SEED, where)
    if seed is None and row.get("type") in SEEDS:
        seed, where = SEEDS[row["type"]], "DEVICE_METADATA.localhost.type"
    if seed is not None:
        file.say("hashing.seed", seed, where)
