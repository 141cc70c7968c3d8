#!/usr/bin/env bash
# Makes the mlx5 NICs of this host as /etc/weftline/nics.conf and classes.conf say, or as the files given say.
#   apply-nics.sh [NICS [CLASSES]]           sets what differs, and keeps what was there before
#   apply-nics.sh --check [NICS [CLASSES]]   only reads; says what differs and exits with 2
#   apply-nics.sh --undo [NICS [CLASSES]]    sets what was there before the first run
# Exit: 0 done or as it should be, 1 something failed, 2 something differs. Run as root, at every boot.
# Needs mlnx_qos and cma_roce_tos (NVIDIA's OFED, DOCA-Host or mlnx-tools), ethtool and iproute2.
set -euo pipefail
root="${WEFTLINE_ROOT:-}" # a folder that stands for /, for tests
mode=apply
case "${1:-}" in
--check | --undo) mode="${1#--}" && shift ;;
-*) sed -n '2,7s/^# \{0,1\}//p' "$0" >&2 && exit 64 ;;
esac
list="${1:-$root/etc/weftline/nics.conf}"
classes="${2:-$(dirname "$list")/classes.conf}"
saved="$root/var/lib/weftline/nics"
infiniband="$root/sys/class/infiniband"
net="$root/sys/class/net"
differs=0
failed=0
changed=0
gids=""

say() { printf '%s\n' "$*" >&2; }

fail() {
    say "failed: $*"
    failed=1
}

run() { "$@" >/dev/null || fail "$*"; }

write() { printf '%s\n' "$1" >"$2" || fail "write $1 to $2"; }

# ensure WHAT WANTED ACTUAL COMMAND...: runs the command where the two differ; with --check it only says so
ensure() {
    local what="$1" wanted="$2" actual="$3"
    shift 3
    case "$wanted" in "$actual" | "" | -) return 0 ;; esac
    if [ "$mode" = check ]; then
        printf 'differs: %s is %s, and should be %s\n' "$what" "${actual:-unknown}" "$wanted"
        differs=1
    else
        changed=1
        "$@"
    fi
}

# -- what mlnx_qos -a prints, in the form in which it takes it -------------------------------------------------------
qos_word() { sed -n "s/^$2: *//p" <<<"$1" | sed -n 1p; }
qos_row() {
    awk -v name="$2" '$1 == name && NF == 9 { for (i = 2; i < 9; i++) printf "%s,", $i; print $9; exit }' <<<"$1"
}
qos_sizes() { sed -n 's/^Receive buffer size (bytes): *//p' <<<"$1" | cut -d , -f 1-8; }
qos_total() { sed -n 's/^Receive buffer size (bytes):.*_size=//p' <<<"$1"; }
qos_classes() { # tc: .. priority: .. -> which of "priorities", "algorithms", "percents"
    awk -v what="$2" '
        /^tc: / { tc = $2; algorithm[tc] = $0; sub(/.*tsa: */, "", algorithm[tc]); sub(/,.*/, "", algorithm[tc])
                  percent[tc] = $0 ~ /bw: / ? $0 : 0; sub(/.*bw: */, "", percent[tc]); sub(/%.*/, "", percent[tc]) }
        $1 == "priority:" && NF == 2 { priority[$2] = tc }
        END { for (i = 0; i < 8; i++) {
            value = what == "priorities" ? priority[i] + 0 : what == "percents" ? percent[i] + 0 : algorithm[i]
            printf "%s%s", value == "" ? "strict" : value, i < 7 ? "," : "\n" } }' <<<"$1"
}
qos_map() { # prio:3 dscp:26,24, -> "24:3 26:3", by DSCP
    sed -n 's/^[[:space:]]*prio:\([0-7]\) dscp:/\1 /p' <<<"$1" | tr ',' ' ' |
        awk '{ for (i = 2; i <= NF; i++) print $i + 0 ":" $1 }' | sort -n | paste -sd ' '
}

# -- what the lists say ----------------------------------------------------------------------------------------------
on_priorities() { # 3,4 -> 0,0,0,1,1,0,0,0
    local out="" priority
    for priority in 0 1 2 3 4 5 6 7; do
        case ",$1," in *",$priority,"*) out+=",1" ;; *) out+=",0" ;; esac
    done
    printf '%s' "${out#,}"
}

