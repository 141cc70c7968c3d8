"""Faults of switches: every map, buffer, mark, queue, watchdog and port, at a leaf or a spine."""

from __future__ import annotations

from tests.oracle.seeding import CONFIG, Change, Fault, add, drop, move, put

LEAF, SPINE = "leaf-001", "spine-01"
HOST_PORT, UPLINK = "Ethernet0", "Ethernet32"
SPINE_PORT = "Ethernet0"
MAP = "FABRIC"
SHORT, LONG = "pg_lossless_400000_5m_profile", "pg_lossless_400000_30m_profile"
MARKS = "class.3"


def at(
    name: str, change: Change, rule: str, names: str, *, device: str = LEAF, severity: str = "error", why: str = ""
) -> Fault:
    """Make a fault in the tables of a switch."""
    return Fault(name, device, CONFIG, change, rule, names, severity, why)


def spine(name: str, change: Change, rule: str, names: str, *, severity: str = "error") -> Fault:
    """Make a fault in the tables of a spine."""
    return at(name, change, rule, names, device=SPINE, severity=severity)


MAPS = (
    at("DSCP 26 to class 1", put("DSCP_TO_TC_MAP", MAP, "26", "1"), "classes.dscp-lossy", "DSCP_TO_TC_MAP"),
    spine("DSCP 26 to class 0", put("DSCP_TO_TC_MAP", MAP, "26", "0"), "classes.dscp-lossy", "DSCP_TO_TC_MAP"),
    at("DSCP 26 gone", put("DSCP_TO_TC_MAP", MAP, "26", None), "classes.dscp-lossy", "DSCP_TO_TC_MAP"),
    at("another DSCP lossless too", put("DSCP_TO_TC_MAP", MAP, "0", "3"), "classes.differ", "DSCP_TO_TC_MAP",
       severity="warning"),
    at("notifications in the lossless class", put("DSCP_TO_TC_MAP", MAP, "48", "3"), "pauses.notifications",
       "DSCP_TO_TC_MAP"),
    spine("notifications in the default class", put("DSCP_TO_TC_MAP", MAP, "48", "0"), "queue.notifications",
          "DSCP_TO_TC_MAP", severity="warning"),
    at("DSCP 64", put("DSCP_TO_TC_MAP", MAP, "64", "3"), "files.faulty", "DSCP_TO_TC_MAP", severity="warning"),
    at("class 3x", put("DSCP_TO_TC_MAP", MAP, "26", "3x"), "files.faulty", "DSCP_TO_TC_MAP", severity="warning"),
    at("no DSCP map", drop("DSCP_TO_TC_MAP"), "classes.not-sorted", "PORT_QOS_MAP"),
    at("class 3 to queue 4", put("TC_TO_QUEUE_MAP", MAP, "3", "4"), "classes.pauses-no-class", "TC_TO_QUEUE_MAP"),
    spine("class 0 to queue 3", put("TC_TO_QUEUE_MAP", MAP, "0", "3"), "classes.mixed", "TC_TO_QUEUE_MAP",
          severity="warning"),
    at("class 3 to group 0", put("TC_TO_PRIORITY_GROUP_MAP", MAP, "3", "0"), "classes.group-not-paused",
       "TC_TO_PRIORITY_GROUP_MAP"),
    spine("class 0 to group 3", put("TC_TO_PRIORITY_GROUP_MAP", MAP, "0", "3"), "classes.mixed",
          "TC_TO_PRIORITY_GROUP_MAP", severity="warning"),
    at("pause 3 stops queue 4", put("MAP_PFC_PRIORITY_TO_QUEUE", MAP, "3", "4"), "classes.pauses-no-class",
       "MAP_PFC_PRIORITY_TO_QUEUE"),
    spine("pause 3 stops no queue", put("MAP_PFC_PRIORITY_TO_QUEUE", MAP, "3", None), "classes.pauses-no-class",
          "MAP_PFC_PRIORITY_TO_QUEUE"),
    at("pause 3 for group 4", put("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", MAP, "3", "4"), "classes.group-not-paused",
       "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP"),
    spine("pause 3 for no group", put("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", MAP, "3", None),
          "classes.group-not-paused", "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP"),
)  # fmt: skip

