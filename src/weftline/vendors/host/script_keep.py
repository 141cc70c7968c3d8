"""The last part of the script for NICs: what was there before, how it comes back, and the run itself."""

from __future__ import annotations

KEEP = r"""# -- what was there before --------------------------------------------------------------------------------
keep_device() { # DEVICE OWNER
    local kept="$saved/$1" path
    if [ -d "$kept" ]; then return 0; fi
    mkdir -p "$kept.new"
    sed 's/^Global tclass=//' "$infiniband/$1/tc/1/traffic_class" >"$kept.new/tclass" 2>/dev/null || true
    show_tos "$1" >"$kept.new/tos"
    cat "$net/$2/mtu" >"$kept.new/mtu" 2>/dev/null || true
    show_address "$2" "$address" >"$kept.new/address"
    show_rule "${address%/*}" >"$kept.new/rule"
    for path in $(ports_of "$1"); do keep_port "$path" "$kept.new"; done
    mv "$kept.new" "$kept"
}

keep_port() { # PORT FOLDER
    local folder="$2/$1" path
    mkdir -p "$folder"
    show_qos "$1" >"$folder/qos"
    show_pause "$1" >"$folder/pause"
    for path in "$net/$1/ecn"/*/enable/* "$net/$1/ecn/roce_np"/cnp_*; do
        if [ -f "$path" ]; then printf '%s %s\n' "${path#"$net/$1/"}" "$(cat "$path")"; fi
    done >"$folder/ecn"
}

undo_device() { # DEVICE OWNER
    local kept="$saved/$1" port
    if [ ! -d "$kept" ]; then say "$1: nothing was kept, so nothing is undone" && return 0; fi
    ensure_file "$infiniband/$1/tc/1/traffic_class" "$(cat "$kept/tclass")"
    ensure "$1: class of RDMA-CM" "$(cat "$kept/tos")" "$(show_tos "$1")" \
        run cma_roce_tos -d "$1" -t "$(cat "$kept/tos")"
    for port in $(ports_of "$1"); do if [ -d "$kept/$port" ]; then undo_port "$port" "$kept/$port"; fi; done
    if [ "$address" != - ] && [ ! -s "$kept/rule" ] && [ -n "$(show_rule "${address%/*}")" ]; then
        run ip rule del from "${address%/*}" table "$table"
        run ip route flush table "$table"
    fi
    if [ "$address" != - ] && [ ! -s "$kept/address" ] && [ -n "$(show_address "$2" "$address")" ]; then
        run ip address del "$address" dev "$2"
    fi
    ensure "$2: mtu" "$(cat "$kept/mtu")" "$(cat "$net/$2/mtu")" run ip link set "$2" mtu "$(cat "$kept/mtu")"
    if [ "$failed" = 0 ]; then rm -r "${saved:?}/$1"; fi
}

undo_port() { # PORT FOLDER
    local port="$1" old qos path value word trusted
    old="$(cat "$2/qos")"
    qos="$(show_qos "$port")"
    trusted="$(qos_word "$old" "Priority trust state")"
    ensure "$port: receive buffers" "$(qos_buffers "$old")" "$(qos_buffers "$qos")" \
        run mlnx_qos -i "$port" --prio2buffer "$(qos_row "$old" buffer)" --buffer_size "$(qos_sizes "$old")"
    ensure "$port: PFC and cable length" "$(qos_row "$old" enabled) $(qos_word "$old" "Cable len")" \
        "$(qos_row "$qos" enabled) $(qos_word "$qos" "Cable len")" \
        set_pfc "$port" "$(qos_row "$old" enabled)" "$(qos_word "$old" "Cable len")"
    if [ "$trusted" = dscp ]; then
        ensure "$port: priorities of DSCPs" "$(qos_map "$old")" "$(qos_map "$qos")" \
            set_map "$port" "$(qos_map "$old")" "$(qos_map "$qos")"
    fi
    ensure "$port: trust" "$trusted" "$(qos_word "$qos" "Priority trust state")" \
        run mlnx_qos -i "$port" --trust "$trusted"
    ensure "$port: traffic classes" "$(qos_all_classes "$old")" "$(qos_all_classes "$qos")" \
        run mlnx_qos -i "$port" --prio_tc "$(qos_classes "$old" priorities)" \
        --tsa "$(qos_classes "$old" algorithms)" --tcbw "$(qos_classes "$old" percents)"
    case "$(qos_word "$old" "DCBX mode")" in Firmware*) run mlnx_qos -i "$port" --dcbx fw ;; esac
    if [ -s "$2/pause" ]; then
        read -r _ value _ word <"$2/pause"
        ensure "$port: link pause" "$(cat "$2/pause")" "$(show_pause "$port")" \
            run ethtool -A "$port" rx "$value" tx "$word"
    fi
    while read -r path value; do ensure_file "$net/$port/$path" "$value"; done <"$2/ecn"
}

qos_buffers() { if [ -n "$(qos_sizes "$1")" ]; then printf '%s %s' "$(qos_row "$1" buffer)" "$(qos_sizes "$1")"; fi; }

qos_all_classes() {
    printf '%s %s %s' "$(qos_classes "$1" priorities)" "$(qos_classes "$1" algorithms)" "$(qos_classes "$1" percents)"
}

# -- all NICs of the list --------------------------------------------------------------------------------------------
each_nic() {
    local owner port
    if [ ! -d "$infiniband/$device" ]; then
        fail "$device: no such RDMA device; the names in the list are placeholders until the inventory's are put in"
        return 0
    fi
    if [ "$metres" != - ] && [ "$metres" -gt 999 ]; then metres=999; fi # the driver takes no more
    owner="$(bond_of "$device")"
    if [ -z "$owner" ]; then owner="$(ports_of "$device" | sed -n 1p)"; fi
    if [ "$mode" = undo ]; then undo_device "$device" "$owner" && return 0; fi
    if [ "$mode" = apply ]; then
        say "$nic: $device, $gbps Gb/s, $id, to $peer"
        keep_device "$device" "$owner"
    fi
    # First the MTU: the driver sizes its thresholds by it. A bond hands it to its members.
    ensure "$owner: mtu" "$mtu" "$(cat "$net/$owner/mtu" 2>/dev/null || true)" run ip link set "$owner" mtu "$mtu"
    for port in $(ports_of "$device"); do ensure_port "$port"; done
    ensure_device "$device" "$owner"
}

all_nics() {
    gids=""
    while read -r @COLUMNS@; do
        case "$nic" in "" | \#* | nic) continue ;; esac
        if [ "$state" = up ]; then each_nic </dev/null; fi
    done <"$list"
    if [ "$mode" != undo ]; then ensure_gids; fi
}

read_classes
all_nics
if [ "$failed" = 1 ]; then exit 1; fi
if [ "$mode" = apply ]; then # what was set must be there when it is read
    mode=check
    all_nics
fi
if [ "$differs" = 1 ]; then exit 2; fi
"""
