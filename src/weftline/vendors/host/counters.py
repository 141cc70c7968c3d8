"""Counters of a NIC as evidence: which counter of the driver says what."""

from __future__ import annotations

import re

from weftline.kernels.column import NIL

KINDS = {
    "pause": {"rx": "pause-received", "tx": "pause-sent"},
    "pause_duration": {"rx": "pause-received-time", "tx": "pause-sent-time"},
    "buf_discard": {"rx": "group-drops"},
    "cong_discard": {"rx": "group-drops"},
    "discards": {"rx": "group-drops"},
    "marked": {"rx": "marked"},
    "bytes": {"rx": "bytes-received", "tx": "bytes-sent"},
}
"""Of counters of one priority, ``rx_prio3_pause``. Linux, Documentation/networking/device_drivers/ethernet/mellanox."""
WHOLE = {
    "rx_global_pause": "pause-received",
    "tx_global_pause": "pause-sent",
    "rx_global_pause_duration": "pause-received-time",
    "tx_global_pause_duration": "pause-sent-time",
    "rx_pause_ctrl_phy": "pause-received",
    "tx_pause_ctrl_phy": "pause-sent",
    "rx_discards_phy": "port-drops",
    "tx_discards_phy": "port-drops",
    "rx_out_of_buffer": "out-of-buffer",
    "out_of_buffer": "out-of-buffer",
    "np_cnp_sent": "notifications-sent",
    "rp_cnp_handled": "notifications-handled",
    "np_ecn_marked_roce_packets": "marked",
    "local_ack_timeout_err": "retries",
    "packet_seq_err": "retries",
    "out_of_sequence": "retries",
    "roce_adp_retrans": "retries",
}
_PRIORITY = re.compile(r"^(rx|tx)_prio(\d)_([a-z_]{1,20})$")


def read_counter(name: str) -> tuple[str, int] | None:
    """Say what a counter counts, and of which priority; None for one that is no evidence of losslessness."""
    match = _PRIORITY.match(name)
    if match:
        kind = KINDS.get(match[3], {}).get(match[1])
        return None if kind is None else (kind, int(match[2]))
    kind = WHOLE.get(name)
    return None if kind is None else (kind, NIL)