BOUND = (
    at("DSCP map of one port dangles", put("PORT_QOS_MAP", UPLINK, "dscp_to_tc_map", "AZURE"), "files.faulty",
       "DSCP_TO_TC_MAP", severity="warning"),
    at("queue map of one port dangles", put("PORT_QOS_MAP", UPLINK, "tc_to_queue_map", "AZURE"), "files.faulty",
       "TC_TO_QUEUE_MAP", severity="warning"),
    at("group map of one port not bound", put("PORT_QOS_MAP", UPLINK, "tc_to_pg_map", None),
       "drift.map-missing", "PORT_QOS_MAP", severity="warning"),
    at("no pause at a host's port", put("PORT_QOS_MAP", HOST_PORT, "pfc_enable", None), "pauses.missing",
       "PORT_QOS_MAP"),
    at("no pause at an uplink", put("PORT_QOS_MAP", UPLINK, "pfc_enable", None), "pauses.missing", "PORT_QOS_MAP"),
    spine("no pause at a spine", put("PORT_QOS_MAP", SPINE_PORT, "pfc_enable", None), "pauses.missing",
          "PORT_QOS_MAP"),
    at("pause 4 at a host's port", put("PORT_QOS_MAP", HOST_PORT, "pfc_enable", "4"), "pauses.ends-differ",
       "PORT_QOS_MAP"),
    spine("pauses 3 and 4 at a spine", put("PORT_QOS_MAP", SPINE_PORT, "pfc_enable", "3,4"), "pauses.ends-differ",
          "PORT_QOS_MAP"),
    at("watch 4", put("PORT_QOS_MAP", HOST_PORT, "pfcwd_sw_enable", "4"), "watchdog.other-queues", "PORT_QOS_MAP"),
    spine("watch nothing", put("PORT_QOS_MAP", SPINE_PORT, "pfcwd_sw_enable", None), "watchdog.other-queues",
          "PORT_QOS_MAP", severity="warning"),
    at("pause x", put("PORT_QOS_MAP", HOST_PORT, "pfc_enable", "x"), "files.faulty", "PORT_QOS_MAP",
       severity="warning"),
    at("no row of a port", drop("PORT_QOS_MAP", UPLINK), "pauses.missing", "PORT"),
    spine("no PORT_QOS_MAP", drop("PORT_QOS_MAP"), "pauses.missing", "PORT"),
)  # fmt: skip

