#!/usr/bin/env bash
# Applies /etc/weftline/nics.conf, or the file given, to the mlx5 NICs of this host. Run as root at every boot.
# Needs mlnx_qos and cma_roce_tos (NVIDIA's OFED or DOCA-Host), ethtool and iproute2.
set -euo pipefail
list="${1:-/etc/weftline/nics.conf}"

on_priorities() { # 3,4 -> 0,0,0,1,1,0,0,0
    local out="" priority
    for priority in 0 1 2 3 4 5 6 7; do
        case ",$1," in *",$priority,"*) out+=",1" ;; *) out+=",0" ;; esac
    done
    printf '%s' "${out#,}"
}

apply() {
    local netdev priority
    netdev="$(ls "/sys/class/infiniband/$device/device/net" | head -n 1)"
    ethtool -A "$netdev" rx off tx off || true # global pause and priority pause exclude each other
    mlnx_qos -i "$netdev" --trust "$trust"
    mlnx_qos -i "$netdev" --pfc "$(on_priorities "$pause")"
    mlnx_qos -i "$netdev" --dscp2prio "set,$((tclass / 4)),${pause%%,*}"
    mlnx_qos -i "$netdev" --dscp2prio "set,$cnp_dscp,$cnp_priority"
    if [ "$metres" != - ]; then mlnx_qos -i "$netdev" --cable_len "$metres"; fi
    for priority in ${mark//,/ }; do
        echo 1 >"/sys/class/net/$netdev/ecn/roce_np/enable/$priority"
        echo 1 >"/sys/class/net/$netdev/ecn/roce_rp/enable/$priority"
    done
    echo "$cnp_dscp" >"/sys/class/net/$netdev/ecn/roce_np/cnp_dscp"
    echo "$cnp_priority" >"/sys/class/net/$netdev/ecn/roce_np/cnp_802p_prio"
    echo "$tclass" >"/sys/class/infiniband/$device/tc/1/traffic_class"
    cma_roce_tos -d "$device" -t "$tclass"
    ip link set "$netdev" mtu "$mtu" up
    if [ "$address" != - ]; then
        ip address replace "$address" dev "$netdev"
        ip route replace default via "$gateway" dev "$netdev" table "$table"
        ip rule del from "${address%/*}" 2>/dev/null || true
        ip rule add from "${address%/*}" table "$table"
    fi
}

while read -r nic device state gbps mtu metres address gateway table trust tclass pause mark cnp_dscp cnp_priority headroom dcbx link_pause id peer; do
    case "$nic" in "" | \#* | nic) continue ;; esac
    if [ "$state" = up ]; then
        echo "$nic: $device, $gbps Gb/s, $id, to $peer"
        apply
    fi
done <"$list"
