#!/usr/bin/env python3
"""Check a bundle of Weftline certificates alone: one file, the standard library, nothing of Weftline, and no search.

    python3 -I -S weftline_audit.py BUNDLE [--deployed FOLDER] [--expect SHA256] [--json]

Exit status 0: every claim holds. 2: something does not. 1: there is nothing that could be judged. Bundle compares every
digest. World is cabling and declaration. Domain is a set of tables, from the very files that devices or managers load.
Judge checks reach and deadlock column by column, one equation per entry; judge_partitions and judge_tenants check
isolation by groups. What is believed and not checked is in TRUSTED. docs/reference/certificates.md has the formats.
"""

# fmt: off  (close lines, so that one hour is enough)
import argparse, hashlib, json, os, re, stat, sys

MAX_TOTAL, MAX_FILES, MAX_MANIFEST = 8 << 30, 200_000, 64 << 20
PATH = re.compile(r"(?:[A-Za-z0-9][A-Za-z0-9._-]{0,62}/){0,7}[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
NONE, LOCAL = 255, 254  # entries of tables: no way; handed over to the destination by its own cable
FARTHEST, MIXED, NEVER = 250, 254, 255  # distances: at most so many switches; some walks arrive; none does
STEP = bytes([MIXED, *range(2, FARTHEST + 1), MIXED, MIXED, MIXED, MIXED, MIXED, NEVER])  # one switch farther
CODES = {b"%03d" % port: port for port in range(NONE)}
MANAGEMENT = "/management"
CLAIMS = {
    "reach": "Each of {connected} ordered pairs of {ends} of one network is delivered, by every choice of every port "
    "group, without a loop and over at most {longest} switches; none of {foreign} pairs of different networks is "
    "delivered; of the pairs of a switch with endpoints and a switch {switches} are delivered.",
    "deadlock": "No cycle among the channels between switches ({lanes}) that packets hold and wait for, following "
    "every choice from every switch with endpoints to every destination.",
    "isolate": "Endpoints of {owners} owners meet in no {group}; shared where that is declared: {hubs}.",
}
TRUSTED = {
    "reach": ["links.txt says how the fabric is cabled", "endpoints.txt and sharing.txt say what is declared"],
    "subnets": ["OpenSM loads the bundled files as its manual says, and nothing else writes to switches"],
    "fabric": ["fabric/tables.txt is what the files of switches lead to, as weftline_audit_routes.py checks"],
    "isolate subnets": ["a management key protects the key tables, and no tenant holds a manager's port"],
    "isolate fabric": ["fabric/tenants.txt is what the configuration of the switches says of VRFs",
                       "no static route, filter, mirror or tunnel end lets tenants meet beside VRFs"],
}

class Rejected(Exception):
    """The bundle does not show what it claims."""

def need(is_so, words, *values):
    """Go on only where it is so."""
    if not is_so:
        raise Rejected(words % values)

class Bundle:
    """The files of a bundle, each with the size and digest that its manifest says, and no others."""
    def __init__(self, folder):
        self.folder, self.entries = folder, {}
        data = read_plain(os.path.join(folder, "manifest.json"), MAX_MANIFEST)
        self.digest, manifest = hashlib.sha256(data).hexdigest(), json.loads(data)
        files = [(str(one["path"]), int(one["size"]), str(one["digest"])) for one in manifest["files"]]
        need(manifest["schema"] == "weftline/manifest/1" and files, "manifest.json is no manifest of a bundle")
        need(all(PATH.fullmatch(path) for path, _, _ in files), "manifest.json names a file outside the bundle")
        is_small = len(files) <= MAX_FILES and sum(size for _, size, _ in files) <= MAX_TOTAL
        need(is_small and min(files, key=lambda one: one[1])[1] >= 0, "manifest.json names more than any bundle has")
        for path, size, digest in files:
            put(self.entries, path, (size, digest), "manifest.json")

    def check_files(self, deployed):
        """Compare names, sizes and digests with the manifest, here and where the files stand deployed."""
        found, all_files = set(), {*self.entries, "manifest.json"}
        for at, folders, files in os.walk(self.folder):
            is_linked = any(os.path.islink(os.path.join(at, name)) for name in folders)
            need(not is_linked and len(found) <= MAX_FILES, "%s holds a link, or too many files", at)
            found.update(os.path.relpath(os.path.join(at, name), self.folder).replace(os.sep, "/") for name in files)
        need(found == all_files, "missing or in no manifest: %s", ", ".join(sorted(found ^ all_files)[:5]))
        for path in self.entries:
            self.read(path)
            if deployed and path.startswith(("opensm/", "switches/")):
                self.read(path, deployed)

    def read(self, path, folder=None):
        """Read a file that is what the manifest says."""
        need(path in self.entries, "%s is missing", path)
        size, digest = self.entries[path]
        data = read_plain(os.path.join(folder or self.folder, path), size)
        need((len(data), hashlib.sha256(data).hexdigest()) == (size, digest), "%s has another size or digest", path)
        return data

    def scan(self, path, pattern, first=None):
        """Read text whose every line has one form; comments count as nothing where no first line says what it is."""
        lines = self.read(path).decode("ascii", "replace").split("\n")
        need(lines.pop() == "" and (first is None or lines[:1] == [first]), "%s is cut off or no %s", path, first)
        find = re.compile(pattern).fullmatch
        for line in lines[first is not None :]:
            match = find(line)
            need(match or (first is None and line.startswith("#")), "%s: %r is not understood", path, line[:60])
            if match:
                yield match.groups()

    def scan_map(self, path, pattern, first=None):
        """Read text whose every line is a key and what is said of it, each key once."""
        found = {}
        for key, value in self.scan(path, pattern, first):
            put(found, key, value, path)
        return found

def read_plain(path, most):
    """Read a file that is no link and no device, and has at most so many bytes."""
    try:
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        with os.fdopen(os.open(path, flags), "rb") as file:
            need(stat.S_ISREG(os.fstat(file.fileno()).st_mode), "%s is no plain file", path)
            return file.read(most + 1)
    except (OSError, ValueError) as error:
        raise Rejected("%s cannot be read: %s" % (path, error)) from None

def put(found, key, value, where):
    """Add what may be said once only."""
    need(key not in found, "%s: %s is said twice", where, key)
    found[key] = value

def device(port):
    return port.rsplit("/", 1)[0]

class World:
    """Cables, endpoints with their network and owner, and what is shared with whom."""
    def __init__(self, bundle):
        self.peer, self.network, self.owner, self.users = {}, {}, {}, {}
        for a, b in bundle.scan("links.txt", r"(\S+)\t(\S+)", "weftline-links 1"):
            put(self.peer, a, b, "links.txt")
            put(self.peer, b, a, "links.txt")
        for name, network, owner in bundle.scan("endpoints.txt", r"(\S+)\t(\S+)\t(.+)", "weftline-endpoints 1"):
            put(self.network, name, network, "endpoints.txt")
            self.owner[name] = owner
        for hub, user in bundle.scan("sharing.txt", r"(.+)\t(.+)", "weftline-sharing 1"):
            self.users.setdefault(hub, set()).add(user)
        self.home = {name: device(self.peer[name]) for name in self.network if name in self.peer}

    def meet(self, some, others, where):
        """Reject where an endpoint meets one of the others whose owner is neither its own, nor shared with it."""
        first, second = ({self.owner[name]: name for name in sorted(names)} for names in (some, others))
        for a, one in sorted(first.items()):
            for b, other in sorted(second.items()):
                may = a == b or {b, "*"} & self.users.get(a, set()) or {a, "*"} & self.users.get(b, set())
                need(may, "%s (%s) and %s (%s) meet in %s", one, a, other, b, where)

class Domain:
    """One set of tables: a subnet of InfiniBand, or all of RoCE.

    `table[row][place]` is a code, and `groups[row][code]` are the ports that it stands for. A target is (token, name,
    place, code, lane): its place in rows, and the code by which its own switch hands over to it, 0 for a switch itself.
    """
    def __init__(self, world, name, switches, groups, table, targets, lanes=1):
        self.name, self.switches, self.table, self.targets, self.lanes = name, switches, table, targets, lanes
        self.row = {switch: number for number, switch in enumerate(switches)}
        need(len(self.row) == len(switches), "%s: a switch stands twice", name)
        self.channels, self.sets, self.uses, nowhere = {}, {}, [], len(switches)
        self.hop = [[nowhere] * 256 for _ in switches]  # where a code leads: a switch, a set of them, or nowhere
        self.out = [[()] * 256 for _ in switches]  # the switches that it leads to, and by which channel
        for row, switch in enumerate(switches):
            for code, ports in groups[row].items():
                ports = ["%s/%d" % (switch, port) for port in ports]
                rows = [self.row.get(device(world.peer.get(port, "")), nowhere) for port in ports]
                several = nowhere + 1 + self.sets.setdefault(frozenset(rows), len(self.sets))
                self.hop[row][code] = rows[0] if len(set(rows)) == 1 else several
                ways = [(other, port) for other, port in zip(rows, ports) if other != nowhere]
                self.uses += [(port, row, code) for _, port in ways]
                self.out[row][code] = [(far, self.channels.setdefault(port, len(self.channels))) for far, port in ways]

def read_subnet(bundle, world, name, lanes):
    """Read what OpenSM loads: lfts.conf, guid2lid, node-name-map, and the options and policy that give lanes."""
    at, lids, guid_of = "opensm/%s/" % name, {}, {}
    names = bundle.scan_map(at + "node-name-map", r'0x([0-9a-f]{16}) "(\S+)"')
    need(len(set(names.values())) == len(names), "%snode-name-map: a name is said twice", at)
    for guid, first, last in bundle.scan(at + "guid2lid", r"(?:0x([0-9a-f]{16}) 0x([0-9a-f]{4}) 0x([0-9a-f]{4}))?"):
        if guid:
            need(guid in names, "%sguid2lid: %s has no name", at, guid)
            put(guid_of, names[guid], guid, at + "guid2lid")
            for lid in range(int(first, 16), int(last, 16) + 1):
                put(lids, lid, names[guid], at + "guid2lid")
    options = read_options(bundle, at, "routing_engine file,no_fallback;lfts_file /etc/opensm/lfts.conf;"
                           "honor_guid2lid_file TRUE;reassign_lids FALSE")
    lane_of = read_lanes(bundle, at, options, lanes)
    switches, table = read_tables(bundle.read(at + "lfts.conf"), at + "lfts.conf", lids, names)
    targets, homes = [], set(switches)
    for place, (lid, title) in enumerate(sorted(lids.items())):
        is_dark = title in world.network and title not in world.home
        is_known = title in homes or is_dark or world.home.get(title) in homes
        need(is_known, "%s is no declared endpoint at a switch of %s, and no such switch", title, name)
        code = int(world.peer[title].rsplit("/", 1)[1]) if title in world.home else 0
        targets.append(("0x%04x" % lid, title, place, code, lane_of.get(guid_of[title], 0)))
    groups = [{code: (code,) for code in set(row) - {0, NONE}} for row in table]
    return Domain(world, name, switches, groups, table, targets, lanes)

def read_options(bundle, at, wanted):
    """Read OpenSM's options, some of which must be so; a file that waits for its secrets ends in .in."""
    (path,) = [path for path in (at + "opensm.conf", at + "opensm.conf.in") if path in bundle.entries]
    found = bundle.scan_map(path, r"([a-z]\S*) (.*)")
    for option, value in (one.split(" ") for one in wanted.split(";")):
        need(found.get(option) == value, "%s: %s is not %s", path, option, value)
    return found

def read_lanes(bundle, at, options, lanes):
    """Read which lane the path to each destination is given, by service level; one lane stands for any use of lanes."""
    path, lane_of, level_of, level_to, guid = at + "qos-policy.conf", {}, {}, {}, "0x[0-9a-f]{16}"
    if lanes == 1:
        return {}
    form = (r"( *(?:(?:end-)?(?:port-group|qos-level|qos-match-rule)s?|(?:name|destination|qos-level-name): \S+|sl: \d+"
            r"|port-guid: %s(?:, %s)*))") % (guid, guid)
    text = "\n".join(line for (line,) in bundle.scan(path, form))
    pairs = (level_of, r"name: (\S+)\n *sl: (\d+)"), (level_to, r"destination: (\S+)\n *qos-level-name: (\S+)")
    for found, pair in pairs:
        for key, value in re.findall(r"\n *" + pair, text):
            put(found, key, value, path)
    is_all = len(level_to) == text.count(" qos-match-rule\n") and level_of.get("DEFAULT") == "0"
    need(is_all, "%s: a rule is not by destination, or the default is not level 0", path)
    for group, guids in re.findall(r"\n *name: (\S+)((?:\n *port-guid: .*)+)", text):
        for one in re.findall(guid, guids):
            put(lane_of, one[2:], int(level_of[level_to[group]]), path)
    is_own = options.get("qos_sl2vl", "").split(",")[:lanes] == [str(one) for one in range(lanes)]
    is_own = is_own and options.get("qos") == "TRUE" and not re.search(r"\bqos_(ca|sw|rtr)", " ".join(options))
    need(is_own and max(lane_of.values()) < lanes, "%sopensm.conf: a level is not on its own lane", at)
    return lane_of

def read_tables(data, path, lids, names):
    """Read OpenSM's tables: a header per switch, then eleven bytes per LID; what is left out forwards nowhere."""
    switches, table, (head, *blocks) = [], [], data.split(b"Unicast lids ")
    texts = [b"0x%04x" % lid for lid in sorted(lids)]
    index = {text: place for place, text in enumerate(texts)}
    need(all(line[:1] in (b"", b"#") for line in head.split(b"\n")), "%s: there is text before the tables", path)
    for block in blocks:
        title, _, body = block.partition(b"\n")
        match = re.fullmatch(rb"\[0x0-0x[0-9a-f]+\] of switch Lid (\d{1,5}) guid 0x([0-9a-f]{16}) \((\S+)\):", title)
        words, count = body.split(), len(body) // 11
        is_whole = len(words) == 2 * count and len(body) == 11 * count and body[6::11] == b" " * count
        need(match and is_whole and body[10::11] == b"\n" * count, "%s: %r is cut off", path, title[:60])
        lid, guid, switch = int(match[1]), match[2].decode("ascii"), match[3].decode("ascii", "replace")
        need(lids.get(lid) == names.get(guid) == switch, "%s: LID, GUID and name of %s do not agree", path, switch)
        places = range(count) if words[::2] == texts else [index.get(word, -1) for word in words[::2]]
        is_rising = all(a < b for a, b in zip([-1, *places], places))
        need(is_rising and CODES.keys() >= set(words[1::2]), "%s: %s has a bad port or LID, or one twice", path, switch)
        row = bytearray(b"\xff" * len(texts))
        for place, word in zip(places, words[1::2]):
            row[place] = CODES[word]
        switches.append(switch)
        table.append(bytes(row))
    return switches, table

def read_forwarding(bundle, world):
    """Read the tables that were derived from the files of RoCE switches: groups of equal ways, columns by switch."""
    path, homes, targets, switches, groups, table = "fabric/tables.txt", [], [], [], [], []
    form = r"column (\S+) (.+)|switch (\S+) ([1-9]\d*(?:[,;][1-9]\d*)*) ((?:[0-9a-f]{2})*)"
    for home, names, switch, ports, row in bundle.scan(path, form, "weftline-tables 1"):
        if home:
            targets += [(name, name, len(homes), LOCAL, 0) for name in names.split(" ")]
            homes.append(home)
            continue
        switches.append(switch)
        groups.append({code: [int(port) for port in one.split(",")] for code, one in enumerate(ports.split(";"))})
        table.append(bytes.fromhex(row))
        need(set(table[-1]) <= {*groups[-1], LOCAL, NONE}, "%s: %s has a code without ports", path, switch)
    need(all(len(row) == len(homes) for row in table), "%s: a row has another length than there are columns", path)
    for _, name, place, _, _ in targets:
        need(world.home.get(name) == homes[place], "%s: %s is no endpoint at %s", path, name, homes[place])
    return Domain(world, "fabric", switches, groups, table, targets)

def judge_column(domain, column, home, distance):
    """Name a switch whose distance is not what the tables make of it; None where all are.

    A switch is one farther than the farthest switch that its group leads to. Where none of these ever delivers, nor
    does it; where some do and others not, it is MIXED. Around a circle distances cannot grow, so that none is finite.
    """
    values = distance + bytes([NEVER])
    for rows in domain.sets:
        some = [values[row] for row in rows]
        values += bytes([MIXED if max(some) >= MIXED and min(some) < NEVER else max(some)])
    got = bytearray(values[hop[code]] for hop, code in zip(domain.hop, column)).translate(STEP)
    got[home] = 1
    return next((name for name, a, b in zip(domain.switches, got, distance) if a != b), None)

def follow(out, column, sources, rank, least):
    """Follow every choice from the sources; note above which rank each group in use must stand."""
    high = dict.fromkeys(sources, -1)
    queue = list(high)
    for row in queue:
        for other, channel in out[row][column[row]]:
            if other not in high:
                high[other] = rank[channel]
                queue.append(other)
            elif rank[channel] > high[other]:
                high[other] = rank[channel]
    for row, top in high.items():
        least[row << 8 | column[row]] = max(least[row << 8 | column[row]], top + 1)

class Judge:
    """Checks the columns of one domain: reach by distances, deadlock by ranks."""
    def __init__(self, bundle, world, domain, has_answers):
        self.world, self.domain, self.has_answers = world, domain, has_answers
        self.of, self.sources, rows, count = {}, {}, {}, 0
        path, form = domain.name + "/distances.txt", r"class (.+)|row (\S+) ((?:[0-9a-f]{2})*)"
        for tokens, switch, row in bundle.scan(path, form, "weftline-distances 1"):
            for token in tokens.split(" ") if tokens else ():
                put(self.of, token, count, path)
            count += tokens is not None
            if tokens is None:
                put(rows, switch, bytes.fromhex(row), path)
        judged = {token for token, name, _, _, _ in domain.targets if world.home.get(name, name) in domain.row}
        is_about = list(rows) == domain.switches and all(len(row) == count for row in rows.values())
        need(is_about and self.of.keys() == judged, "reach: %s is about other switches or destinations", path)
        table, path = b"".join(rows.values()), domain.name + "/ranks.txt"
        self.distances = [table[number::count] for number in range(count)]
        ranks = bundle.scan_map(path, r"(\S+/\d+)((?: \d{1,9})+)", "weftline-ranks 1")
        self.ranks = {port: [int(rank) for rank in words.split()] for port, words in ranks.items()}
        channels = {a for a, b in world.peer.items() if device(a) in domain.row and device(b) in domain.row}
        is_about = self.ranks.keys() == channels and all(len(one) == domain.lanes for one in self.ranks.values())
        need(is_about, "deadlock: %s is not about the channels and lanes of the fabric", path)
        self.flat = [[self.ranks[port][lane] for port in domain.channels] for lane in range(domain.lanes)]
        for name, home in world.home.items():
            if home in domain.row:
                counts = self.sources.setdefault(world.network[name], {})
                counts[domain.row[home]] = counts.get(domain.row[home], 0) + 1

    def gather(self):
        """Gather destinations whose columns differ at their own switch alone; one check serves them all."""
        domain, found, table = self.domain, {}, b"".join(self.domain.table)
        width = len(table) // max(len(domain.switches), 1)
        self.speaks = [set() for _ in range(domain.lanes)]
        for token, name, place, code, lane in domain.targets:
            home = domain.row.get(self.world.home.get(name, name))
            if home is None:
                continue  # an endpoint without a cable
            column = table[place::width]
            need(column[home] == code, "reach: %s does not hand over to %s", domain.switches[home], name)
            if name in self.world.home:
                self.speaks[lane].add(home)
            key = column[:home] + b"\xff" + column[home + 1 :], home, self.world.network.get(name), lane, self.of[token]
            found[key] = found.get(key, 0) + 1
        return found.items()

    def judge(self):
        """Check all columns, and then all ranks; returns the pairs counted and the longest way."""
        domain, counts, columns = self.domain, [0] * 4, self.gather()
        least = [[0] * (len(domain.switches) << 8) for _ in range(domain.lanes)]
        homes = {row for rows in self.sources.values() for row in rows}
        for (column, home, network, lane, which), many in columns:
            wrong = judge_column(domain, column, home, self.distances[which])
            need(wrong is None, "reach: the tables give %s another distance to %s", wrong, domain.switches[home])
            self.count(counts, column, home, network, self.distances[which], many)
            for other in range(domain.lanes):
                sources = homes if other == lane else self.speaks[other] if self.has_answers else ()
                follow(domain.out, column, sources, self.flat[other], least[other])
        for lane in range(domain.lanes):  # each rank is one more than the highest before it: it grows along every wait
            right = dict.fromkeys(self.ranks, 0)
            for port, row, code in domain.uses:
                right[port] = max(right[port], least[lane][row << 8 | code])
            for port, rank in right.items():
                need(self.ranks[port][lane] == rank, "deadlock: %s should have rank %d in lane %d", port, rank, lane)
        return counts

    def count(self, counts, column, home, network, distance, many):
        """Count pairs: connected, of different networks, of a switch and a switch; and find the longest way."""
        for other, rows in self.sources.items():
            for row, pairs in rows.items():
                far, own, is_switch = distance[row], other == network, network is None
                pairs = 1 if is_switch else pairs - (own and row == home)
                is_right = far <= FARTHEST if own else far == NEVER
                if is_switch:  # managers alone need these; they may be absent, and may not go astray
                    is_right = far <= FARTHEST or column[row] == NONE
                    pairs = far <= FARTHEST
                need(is_right or not pairs and not is_switch, "reach: from %s to %s, distance %d is not right",
                     self.domain.switches[row], self.domain.switches[home], far)
                counts[0 if own else 2 if is_switch else 1] += pairs * many
                counts[3] = max(counts[3], far if pairs and far <= FARTHEST else 0)

def judge_partitions(bundle, world, at):
    """Work out who is a member of which partition by partitions.conf, and that switch ports enforce it."""
    path, key_of, keys_of, number, guid = at + "partitions.conf", {}, {}, 0, "0x[0-9a-f]{16}"
    wanted = "part_enforce both;allow_both_pkeys FALSE;partition_config_file /etc/opensm/partitions.conf"
    need("no_partition_enforcement" not in read_options(bundle, at, wanted), "%sopensm.conf enforces nothing", at)
    name_of = dict(bundle.scan(at + "node-name-map", r'(0x[0-9a-f]{16}) "(\S+)"'))
    form = (r"Default=0x7fff : ALL=limited, ALL_SWITCHES=full, SELF=full((?:, %s=full)*) ;|[\w.-]+=(0x[0-9a-f]{4})"
            r"(?:, indx0)?, defmember=(full|limited) : (%s(?:, %s){0,7}) ;") % (guid, guid, guid)
    for number, (managers, key, membership, guids) in enumerate(bundle.scan(path, form), 1):
        need((key is None) == (number == 1) and key not in ("0x0000", "0x7fff"), "%s: rule %d", path, number)
        members = key_of.setdefault(key, {})
        if key is None:  # the rest of everybody is limited, and limited members do not meet
            members.update({**dict.fromkeys(name_of, "limited"), **dict.fromkeys(re.findall(guid, managers), "full")})
        for one in guids.split(", ") if guids else ():
            put(members, one, membership, path)
            keys_of[one] = keys_of.get(one, 0) + 1
    need(number and max(keys_of.values(), default=0) < 31, "%s: no rules, or more than switch ports hold", path)
    need(all(members.keys() <= name_of.keys() for members in key_of.values()), "%s: a member is nobody", path)
    for key, members in key_of.items():
        ends = {name_of[one]: kind for one, kind in members.items() if name_of[one] in world.home}
        world.meet([name for name, kind in ends.items() if kind == "full"], ends, "partition %s of %s" % (key, at))

def judge_tenants(bundle, world):
    """Work out who meets whom by the VRF of each port, and the route targets and network number of each VRF."""
    vrf_of, says, by, path = {}, {}, {}, "fabric/tenants.txt"
    form = r"(\S+)\t(?:port\t(\d+)\t(\S+)|vrf\t(\S+)\t(\d+)\t(\S+)\t(\S+))"
    for switch, port, vrf, name, vni, imports, exports in bundle.scan(path, form, "weftline-tenants 1"):
        if port:
            put(vrf_of, "%s/%s" % (switch, port), (switch, vrf), path)
        else:
            put(says, (switch, name), (vni, imports.strip("-").split(","), exports.strip("-").split(",")), path)
    for name in sorted(world.home):
        table = vrf_of.get(world.peer[name])
        need(table in says, "%s, which faces %s, is in no VRF", world.peer[name], name)
        vni, imports, exports = says[table]
        for way, keys in (("is", ["VRF %s of %s" % table[::-1], "VNI " + vni]), ("takes", imports), ("gives", exports)):
            for key in keys:
                by.setdefault((way, key), []).append(name)
    for (way, key), names in by.items():
        if way != "gives" and key:
            world.meet(names, names if way == "is" else by.get(("gives", key), []), key)

def judge_tables(bundle, world, domains, has_answers):
    """Check reach and deadlock in every set of tables; returns what their statements say."""
    of_switch, of_name, total, longest, addresses = {}, {}, [0] * 3, 0, 0
    for domain in domains:
        names = [target[1] for target in domain.targets if target[1] in world.home]
        addresses += len(names)
        for found, keys in ((of_switch, domain.switches), (of_name, set(names))):
            for key in sorted(keys):
                put(found, key, domain, "reach: tables")
    need(of_name.keys() == world.home.keys(), "reach: an endpoint is no destination of the tables")
    for port, other in world.peer.items():
        ends = [of_name.get(one) or of_switch.get(device(one)) for one in (port, other)]
        need(ends[0] is ends[1] is not None, "reach: %s has no table, or its cable leads to other tables", port)
    networks = [{world.network[name] for name, one in of_name.items() if one is domain} for domain in domains]
    need(sum(map(len, networks)) == len(set().union(*networks)), "reach: a network is in several sets of tables")
    for domain in domains:
        *counts, far = Judge(bundle, world, domain, has_answers).judge()
        elsewhere = sum(one is not domain for one in of_name.values())
        counts[1] += elsewhere * sum(target[1] in world.home for target in domain.targets)
        total, longest = [a + b for a, b in zip(total, counts)], max(longest, far)
    lanes = domains[0].lanes
    words = "one lane" if lanes == 1 else "%d lanes; packets are on that of their destination" % lanes
    words += ", answers on that of their source" if lanes > 1 and has_answers else ""
    ends = "endpoints" if addresses == len(of_name) else "an endpoint and an address of another"
    return dict(zip(("connected", "foreign", "switches", "longest", "ends", "lanes"), (*total, longest, ends, words)))

def judge_claims(bundle, verdicts):
    """Check every claim against the tables, and its words against what was checked; returns what is trusted."""
    claims = json.loads(bundle.read("claims.json"))
    said, answers = {one["claim"]: one["statement"] for one in claims["claims"]}, claims["answers"] is True
    is_known = claims["schema"] == "weftline/certificates/1" and len(said) == len(claims["claims"])
    need(is_known and claims["lanes"] in range(1, 16) and said.keys() <= CLAIMS.keys(), "claims.json: not understood")
    world, subnets = World(bundle), sorted({one.split("/")[1] for one in bundle.entries if one.startswith("opensm/")})
    kind, by = ("subnets", "partition") if subnets else ("fabric", "VRF, route target or VNI")
    domains = [read_subnet(bundle, world, one, claims["lanes"]) for one in subnets] or [read_forwarding(bundle, world)]
    hubs = ", ".join(sorted(set(world.users) - {MANAGEMENT})) or "nobody"
    facts = {"owners": len(set(world.owner.values())), "group": by, "hubs": hubs}
    dark = ["%d endpoints have no cable: nothing is claimed of them" % (len(world.network) - len(world.home))]
    trusted = TRUSTED["reach"] + TRUSTED[kind] + dark[len(world.network) == len(world.home) :]
    try:
        facts.update(judge_tables(bundle, world, domains, answers))
        verdicts.update(reach="holds", deadlock="holds")
    except Rejected as error:
        verdicts["deadlock" if str(error).startswith("deadlock: ") else "reach"] = "rejected: %s" % error
    if "isolate" not in said and len({*world.owner.values()} - {MANAGEMENT}) < 2:
        verdicts["isolate"] = "not claimed: there is one owner"
    else:
        trusted += TRUSTED["isolate " + kind]
        try:
            for subnet in subnets or [None]:
                judge_partitions(bundle, world, "opensm/%s/" % subnet) if subnet else judge_tenants(bundle, world)
            verdicts["isolate"] = "holds"
        except Rejected as error:
            verdicts["isolate"] = "rejected: %s" % error
    for claim in [claim for claim, verdict in verdicts.items() if verdict == "holds"]:
        right = CLAIMS[claim].format(**facts)
        verdicts[claim] = ("holds: " if said.get(claim) == right else "rejected: claims.json should say: ") + right
    return trusted

def main():
    parser = argparse.ArgumentParser(description="Check a bundle of Weftline certificates without Weftline.")
    parser.add_argument("bundle", help="the folder that weftline prove --certificates wrote")
    parser.add_argument("--deployed", metavar="FOLDER", help="where the files stand that devices load: compared too")
    parser.add_argument("--expect", metavar="SHA256", help="digest of manifest.json, as it was recorded elsewhere")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    given, status = parser.parse_args(), 1
    verdicts = dict.fromkeys(CLAIMS, "not judged")
    result = {"schema": "weftline/audit/1", "verdict": "unreadable", "claims": verdicts}
    try:
        bundle = Bundle(given.bundle)
        result.update(verdict="rejected", manifest_sha256=bundle.digest, files=len(bundle.entries))
        status = 2
        need(given.expect in (None, bundle.digest), "the manifest has another digest than the one expected")
        bundle.check_files(given.deployed)
        result["trusted"] = judge_claims(bundle, verdicts)
        if all(verdict.startswith(("holds", "not claimed")) for verdict in verdicts.values()):
            result["verdict"], status = "holds", 0
    except Rejected as error:
        result["reason"] = str(error)
    except (MemoryError, RecursionError, ValueError, LookupError, TypeError, AttributeError, OSError) as error:
        result["reason"] = "the bundle is not understood: %s: %s" % (type(error).__name__, error)
    rows = [(key, value) for key, value in result.items() if isinstance(value, (int, str))]
    rows += [*verdicts.items(), *(("trusted", text) for text in result.get("trusted", []))]
    lines = ["%-16s %s" % row for row in rows]
    print(json.dumps(result, indent=2) if given.json else re.sub(r"[^ -~\n]", "?", "\n".join(lines)))
    return status

if __name__ == "__main__":
    sys.exit(main())
