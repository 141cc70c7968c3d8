"""The controls that an audit of an InfiniBand fabric speaks to, each in one sentence."""

from __future__ import annotations

CONTROLS: dict[str, str] = {
    "TEN-01": "No two tenants hold a common partition key by which they could talk.",
    "TEN-02": "In the default partition only the subnet managers are full members.",
    "TEN-03": "Leaf ports enforce partitions in both directions, by tables of their own.",
    "TEN-04": "No port is a full and a limited member of one partition unless that is declared.",
    "TEN-05": "Switches, aggregation nodes and storage in a partition are listed as its members.",
    "TEN-06": "Shared storage is a hub: the hosts that use it are limited members.",
    "TEN-09": "Partitions of in-network reduction hold the tenant's nodes and no others.",
    "TEN-10": "Each multicast group belongs to one partition, and so do its members.",
    "TEN-11": "A host belongs to one tenant.",
    "TEN-12": "What separates tenants is named, with the risk that remains.",
    "TEN-13": "No tenant can starve another: lanes and their arbitration see to it.",
    "IBS-01": "A management key is set and protects reading; its lease outlasts a sweep and a fail-over.",
    "IBS-02": "SM_Key and SA_Key are set, and are no defaults.",
    "IBS-03": "Vendor, congestion-control and aggregation keys are set where these managers run.",
    "IBS-04": "The subnet administrator trusts no port by itself (SA enhanced trust).",
    "IBS-05": "Only the declared subnet managers answer, a master and a standby behind it.",
    "IBS-06": "Each GUID is found at the port where the inventory has it.",
    "IBS-07": "Hosts cannot send management packets of their own (SMP firewall, secure host).",
    "IBS-08": "Key files are readable by their owner alone, and no export holds a key.",
    "IBS-09": "Keys are changed within the time that is set for it.",
    "CFG-01": "What runs is what is declared.",
    "CFG-04": "Firmware is of one version in each role.",
    "CFG-07": "Forwarding tables can be reproduced from the declaration.",
}