read_classes() { # the maps of all NICs, in the form in which mlnx_qos takes them
    { read -r map && read -r buffers && read -r tcs && read -r algorithms && read -r percents &&
        read -r lossless; } < <(
        awk '
        $1 ~ /^[0-7]$/ && NF == 7 {
            n = split($2, runs, ",")
            for (i = 1; i <= n && $2 != "-"; i++) {
                m = split(runs[i], ends, "-")
                for (code = ends[1] + 0; code <= ends[m] + 0; code++) priority[code] = $1
            }
            buffer[$1] = $3; tc[$1] = $4; algorithm[$4] = $5 == "weighted" ? "ets" : "strict"
            if ($5 == "weighted") { weight[$4] = $6; sum += $6; if (best == "" || $6 + 0 > weight[best] + 0) best = $4 }
            if ($7 != "-") lossless = lossless "," $3
        }
        END {
            for (code = 0; code < 64; code++) if (code in priority) map = map " " code ":" priority[code]
            for (i = 0; i < 8; i++) { share[i] = i in weight && sum ? int(100 * weight[i] / sum) : 0; used += share[i] }
            if (best != "") share[best] += 100 - used
            for (i = 0; i < 8; i++) {
                comma = i < 7 ? "," : ""
                b = b buffer[i] + 0 comma; t = t tc[i] + 0 comma; p = p share[i] comma
                a = a (i in algorithm ? algorithm[i] : "strict") comma
            }
            print substr(map, 2); print b; print t; print a; print p; print substr(lossless, 2)
        }' "$classes"
    )
}

buffer_sizes() { # PRIORITY-TO-BUFFER LOSSLESS HEADROOM TOTAL MTU -> eight sizes; nothing where they do not fit
    awk -v buffers="$1" -v lossless="$2" -v headroom="$3" -v total="$4" -v mtu="$5" 'BEGIN {
        n = split(buffers, used, ","); m = split(lossless, some, ",")
        for (i = 1; i <= m; i++) if (!(some[i] in is)) { is[some[i]] = 1; left -= headroom }
        for (i = 1; i <= n; i++) if (!(used[i] in is) && !(used[i] in rest)) { rest[used[i]] = 1; count++ }
        each = count ? int((total + left) / count / 1024) * 1024 : 0
        if (total + left < 0 || (count && each < mtu)) exit
        for (i = 0; i < 8; i++) printf "%d%s", i in is ? headroom : i in rest ? each : 0, i < 7 ? "," : "\n" }'
}

has_room() { # SIZES LOSSLESS HEADROOM: whether each lossless buffer is large enough
    awk -v sizes="$1" -v lossless="$2" -v headroom="$3" 'BEGIN {
        split(sizes, size, ","); n = split(lossless, some, ",")
        for (i = 1; i <= n; i++) if (size[some[i] + 1] + 0 < headroom) exit 1 }'
}

# -- which interface and which GID -----------------------------------------------------------------------------------
bond_of() { # the bond of an RDMA device, if it is one
    local name
    name="$(cat "$infiniband/$1/ports/1/gid_attrs/ndevs/0" 2>/dev/null || true)"
    if [ -n "$name" ] && [ -f "$net/$name/bonding/slaves" ]; then printf '%s' "$name"; fi
}

ports_of() { # the physical ports of an RDMA device; of a bond, those of its members; representors of VFs are none
    local bond path
    bond="$(bond_of "$1")"
    if [ -n "$bond" ]; then tr ' ' '\n' <"$net/$bond/bonding/slaves" && return; fi
    for path in "$infiniband/$1/device/net"/*; do
        case "$(cat "$net/${path##*/}/phys_port_name" 2>/dev/null || true)" in *vf* | *sf*) continue ;; esac
        if [ -e "$path" ]; then printf '%s\n' "${path##*/}"; fi
    done
}

find_gid() { # DEVICE ADDRESS -> the index of its RoCE v2 GID
    local gid path index octets
    IFS=. read -r -a octets <<<"$2"
    gid="$(printf '0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x' "${octets[@]}")"
    for path in "$infiniband/$1/ports/1/gids"/*; do
        index="${path##*/}"
        if [ "$(cat "$path" 2>/dev/null)" = "$gid" ] &&
            [ "$(cat "$infiniband/$1/ports/1/gid_attrs/types/$index" 2>/dev/null)" = "RoCE v2" ]; then
            printf '%s' "$index" && return
        fi
    done
}

# -- one physical port -------------------------------------------------------------------------------------
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

# -- what was there before --------------------------------------------------------------------------------
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
    while read -r nic device state gbps mtu metres address gateway table trust tclass pause mark cnp_dscp cnp_priority headroom dcbx link_pause id peer; do
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
