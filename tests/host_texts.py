"""Outputs of a made-up host, as its tools print them."""

from __future__ import annotations

from weftline.formats.text import ProblemLog
from weftline.formats.transcript import Output, split_outputs

QOS = """\
****** WARNING: lldpad service is running and may overwrite your settings ******

DCBX mode: OS controlled
Priority trust state: dscp
dscp2prio mapping:
\tprio:0 dscp:07,06,05,04,03,02,01,00,
\tprio:3 dscp:31,30,29,28,27,26,25,24,
\tprio:3 dscp:59,
\tprio:6 dscp:48,
default priority:
\tprio:0
Receive buffer size (bytes): 20352,156096,0,0,0,0,0,0,max_buffer_size=1027728
Cable len: 7
PFC configuration:
\tpriority    0   1   2   3   4   5   6   7
\tenabled     0   0   0   1   0   0   0   0   \n\
\tbuffer      0   0   0   1   0   0   0   0   \n\
tc: 0 ratelimit: unlimited, tsa: ets, bw: 50%
\t priority:  0
\t priority:  1
tc: 3 ratelimit: 10.0 Gbps, tsa: ets, bw: 50%
\t priority:  3
tc: 6 ratelimit: unlimited, tsa: strict
\t priority:  6
"""
PAUSE = "Pause parameters for eth2:\nAutonegotiate:\toff\nRX:\t\ton\nTX:\t\toff\n\n"
COUNTERS = """\
NIC statistics:
     rx_packets: 12
     rx_out_of_buffer: 3
     rx_prio3_pause: 41
     tx_prio3_pause_duration: 18446744073709551615
     rx_prio3_buf_discard: 7
     ptp_cq0_abort: 0
"""
GIDS = """\
DEV\tPORT\tINDEX\tGID\t\t\t\t\tIPv4  \t\tVER\tDEV
---\t----\t-----\t---\t\t\t\t\t------------  \t---\t---
mlx5_0\t1\t0\tfe80:0000:0000:0000:0a00:00ff:fe00:0001\t\t\tv1\teth2
mlx5_0\t1\t1\tfe80:0000:0000:0000:0a00:00ff:fe00:0001\t\t\tv2\teth2
mlx5_0\t1\t2\t0000:0000:0000:0000:0000:ffff:0a00:0102\t10.0.1.2  \tv1\teth2
mlx5_0\t1\t3\t0000:0000:0000:0000:0000:ffff:0a00:0102\t10.0.1.2  \tv2\teth2
mlx5_0\t1\t4\tfd00:0000:0000:0000:0000:0000:0000:0102\t\t\tv2
n_gids_found=5
"""
DEVINFO = """\
hca_id:\tmlx5_0
\ttransport:\t\t\tInfiniBand (0)
\tfw_ver:\t\t\t\t28.40.1000
\tnode_guid:\t\t\t0200:0000:0000:0001
\tphys_port_cnt:\t\t\t1
\t\tport:\t1
\t\t\tstate:\t\t\tPORT_ACTIVE (4)
\t\t\tmax_mtu:\t\t4096 (5)
\t\t\tactive_mtu:\t\t1024 (3)
\t\t\tlink_layer:\t\tEthernet
\t\t\tGID[  0]:\t\tfe80:0000:0000:0000:0a00:00ff:fe00:0001, RoCE v1
\t\t\tGID[  3]:\t\t::ffff:10.0.1.2, RoCE v2

hca_id:\tmlx5_bond_0
\tphys_port_cnt:\t\t\t1
\t\tport:\t1
\t\t\tstate:\t\t\tPORT_DOWN (1)
\t\t\tactive_mtu:\t\t4096 (5)
"""
FIRMWARE = """\

Device #1:
----------

Device type:        ConnectX7
Name:               MADE-UP
Description:        a NIC that nobody sells
Device:             0000:17:00.0

Configurations:                                     Default             Current             Next Boot
*       ROCE_CC_PRIO_MASK_P1                        255                 255                 0
        LLDP_NB_DCBX_P1                             False(0)            False(0)            True(1)
        HOST_CHAINING_DESCRIPTORS                   Array[0..7]         Array[0..7]         Array[0..7]
"""
DCB = """\
pfc-cap 8 macsec-bypass off delay 7
prio-pfc 0:off 1:off 2:off 3:on 4:off 5:off 6:off 7:off
"""


def read(text: str, file: str = "host.txt") -> tuple[tuple[Output, ...], ProblemLog]:
    """Split a text."""
    log = ProblemLog(file)
    return split_outputs(text.encode(), file, log), log


def only(text: str) -> tuple[Output, ProblemLog]:
    """Split a text that is one output."""
    outputs, log = read(text)
    assert len(outputs) == 1
    return outputs[0], log
