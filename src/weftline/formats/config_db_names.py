"""The tables that SONiC's CONFIG_DB has, and the fields of those that say something of a lossless fabric.

Names are those of sonic-yang-models (July 2026), of older releases, and of dumps that were read.
"""

from __future__ import annotations

NAMED = "*"
"""Fields of the table are names or numbers of the user: ports, code points, classes."""


def _fields(text: str) -> frozenset[str]:
    return frozenset(text.split())


_COLOURS = ("green", "yellow", "red")
_BGP = _fields(
    "admin_status as_override asn auth_password bfd bfd_check_ctrl_plane_failure bfd_strict_mode capability_dynamic "
    "capability_ext_nexthop conn_retry desired_minimum_tx_interval detection_multiplier "
    "disable_ebgp_connected_route_check dont_negotiate_capability ebgp_multihop ebgp_multihop_ttl enforce_first_as "
    "enforce_multihop holdtime keepalive local_addr local_as_no_prepend local_as_replace_as local_asn "
    "min_adv_interval name nhopself override_capability passive_mode peer_group_name peer_port peer_type "
    "required_minimum_receive rrclient shutdown_message solo_peer strict_capability_match tcp_mss ttl_security_hops "
    "v6only"
)
_INTERFACE = _fields(
    "vrf_name vnet_name nat_zone mpls ipv6_use_link_local_only mac_addr loopback_action proxy_arp grat_arp scope "
    "family secondary static_anycast_gateway admin_status NULL"
)

READ: dict[str, frozenset[str] | str] = {
    "DEVICE_METADATA": _fields(
        "asic_id asic_name bgp_adv_lo_prefix_as_128 bgp_asn bgp_router_id buffer_model chassis_hostname cloudtype "
        "cluster create_only_config_db_buffers default_bgp_status default_pfcwd_status deployment_id dhcp_server "
        "docker_routing_config_mode downstream_subrole dualatortype ecmp_hash_seed lag_hash_seed "
        "frr_mgmt_framework_config hostname hwsku mac "
        "max_cores nexthop_group peer_switch platform rack_mgmt_map region resource_type slice_type storage_device "
        "sub_role subtype supporting_bulk_counter_groups suppress-fib-pending switch_id switch_type synchronous_mode "
        "timezone type yang_config_validation dpu_auto_recovery use_template_render_for_restore zebra_nexthop"
    ),
    "PORT": _fields(
        "admin_status adv_interface_types adv_speeds alias asic_port_name autoneg core_id core_port_id description "
        "dhcp_rate_limit dhcp_servers dhcpv6_servers dom_polling fast_linkup fec index interface_type lanes laser_freq "
        "learn_mode link_training macsec mode mtu mux_cable num_voq parent_port pfc_asym role speed subport tpid "
        "tx_power valid_speeds adv_fec unreliable_los"
    ),
    "CABLE_LENGTH": NAMED,
    "DEVICE_NEIGHBOR": _fields("name port local_port"),
    "PORTCHANNEL": _fields(
        "admin_status description fallback fast_rate learn_mode lacp_key members min_links mode mtu system_mac tpid"
    ),
    "PORTCHANNEL_MEMBER": _fields("NULL"),
    "VLAN": _fields("admin_status description dhcp_servers dhcpv6_servers host_ifname mac members mtu vlanid"),
    "VLAN_MEMBER": _fields("tagging_mode"),
    "INTERFACE": _INTERFACE,
    "VLAN_INTERFACE": _INTERFACE,
    "VLAN_SUB_INTERFACE": _INTERFACE | _fields("vlan"),
    "PORTCHANNEL_INTERFACE": _INTERFACE,
    "LOOPBACK_INTERFACE": _INTERFACE,
    "VRF": _fields("fallback vni"),
    "VXLAN_TUNNEL": _fields("dst_ip src_ip ttl_mode"),
    "VXLAN_TUNNEL_MAP": _fields("vlan vni"),
    "VXLAN_EVPN_NVO": _fields("source_vtep"),
    "BGP_NEIGHBOR": _BGP,
    "BGP_GLOBALS": NAMED,
    "BGP_GLOBALS_AF": NAMED,
    "ACL_TABLE": _fields("policy_desc ports services stage type"),
    "ACL_RULE": NAMED,
    "ACL_TABLE_TYPE": _fields("ACTIONS BIND_POINTS MATCHES"),
    "MIRROR_SESSION": _fields(
        "direction dscp dst_ip dst_port gre_type policer queue sample_rate src_ip src_port truncate_size ttl type"
    ),
    "SFLOW": _fields("admin_state agent_id drop_monitor_limit polling_interval sample_direction"),
    "SFLOW_SESSION": _fields("admin_state sample_direction sample_rate"),
    "SFLOW_COLLECTOR": _fields("collector_ip collector_port collector_vrf"),
    "SWITCH_HASH": _fields("ecmp_hash ecmp_hash_algorithm lag_hash lag_hash_algorithm"),
    "SWITCH_TRIMMING": _fields("dscp_value queue_index size tc_value"),
    "DSCP_TO_TC_MAP": NAMED,
    "DOT1P_TO_TC_MAP": NAMED,
    "TC_TO_QUEUE_MAP": NAMED,
    "TC_TO_PRIORITY_GROUP_MAP": NAMED,
    "TC_TO_DSCP_MAP": NAMED,
    "TC_TO_DOT1P_MAP": NAMED,
    "MAP_PFC_PRIORITY_TO_QUEUE": NAMED,
    "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": NAMED,
    "PORT_QOS_MAP": _fields(
        "dot1p_to_tc_map dscp_to_fc_map dscp_to_tc_map exp_to_fc_map mpls_tc_to_tc_map pfc_enable pfc_to_pg_map "
        "pfc_to_queue_map pfcwd_sw_enable scheduler tc_to_dot1p_map tc_to_dscp_map tc_to_pg_map tc_to_queue_map"
    ),
    "SCHEDULER": _fields("cbs cir meter_type pbs pir priority type weight"),
    "QUEUE": _fields("scheduler wred_profile"),
    "WRED_PROFILE": frozenset(
        {"ecn"}
        | {f"wred_{colour}_enable" for colour in _COLOURS}
        | {f"{colour}_{field}" for colour in _COLOURS for field in ("min_threshold", "max_threshold")}
        | {f"{colour}_drop_probability" for colour in _COLOURS}
        | {f"ecn_{colour}_{field}" for colour in _COLOURS for field in ("min_threshold", "max_threshold")}
        | {f"ecn_{colour}_mark_probability" for colour in _COLOURS}
    ),
    "BUFFER_POOL": _fields("mode percentage size type xoff"),
    "BUFFER_PROFILE": _fields("dynamic_th headroom_type packet_discard_action pool size static_th xoff xon xon_offset"),
    "BUFFER_PG": _fields("pg_profile profile"),
    "BUFFER_QUEUE": _fields("profile"),
    "BUFFER_PORT_INGRESS_PROFILE_LIST": _fields("profile_list"),
    "BUFFER_PORT_EGRESS_PROFILE_LIST": _fields("profile_list"),
    "DEFAULT_LOSSLESS_BUFFER_PARAMETER": _fields("default_dynamic_th over_subscribe_ratio max_headroom_size"),
    "LOSSLESS_TRAFFIC_PATTERN": _fields("mtu small_packet_percentage"),
    "PFC_WD": _fields("BIG_RED_SWITCH POLL_INTERVAL action detection_time pfc_stat_history restoration_time"),
    "TUNNEL": _fields(
        "decap_dscp_to_tc_map decap_tc_to_pg_map dscp_mode dst_ip ecn_mode encap_ecn_mode encap_tc_to_dscp_map "
        "encap_tc_to_queue_map src_ip ttl_mode tunnel_type"
    ),
    "STATIC_ROUTE": _fields("blackhole bfd distance ifname nexthop nexthop-vrf track advertise"),
}
"""Tables that are read, and the fields that they have."""

