"""The second part of the script for NICs: what is set on a port and on a device."""

from __future__ import annotations

SET = r"""# -- one physical port -------------------------------------------------------------------------------------
show_qos() { mlnx_qos -i "$1" -a 2>/dev/null || true; }

show_pause() { # PORT -> "rx off tx off"
    { ethtool -a "$1" 2>/dev/null || true; } |
        awk '$1 == "RX:" && !rx { rx = $2 } $1 == "TX:" && !tx { tx = $2 } END { if (rx) print "rx " rx " tx " tx }'
}

set_map() { # PORT PAIRS NOW: one call for all; an old mlnx_qos takes only the last: what is left is set one by one
    local port="$1" pair has=" $3 " arguments=()
    for pair in $2; do
        case "$has" in *" $pair "*) ;; *) arguments+=(--dscp2prio "set,${pair/:/,}") ;; esac
    done
    run mlnx_qos -i "$port" "${arguments[@]}"
    has=" $(qos_map "$(show_qos "$port")") "
    for pair in $2; do
        case "$has" in *" $pair "*) ;; *) run mlnx_qos -i "$port" --dscp2prio "set,${pair/:/,}" ;; esac
    done
}

# PORT: PFC and the cable length go in one call, since --cable_len alone switches PFC off
set_pfc() {
    if [ -z "${3#-}" ]; then run mlnx_qos -i "$1" --pfc "$2" && return; fi
    run mlnx_qos -i "$1" --pfc "$2" --cable_len "$3"
}

set_buffers() { # PORT PRIORITY-TO-BUFFER SIZES
    if [ -n "$3" ]; then run mlnx_qos -i "$1" --prio2buffer "$2" --buffer_size "$3"; else
        fail "$1: the receive buffers do not fit: $headroom bytes for each of $lossless, and the rest"
    fi
}

ensure_buffers() { # PORT QOS
    local port="$1" qos="$2" sizes row now
    sizes="$(qos_sizes "$qos")"
    row="$(qos_row "$qos" buffer)"
    if [ "$headroom" = - ] || [ -z "$lossless" ]; then return 0; fi
    if [ -z "$sizes" ] || [ -z "$row" ]; then # the firmware sizes them, for a cable of 7 m
        if [ "$metres" != - ] && [ "$metres" -le 7 ]; then return 0; fi
        ensure "$port: receive buffers" "$headroom bytes for each of $lossless" "" \
            fail "$port: no receive buffers can be set"
    elif [ "$row" != "$buffers" ] || ! has_room "$sizes" "$lossless" "$headroom"; then
        now="$(buffer_sizes "$buffers" "$lossless" "$headroom" "$(qos_total "$qos")" "$mtu")"
        ensure "$port: receive buffers" "of priorities $buffers, with $headroom bytes each in $lossless" \
            "of priorities $row, with $sizes bytes" set_buffers "$port" "$buffers" "$now"
    fi
}

ensure_port() { # PORT: as the list and the classes say
    local port="$1" qos priority point now pauses="-" mode_word="-"
    case "$link_pause" in off) pauses="rx off tx off" ;; on) pauses="rx on tx on" ;; esac
    case "$dcbx" in os) mode_word="OS controlled" ;; fw) mode_word="Firmware controlled" ;; esac
    ensure "$port: link pause" "$pauses" "$(show_pause "$port")" \
        run ethtool -A "$port" rx "$link_pause" tx "$link_pause"
    qos="$(show_qos "$port")"
    changed=0
    ensure "$port: DCBX mode" "$mode_word" "$(qos_word "$qos" "DCBX mode")" run mlnx_qos -i "$port" --dcbx "$dcbx"
    ensure "$port: trust" "$trust" "$(qos_word "$qos" "Priority trust state")" run mlnx_qos -i "$port" --trust "$trust"
    if [ "$changed" = 1 ]; then qos="$(show_qos "$port")"; fi
    if [ "$trust" = dscp ]; then
        ensure "$port: priorities of DSCPs" "$map" "$(qos_map "$qos")" set_map "$port" "$map" "$(qos_map "$qos")"
    fi
    if [ "$pause" != - ]; then
        pauses="$(on_priorities "$pause")"
        now="$(qos_row "$qos" enabled) $([ "$metres" = - ] || qos_word "$qos" "Cable len")"
        ensure "$port: PFC and cable length" "$pauses ${metres#-}" "$now" set_pfc "$port" "$pauses" "$metres"
    fi
    ensure_buffers "$port" "$qos"
    if [ -n "$tcs" ]; then
        ensure "$port: traffic classes" "$tcs $algorithms $percents" "$(qos_all_classes "$qos")" \
            run mlnx_qos -i "$port" --prio_tc "$tcs" --tsa "$algorithms" --tcbw "$percents"
    fi
    for priority in ${mark//[,-]/ }; do
        for point in roce_np roce_rp; do ensure_file "$net/$port/ecn/$point/enable/$priority" 1; done
    done
    ensure_file "$net/$port/ecn/roce_np/cnp_dscp" "$cnp_dscp"
    ensure_file "$net/$port/ecn/roce_np/cnp_802p_prio" "$cnp_priority"
}

ensure_file() { ensure "$1" "$2" "$(sed 's/^Global tclass=//' "$1" 2>/dev/null || true)" write "$2" "$1"; }

# -- one RDMA device -------------------------------------------------------------------------------------------------
ensure_device() { # the class, the address and its own table of routes
    local device="$1" owner="$2" path
    ensure_file "$infiniband/$device/tc/1/traffic_class" "$tclass"
    ensure "$device: class of RDMA-CM" "$tclass" "$(show_tos "$device")" run cma_roce_tos -d "$device" -t "$tclass"
    if [ "$address" != - ]; then
        ensure "$owner: address" "$address" "$(show_address "$owner" "$address")" \
            run ip address replace "$address" dev "$owner"
        ensure "$owner: state" up "$(show_state "$owner")" run ip link set "$owner" up
        if [ "$gateway" != - ] && [ "$table" != - ]; then
            ensure "$owner: route of table $table" "$gateway" "$(show_route "$owner" "$table")" \
                run ip route replace default via "$gateway" dev "$owner" table "$table"
            ensure "$owner: rule" "$table" "$(show_rule "${address%/*}")" \
                run ip rule add from "${address%/*}" table "$table"
        fi
        note_gid "$device" "${address%/*}"
    fi
    for path in "$infiniband/$device/device"/virtfn*/infiniband/*; do
        path="$infiniband/${path##*/}/tc/1/traffic_class"
        if [ -f "$path" ]; then ensure_file "$path" "$tclass"; fi
    done
}

show_tos() { cma_roce_tos -d "$1" 2>/dev/null || true; }
show_address() { case "$(ip -o address show dev "$1" 2>/dev/null || true)" in *" $2 "*) printf '%s' "$2" ;; esac; }
show_state() { if [ $(($(cat "$net/$1/flags" 2>/dev/null || echo 0) & 1)) = 1 ]; then printf up; else printf down; fi; }
show_route() {
    { ip route show default dev "$1" table "$2" 2>/dev/null || true; } | sed -n 's/^default via \([^ ]*\).*/\1/p'
}
show_rule() {
    { ip rule show 2>/dev/null || true; } | awk -v source="$1" '$2 == "from" && $3 == source { print $5 }' | sed -n 1p
}

note_gid() { # DEVICE ADDRESS: the GID appears a moment after the address
    local index="" tries=0
    while index="$(find_gid "$1" "$2")" && [ -z "$index$([ "$mode" = apply ] || printf once)" ]; do
        if [ "$tries" -ge "${WEFTLINE_WAIT:-5}" ]; then break; fi
        sleep 1
        tries=$((tries + 1))
    done
    gids="$gids $1:${index:-none}"
    if [ -z "$index" ]; then
        ensure "$1: index of the RoCE v2 GID of $2" "a number" "" fail "$1 has no RoCE v2 GID of $2"
    fi
}

ensure_gids() { # a library takes one index for all NICs
    ensure_index "$root/etc/nccl.conf" NCCL_IB_GID_INDEX
    ensure_index "$root/etc/weftline/collectives.env" UCX_IB_GID_INDEX
    ensure_index "$root/etc/weftline/collectives.env" NVSHMEM_IB_GID_INDEX
}

ensure_index() { # FILE VARIABLE
    local conf="$1" name="$2" indices now
    indices="$(tr ' ' '\n' <<<"$gids" | sed -n 's/.*:\([0-9]*\)$/\1/p' | sort -u | paste -sd ' ')"
    now="$({ sed -n "s/^$name=//p" "$conf" 2>/dev/null || true; } | tail -n 1)"
    if [ -z "$now" ] || [ -z "$indices" ]; then return 0; fi
    case "$indices" in
    *" "*)
        ensure "$name in $conf" "left out, since the indices are$gids" "$now" fail \
            "the RoCE v2 GIDs are at$gids: take $name out of $conf; NCCL 2.21 and later choose by address"
        ;;
    *)
        ensure "$name in $conf" "$indices" "$now" run sed -i "s/^$name=.*/$name=$indices/" "$conf"
        ;;
    esac
}

"""
