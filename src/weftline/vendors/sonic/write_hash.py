"""SONiC's choice among equal paths: what is hashed; the seed follows from the type of the device."""

from __future__ import annotations

from weftline.formats.config_db import WrittenRow
from weftline.model.intent import DeviceIntent

FIELDS = {
    "source-address": "SRC_IP",
    "target-address": "DST_IP",
    "protocol": "IP_PROTOCOL",
    "source-port": "L4_SRC_PORT",
    "target-port": "L4_DST_PORT",
    "queue-pair": "RDMA_BTH_DEST_QP",
    "ingress-port": "IN_PORT",
    "inner-source-address": "INNER_SRC_IP",
    "inner-target-address": "INNER_DST_IP",
    "inner-protocol": "INNER_IP_PROTOCOL",
    "inner-source-port": "INNER_L4_SRC_PORT",
    "inner-target-port": "INNER_L4_DST_PORT",
}
"""Words of an intent, and fields of SWITCH_HASH (doc/hash/hash-design.md of sonic-net/SONiC)."""


SEEDS = {"ToRRouter": 0, "LeafRouter": 10, "SpineRouter": 25}
"""Seeds that a switch takes by its type (dockers/docker-orchagent/switch.json.j2 of sonic-buildimage)."""


def make_hash(intent: DeviceIntent) -> dict[str, dict[str, WrittenRow]]:
    """Make the table of hashed fields."""
    if intent.hashing is None:
        return {}
    return {"SWITCH_HASH": {"GLOBAL": {"ecmp_hash": [FIELDS[word] for word in intent.hashing.fields]}}}
