"""The script that applies a list of NICs on a host, and what runs it at every boot: one text for all hosts."""

from __future__ import annotations

from weftline.vendors.host.columns import COLUMNS
from weftline.vendors.host.script_keep import KEEP
from weftline.vendors.host.script_set import SET
from weftline.vendors.host.script_show import SHOW

_NAMES = " ".join(["nic", *(column.name for column in COLUMNS)])

SCRIPT = (SHOW + SET + KEEP).replace("@COLUMNS@", _NAMES)

UNIT = """\
# Sets the NICs as /etc/weftline says; install as /etc/systemd/system/weftline-nics.service, then
#   systemctl daemon-reload && systemctl enable --now weftline-nics.service
[Unit]
Description=RoCE settings of the NICs, as /etc/weftline says
After=network-pre.target openibd.service
ConditionPathExists=/etc/weftline/nics.conf
StartLimitIntervalSec=0

# It does not stay active: the rule in 90-weftline-nics.rules starts it again when a driver was loaded anew.
[Service]
Type=oneshot
ExecStart=/usr/local/sbin/apply-nics.sh

[Install]
WantedBy=multi-user.target
"""

RULES = """\
# A NIC whose driver was loaded anew has lost its settings; install as /etc/udev/rules.d/90-weftline-nics.rules, then
#   udevadm control --reload
ACTION=="add", SUBSYSTEM=="infiniband", DRIVERS=="mlx5_core", TAG+="systemd", \\
  ENV{SYSTEMD_WANTS}+="weftline-nics.service"
"""

SHARED = {
    "hosts/apply-nics.sh": SCRIPT,
    "hosts/weftline-nics.service": UNIT,
    "hosts/90-weftline-nics.rules": RULES,
}
"""Files that all hosts share, by path."""


def is_shared(head: bytes) -> bool:
    """Tell whether a file is one of those that all hosts share, by its first lines."""
    return any(head.startswith(text.encode()[:200]) for text in SHARED.values())
