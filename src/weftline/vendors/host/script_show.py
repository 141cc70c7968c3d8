"""The first part of the script for NICs: its options, and the functions that only read."""

from __future__ import annotations

SHOW = r"""#!/usr/bin/env bash
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

"""