BUFFERS = (
    at("no lossless group at a host's port", drop("BUFFER_PG", f"{HOST_PORT}|3"), "buffers.no-headroom",
       "PORT_QOS_MAP"),
    spine("no lossless group at a spine", drop("BUFFER_PG", f"{SPINE_PORT}|3"), "buffers.no-headroom",
          "PORT_QOS_MAP"),
    at("group of another number", move("BUFFER_PG", f"{UPLINK}|3", f"{UPLINK}|4"), "buffers.no-headroom",
       "PORT_QOS_MAP"),
    at("lossy profile for the lossless group", put("BUFFER_PG", f"{UPLINK}|3", "profile", "ingress_lossy_profile"),
       "buffers.no-headroom", "BUFFER_P"),
    at("profile of a shorter cable", put("BUFFER_PG", f"{UPLINK}|3", "profile", SHORT), "buffers.stale-profile",
       "BUFFER_PG"),
    at("profile dangles", put("BUFFER_PG", f"{UPLINK}|3", "profile", "pg_lossless_400000_40m_profile"),
       "files.faulty", "BUFFER_PROFILE", severity="warning"),
    at("headroom halved", put("BUFFER_PROFILE", SHORT, "xoff", "43008"), "drift.headroom", "BUFFER_PROFILE",
       severity="warning"),
    at("headroom of two frames", put("BUFFER_PROFILE", LONG, "xoff", "18432"), "buffers.below-floor",
       "BUFFER_PROFILE"),
    at("headroom 0", put("BUFFER_PROFILE", LONG, "xoff", "0"), "buffers.no-headroom", "BUFFER_PROFILE"),
    spine("headroom 0 at a spine", put("BUFFER_PROFILE", LONG, "xoff", "0"), "buffers.no-headroom",
          "BUFFER_PROFILE"),
    at("size below the headroom", put("BUFFER_PROFILE", SHORT, "size", "38912"), "buffers.size-below-headroom",
       "BUFFER_PROFILE"),
    at("size 0", put("BUFFER_PROFILE", SHORT, "size", "0"), "buffers.size-below-headroom", "BUFFER_PROFILE"),
    at("lossless group in a lossy pool", put("BUFFER_PROFILE", SHORT, "pool", "egress_lossy_pool"),
       "buffers.lossy-pool", "BUFFER_PROFILE"),
    at("lossless queue in the lossy pool", put("BUFFER_PROFILE", "egress_lossless_profile", "pool",
       "egress_lossy_pool"), "buffers.lossy-pool", "BUFFER_PROFILE"),
    at("pool of a profile dangles", put("BUFFER_PROFILE", SHORT, "pool", "ingress_pool"), "files.faulty",
       "BUFFER_POOL", severity="warning"),
    at("pool of 1 MB", put("BUFFER_POOL", "ingress_lossless_pool", "size", "1000000"), "drift.pools",
       "BUFFER_POOL", severity="warning"),
    at("egress pool below what ingress keeps", put("BUFFER_POOL", "egress_lossless_pool", "size", "1000000"),
       "buffers.egress-smaller", "BUFFER_POOL", severity="warning"),
    at("pool of egress for ingress", put("BUFFER_POOL", "ingress_lossless_pool", "type", "egress"),
       "buffers.wrong-pool", "BUFFER_POOL", severity="warning"),
    at("no pool", drop("BUFFER_POOL", "ingress_lossless_pool"), "files.faulty", "BUFFER_POOL", severity="warning"),
    at("shared headroom for one group", put("BUFFER_POOL", "ingress_lossless_pool", "xoff", "100000"),
       "buffers.shared-headroom", "BUFFER_POOL", severity="notice",
       why="a shared headroom pool that holds some groups and not all is how most chips are shipped"),
    at("lossless queue with the lossy profile", put("BUFFER_QUEUE", f"{UPLINK}|3", "profile", "egress_lossy_profile"),
       "buffers.lossy-pool", "BUFFER_"),
    spine("no buffer of the lossless queue", drop("BUFFER_QUEUE", f"{SPINE_PORT}|3"), "buffers.no-queue",
          "BUFFER_QUEUE", severity="warning"),
    at("lossless queue may take little", put("BUFFER_PROFILE", "egress_lossless_profile", "dynamic_th", "-6"),
       "buffers.queue-drops", "BUFFER_PROFILE", severity="warning"),
    at("length 0 m", put("CABLE_LENGTH", "AZURE", UPLINK, "0m"), "buffers.stale-profile", "BUFFER_PG"),
    spine("cable of 300 m", put("CABLE_LENGTH", "AZURE", SPINE_PORT, "300m"), "buffers.below-floor",
          "BUFFER_PROFILE"),
    at("length in feet", put("CABLE_LENGTH", "AZURE", UPLINK, "30ft"), "files.faulty", "CABLE_LENGTH",
       severity="warning"),
    at("length gone", put("CABLE_LENGTH", "AZURE", UPLINK, None), "buffers.no-length", "PORT", severity="warning"),
)  # fmt: skip