SECRET = frozenset({"auth_password"})
"""Fields whose value is kept as ``set``."""

SKIPPED = _fields("""
AAA ARS_INTERFACE ARS_NEXTHOP_GROUP ARS_PORTCHANNEL ARS_PROFILE ASIC_SENSORS AUDIT AUTO_TECHSUPPORT
AUTO_TECHSUPPORT_FEATURE BANNER_MESSAGE BFD_PROFILE BGP_AGGREGATE_ADDRESS BGP_ALLOWED_PREFIXES BGP_BBR
BGP_DEVICE_GLOBAL BGP_GLOBALS_AF_AGGREGATE_ADDR BGP_GLOBALS_AF_NETWORK BGP_GLOBALS_EVPN_RT BGP_GLOBALS_EVPN_VNI
BGP_GLOBALS_EVPN_VNI_RT BGP_GLOBALS_LISTEN_PREFIX BGP_GLOBALS_ROUTE_ADVERTISE BGP_INTERNAL_NEIGHBOR BGP_MONITORS
BGP_NEIGHBOR_AF BGP_PEER_GROUP BGP_PEER_GROUP_AF BGP_PEER_RANGE BGP_SENTINELS BGP_VOQ_CHASSIS_NEIGHBOR BMP
BREAKOUT_CFG BREAKOUT_PORTS CHASSIS_MODULE CONSOLE_PORT CONSOLE_SWITCH COPP_GROUP COPP_TRAP CRM
DASH_HA_GLOBAL_CONFIG DASH_VNET DEBUG_COUNTER DEBUG_COUNTER_DROP_REASON DEBUG_DROP_MONITOR DEVICE_NEIGHBOR_METADATA
DHCPV4_RELAY DHCP_RELAY DHCP_SERVER DHCP_SERVER_IPV4 DHCP_SERVER_IPV4_CUSTOMIZED_OPTIONS DHCP_SERVER_IPV4_PORT
DHCP_SERVER_IPV4_RANGE DNS_NAMESERVER DNS_OPTIONS DPU DPUS DSCP_TO_FC_MAP EVPN_ETHERNET_SEGMENT EVPN_MH_GLOBAL
EXP_TO_FC_MAP FABRIC_MONITOR FABRIC_PORT FDB FEATURE FG_NHG FG_NHG_MEMBER FG_NHG_PREFIX FIPS FLEX_COUNTER_TABLE
FLOW_COUNTER_ROUTE_PATTERN GNMI GNMI_CLIENT_CERT GRPCCLIENT HARDWARE HEARTBEAT HIGH_FREQUENCY_TELEMETRY_GROUP
HIGH_FREQUENCY_TELEMETRY_PROFILE INTF_TRACKING ISIS_GLOBAL KDUMP KUBERNETES_MASTER LDAP LDAP_SERVER
LEAK_CONTROL_POLICY LLDP LLDP_PORT LLR_PORT LLR_PROFILE LOGGER MACSEC_PROFILE MAC_MOVE_GUARD MCLAG_DOMAIN
MCLAG_INTERFACE MCLAG_UNIQUE_IP MEMORY_STATISTICS MGMT_INTERFACE MGMT_PORT MGMT_VRF_CONFIG MID_PLANE_BRIDGE
MPLS_TC_TO_TC_MAP MUX_CABLE MUX_LINKMGR NAT_BINDINGS NAT_GLOBAL NAT_POOL NEIGH NEIGHBOR NTP NTP_KEY NTP_SERVER
NVGRE_TUNNEL NVGRE_TUNNEL_MAP PASSW_HARDENING PBH_HASH PBH_HASH_FIELD PBH_RULE PBH_TABLE PEER_SWITCH POLICER
PORTCHANNEL_ENDPOINT PORT_STORM_CONTROL PREFIX PREFIX_LIST PREFIX_SET QUEUE_SENSING RADIUS RADIUS_SERVER REMOTE_DPU
RESTAPI ROUTE_MAP ROUTE_MAP_SET ROUTE_REDISTRIBUTE SAG SERIAL_CONSOLE SNMP SNMP_AGENT_ADDRESS_CONFIG SNMP_COMMUNITY
SNMP_USER SRV6_MY_LOCATORS SRV6_MY_SIDS SSH_SERVER STATIC_NAPT STATIC_NAT STORMOND_CONFIG STP STP_MST STP_PORT
STP_VLAN STP_VLAN_PORT SUBNET_DECAP SUPPRESS_ASIC_SDK_HEALTH_EVENT SUPPRESS_VLAN_NEIGH SWITCH_FAST_LINKUP
SYSLOG_CONFIG SYSLOG_CONFIG_FEATURE SYSLOG_SERVER SYSTEM_DEFAULTS SYSTEM_PORT TACPLUS TACPLUS_SERVER TELEMETRY
TELEMETRY_CLIENT VDPU VERSIONS VLAN_STACKING VLAN_TRANSLATION VNET VNET_ROUTE VNET_ROUTE_TUNNEL VOQ_INBAND_INTERFACE
WARM_RESTART WARM_RESTART_ENABLE WATERMARK_TABLE XCVRD_LOG ZTP
""")
"""Tables that SONiC has and that say nothing of the fabric: their rows are counted and not kept."""

MARKERS = frozenset({"CONFIG_DB_INITIALIZED", "CONFIG_DB_UPDATED_TIMESTAMP"})
"""Keys of a redis dump that are no tables."""

OTHERS = {
    "APPL_DB": _fields("PORT_TABLE INTF_TABLE LAG_TABLE ROUTE_TABLE BUFFER_PROFILE_TABLE QUEUE_TABLE NEIGH_TABLE"),
    "COUNTERS_DB": _fields("COUNTERS COUNTERS_PORT_NAME_MAP COUNTERS_QUEUE_NAME_MAP RATES USER_WATERMARKS"),
    "STATE_DB": _fields("TRANSCEIVER_INFO SWITCH_CAPABILITY BUFFER_MAX_PARAM_TABLE FAN_INFO WARM_RESTART_TABLE"),
    "ASIC_DB": _fields("ASIC_STATE VIDTORID RIDTOVID"),
}
"""The other databases of a switch, and tables by which their dumps are known."""