QUEUES = (
    at("no marks", put("QUEUE", f"{UPLINK}|3", "wred_profile", None), "queue.not-marked", "QUEUE",
       severity="warning"),
    spine("no row of the lossless queue", drop("QUEUE", f"{SPINE_PORT}|3"), "queue.not-marked", "QUEUE",
          severity="warning"),
    at("profile of marks dangles", put("QUEUE", f"{HOST_PORT}|3", "wred_profile", "AZURE_LOSSLESS"), "files.faulty",
       "WRED_PROFILE", severity="warning"),
    at("marking off", put("WRED_PROFILE", MARKS, "ecn", "ecn_none"), "queue.not-marked", "WRED_PROFILE",
       severity="warning"),
    at("minimum above maximum", put("WRED_PROFILE", MARKS, "green_min_threshold", "2000000"), "queue.thresholds",
       "WRED_PROFILE"),
    spine("0 percent", put("WRED_PROFILE", MARKS, "green_drop_probability", "0"), "queue.thresholds",
          "WRED_PROFILE"),
    spine("marks later than others", put("WRED_PROFILE", MARKS, "green_min_threshold", "1400000"),
          "queue.marks-differ", "WRED_PROFILE", severity="warning"),
    at("percent 110", put("WRED_PROFILE", MARKS, "green_drop_probability", "110"), "files.faulty", "WRED_PROFILE",
       severity="warning"),
    at("lossless strict", put("SCHEDULER", "class.3", "type", "STRICT"), "queue.starves", "SCHEDULER",
       severity="warning"),
    at("weight 0", put("SCHEDULER", "class.0", "weight", "0"), "queue.starves", "SCHEDULER", severity="warning"),
    at("notifications not strict", put("SCHEDULER", "class.6", "type", "DWRR"), "queue.notifications", "SCHEDULER",
       severity="warning"),
    spine("scheduler dangles", put("QUEUE", f"{SPINE_PORT}|6", "scheduler", "class.7"), "files.faulty", "SCHEDULER",
          severity="warning"),
    at("weights that differ", put("SCHEDULER", "class.3", "weight", "5"), "drift.shares", "SCHEDULER",
       severity="warning"),
)  # fmt: skip

OTHERS = (
    at("watchdog of a port gone", drop("PFC_WD", HOST_PORT), "watchdog.none", "PORT_QOS_MAP", severity="warning"),
    spine("no PFC_WD", drop("PFC_WD"), "watchdog.none", "PORT_QOS_MAP", severity="warning"),
    at("watchdog of 20 ms", put("PFC_WD", HOST_PORT, "detection_time", "20"), "watchdog.times", "PFC_WD",
       severity="warning"),
    at("restored before the next look", put("PFC_WD", HOST_PORT, "restoration_time", "100"), "watchdog.times",
       "PFC_WD", severity="warning"),
    at("action that nobody knows", put("PFC_WD", HOST_PORT, "action", "ignore"), "files.faulty", "PFC_WD",
       severity="warning"),
    at("MTU 1500 at a host's port", put("PORT", HOST_PORT, "mtu", "1500"), "mtu.path", "PORT"),
    at("MTU 9000 at an uplink", put("PORT", UPLINK, "mtu", "9000"), "mtu.ends-differ", "PORT"),
    spine("MTU 9100 at a spine", put("PORT", SPINE_PORT, "mtu", "9100"), "mtu.ends-differ", "PORT"),
    at("speed of one end", put("PORT", UPLINK, "speed", "100000"), "link.ends-differ", "PORT"),
    spine("FEC of one end", put("PORT", SPINE_PORT, "fec", "none"), "link.ends-differ", "PORT"),
    at("shut at one end", put("PORT", UPLINK, "admin_status", "down"), "link.one-end-shut", "PORT",
       severity="warning"),
    at("asymmetric pauses", put("PORT", HOST_PORT, "pfc_asym", "on"), "pauses.one-way", "PORT"),
    at("lanes of two ports", put("PORT", UPLINK, "lanes", "0,1,2,3,4,5,6,7"), "link.lanes-twice", "PORT",
       severity="warning"),
    at("hash without ports", put("SWITCH_HASH", "GLOBAL", "ecmp_hash", "DST_IP,SRC_IP"), "routing.narrow-hash",
       "SWITCH_HASH", severity="warning"),
    spine("type of a leaf", put("DEVICE_METADATA", "localhost", "type", "ToRRouter"), "routing.same-seed",
          "DEVICE_METADATA", severity="warning"),
    at("address twice", move("INTERFACE", f"{HOST_PORT}|10.128.0.0/31", f"{HOST_PORT}|10.128.0.2/31"),
       "link.address-twice", "INTERFACE", severity="warning"),
    at("description of another host", put("PORT", HOST_PORT, "description", "host-0002/nic1"), "link.claims-differ",
       "PORT", severity="warning"),
    at("row of a port that is not there", add("PORT_QOS_MAP", "Ethernet999", pfc_enable="3"), "files.faulty",
       "Ethernet999", severity="warning"),
)  # fmt: skip

SWITCHES = (*MAPS, *BOUND, *BUFFERS, *QUEUES, *OTHERS)
