#!/usr/bin/env python3
"""Check that the SONiC and FRR files of a bundle lead to its tables: one file, the standard library, and no Weftline.

    python3 -I -S weftline_audit_routes.py BUNDLE [--expect SHA256] [--json]

weftline_audit.py shows reach and deadlock of fabric/tables.txt; this shows that the tables are what BGP makes of the
files. Exit status 0: they are. 2: something is not so. 1: there is nothing that could be judged. Every switch must have
an frr.conf of the one form that is understood (FRR), so that nothing else can be at work. Then routes are followed from
each switch with endpoints outwards: a router takes the shortest paths that do not hold its own number, all of them
(RFC 4271, 9.1; RFC 7938, 5.2), and the ports of these must be those of its entry. What is believed is in TRUSTED.
"""

# fmt: off  (close lines, as in weftline_audit.py)
import argparse, hashlib, ipaddress, json, os, re, stat, sys

MAX_FILE, NONE, LOCAL, NEVER = 1 << 30, 255, 254, 255
TRUSTED = ["links.txt says how the fabric is cabled, and a port is where its description says",
           "switches run the bundled frr.conf and config_db.json as their manuals say, and nothing else",
           "all sessions are up: this is the state that routes come to rest in, not the way there"]
STATEMENT = ("The files of {switches} switches bring up {sessions} sessions; what these tell of the networks of "
             "{endpoints} endpoints settles on the ports of the tables, {entries} entries in {columns} columns.")
TABLES = re.compile(  # tables of CONFIG_DB that may stand there: none of these makes a route but for interfaces
    r"ACL_(?:RULE|TABLE|TABLE_TYPE)|BUFFER_\w+|CABLE_LENGTH|CRM|DEFAULT_LOSSLESS_BUFFER_PARAMETER|DEVICE_METADATA|"
    r"DSCP_TO_TC_MAP|INTERFACE|LOOPBACK_INTERFACE|LOSSLESS_TRAFFIC_PATTERN|MAP_PFC_PRIORITY_TO_QUEUE|PFC_\w+|PORT|"
    r"PORT_QOS_MAP|QUEUE|SCHEDULER|SWITCH_HASH|TC_TO_\w+_MAP|VLAN|VLAN_INTERFACE|VRF|VXLAN_\w+|WRED_PROFILE")
FRR = re.compile(r"""! .*
frr defaults datacenter
hostname (?P<name>\S+)
log syslog informational
service integrated-vtysh-config
!
! .*
no zebra nexthop kernel enable
!
(?:vrf Vrf\S+
 vni \d+
exit-vrf
!
)*(?P<ports>(?:interface \S+
 description port \d+ to \S+
 ipv6 nd ra-interval 1
 no ipv6 nd suppress-ra
exit
!
)*)! .*
bfd
 profile FABRIC
  detect-multiplier \d+
  receive-interval \d+
  transmit-interval \d+
 exit
exit
!
(?P<lists>(?:ip prefix-list OWN seq \d+ permit \S+(?: le 32)?
)*)!
route-map OWN permit 10
 match ip address prefix-list OWN
exit
!
router bgp (?P<number>\d+)
 bgp router-id \S+
 no bgp ebgp-requires-policy
 bgp bestpath as-path multipath-relax
 timers bgp \d+ \d+
 neighbor FABRIC peer-group
 neighbor FABRIC timers connect \d+
 neighbor FABRIC bfd
 neighbor FABRIC bfd profile FABRIC
(?P<neighbours>(?: neighbor (?P<one>\S+) interface remote-as \d+
 neighbor (?P=one) peer-group FABRIC
)*) !
 address-family ipv4 unicast
(?P<wide>(?:  aggregate-address \S+ summary-only
)*)  redistribute connected route-map OWN
  neighbor FABRIC activate
  maximum-paths (?P<width>\d+)
 exit-address-family
(?P<evpn> !
 address-family l2vpn evpn
  neighbor FABRIC activate
(?:  advertise-all-vni
)? exit-address-family
)?exit
!
(?P<tenants>(?:router bgp (?P=number) vrf Vrf\S+
 bgp router-id \S+
 !
 address-family ipv4 unicast
  redistribute connected
 exit-address-family
 !
 address-family l2vpn evpn
  advertise ipv4 unicast
  rd \S+
(?:  route-target (?:import|export) \S+
)* exit-address-family
exit
!
)*)""")

class Rejected(Exception):
    """The files do not lead to the tables."""

def need(is_so, words, *values):
    if not is_so:
        raise Rejected(words % values)

def put(found, key, value, where):
    need(key not in found, "%s: %s is said twice", where, key)
    found[key] = value

def read_plain(path):
    """Read a file that is no link and no device, and not too large."""
    try:
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        with os.fdopen(os.open(path, flags), "rb") as file:
            need(stat.S_ISREG(os.fstat(file.fileno()).st_mode), "%s is no plain file", path)
            return file.read(MAX_FILE + 1)
    except (OSError, ValueError) as error:
        raise Rejected("%s cannot be read: %s" % (path, error)) from None

class Bundle:
    """Files with the digest that the manifest says; weftline_audit.py checks that there are no others."""
    def __init__(self, folder):
        data = read_plain(os.path.join(folder, "manifest.json"))
        self.folder, self.digest = folder, hashlib.sha256(data).hexdigest()
        self.digests = {str(one["path"]): str(one["digest"]) for one in json.loads(data)["files"]}

    def read(self, path):
        need(re.fullmatch(r"[\w.-]+(?:/[\w.-]+)*", path) and ".." not in path, "%s is no path of a bundle", path)
        data = read_plain(os.path.join(self.folder, path))
        need(hashlib.sha256(data).hexdigest() == self.digests.get(path), "%s has another digest", path)
        return data.decode("ascii", "replace")

    def scan(self, path, pattern, first):
        lines = self.read(path).split("\n")
        need(lines.pop() == "" and lines[:1] == [first], "%s is cut off or no %s", path, first)
        matches = [re.fullmatch(pattern, line) for line in lines[1:]]
        need(all(matches), "%s: a line is not understood", path)
        return [match.groups() for match in matches]

class Router:
    """What the files of one switch say."""
    def __init__(self, bundle, peer, name):
        self.name, at = name, "switches/%s/" % name
        said = FRR.fullmatch(bundle.read(at + "frr.conf"))
        need(said and said["name"] == name, "%sfrr.conf is not of the form that is understood", at)
        self.number, self.width, self.carries = said["number"], int(said["width"]), bool(said["evpn"])
        tables = json.loads(bundle.read(at + "config_db.json"))
        strange = [table for table in tables if not TABLES.fullmatch(table)]
        need(not strange, "%sconfig_db.json: nothing here knows what %s does", at, strange[:1])
        need("|" not in "".join(tables.get("VLAN_INTERFACE", ())), "%sconfig_db.json: a VLAN has an address", at)
        need(tables["DEVICE_METADATA"]["localhost"]["bgp_asn"] == self.number, "%s: two numbers", at)
        self.port_of = {}  # the port of the fabric by its interface
        for interface, port in tables["PORT"].items():
            far = port.get("description", "")
            if port.get("admin_status") == "up" and far in peer and peer[far].startswith(name + "/"):
                put(self.port_of, interface, peer[far], at + "config_db.json")
        for interface, number, far in re.findall(r"interface (\S+)\n description port (\d+) to (\S+)", said["ports"]):
            own = "%s/%s" % (name, number)
            need(self.port_of.get(interface) == own and peer[own] == far, "%s: %s is not at %s", at, interface, far)
        self.expects = {}  # by port the number of the neighbour
        for interface, number in re.findall(r"neighbor (\S+) interface remote-as (\d+)", said["neighbours"]):
            need(interface in self.port_of, "%sfrr.conf: there is no port %s", at, interface)
            put(self.expects, self.port_of[interface], number, at + "frr.conf")
        keys = [*tables["INTERFACE"], *tables.get("LOOPBACK_INTERFACE", {})]
        found = [(one.split("|")[0], ipaddress.ip_interface(one.split("|")[1]).network) for one in keys if "|" in one]
        vrf_of = {one: row.get("vrf_name") for one, row in tables["INTERFACE"].items() if "|" not in one}
        lists = re.findall(r"permit (\S+)( le 32)?", said["lists"])
        passes = [(ipaddress.ip_network(network), bool(longer)) for network, longer in lists]
        own = [net for one, net in found if not vrf_of.get(one) and
               any(net == wide or (longer and net.subnet_of(wide)) for wide, longer in passes)]
        wide = [ipaddress.ip_network(one) for one in re.findall(r"aggregate-address (\S+)", said["wide"])]
        self.told = [net for net in wide if any(one != net and one.subnet_of(net) for one in own)] + own
        ends = {row.get("src_ip") for row in tables.get("VXLAN_TUNNEL", {}).values()}
        processes = re.split(r"router bgp \d+ vrf ", said["tenants"])[1:]
        self.vrfs = {text.split("\n")[0]: re.findall(r"route-target (import|export) (\S+)", text) for text in processes}
        self.goal = {}  # by port towards an endpoint the network that others send its packets to
        for one, net in found:
            vrf, port = vrf_of.get(one), self.port_of.get(one)
            if port is None:
                continue
            if vrf:
                need(vrf in self.vrfs and self.carries and len(ends) == 1, "%s: nobody is told of VRF %s", at, vrf)
                net = ipaddress.ip_network(min(ends))
            put(self.goal, port, net, at + "config_db.json")

def read_tables(bundle):
    """Read the tables: columns with their switch and endpoints, and by switch the groups and the row."""
    columns, tables = [], {}
    form = r"column (\S+) (.+)|switch (\S+) ([1-9]\d*(?:[,;][1-9]\d*)*) ((?:[0-9a-f]{2})*)"
    for home, names, switch, ports, row in bundle.scan("fabric/tables.txt", form, "weftline-tables 1"):
        if home:
            columns.append((home, names.split(" ")))
        else:
            groups = [frozenset("%s/%s" % (switch, port) for port in one.split(",")) for one in ports.split(";")]
            put(tables, switch, (dict(enumerate(groups)), bytes.fromhex(row)), "fabric/tables.txt")
    need(all(len(row) == len(columns) for _, row in tables.values()), "fabric/tables.txt: a row is cut off")
    return columns, tables

def join(routers, peer):
    """Find by router and far router the ports whose session comes up, since both ends have it with the right number."""
    near, count = {name: {} for name in routers}, 0
    for name, router in routers.items():
        for port, number in router.expects.items():
            far = peer[port].rsplit("/", 1)[0]
            other = routers.get(far)
            if other and other.number == number != router.number == other.expects.get(peer[port]):
                near[name].setdefault(far, set()).add(port)
                count += 1
    return near, count // 2

def settle(home, place, routers, near, tables, known):
    """Follow a column outwards; every router must have just the ports of its shortest paths."""
    path, front = {home: frozenset([routers[home].number])}, [home]
    while front:
        offers = {}
        for far in front:
            for name in near[far]:
                if name not in path and routers[name].number not in path[far]:
                    offers.setdefault(name, []).append(far)
        for name, by in offers.items():
            groups, row = tables[name]
            key = name, row[place], tuple(by)
            if key not in known:
                wanted = set().union(*(near[name][far] for far in by))
                known[key] = wanted == groups.get(row[place]) and len(wanted) <= routers[name].width
            need(known[key], "%s has other ways to %s by its files, or may use fewer of them", name, home)
            # paths of other numbers might be refused farther on, or not, by which of them is told
            need(len({path[far] for far in by}) == 1, "%s takes paths of different numbers to %s", name, home)
        path.update({name: path[by[0]] | {routers[name].number} for name, by in offers.items()})
        front = list(offers)
    for name, (_, row) in tables.items():
        need(name in path or row[place] == NONE, "%s has no way to %s by its files", name, home)

def judge(bundle):
    """Check all; returns what was checked in words."""
    peer = {}
    for a, b in bundle.scan("links.txt", r"(\S+)\t(\S+)", "weftline-links 1"):
        put(peer, a, b, "links.txt")
        put(peer, b, a, "links.txt")
    columns, tables = read_tables(bundle)
    routers = {name: Router(bundle, peer, name) for name in tables}
    need(len({router.carries for router in routers.values()}) == 1, "not all switches carry the networks of tenants")
    near, sessions = join(routers, peer)
    widest = None
    for net, name in sorted((net, name) for name, router in routers.items() for net in router.told):
        is_own = not widest or widest[1] == name or not net.overlaps(widest[0])
        need(is_own, "%s tells of %s, and another of %s", name, net, widest)
        if not widest or net.broadcast_address > widest[0].broadcast_address:
            widest = net, name
    takes = {}
    for router in routers.values():
        for vrf, targets in router.vrfs.items():
            for way, target in targets:
                takes.setdefault(vrf, {}).setdefault(way, {}).setdefault(target, set()).add(router.name)
    for vrf, ways in takes.items():
        for target, names in ways.get("export", {}).items():
            missing = {one.name for one in routers.values() if vrf in one.vrfs}
            missing -= ways.get("import", {}).get(target, set())
            need(not missing, "%s: VRF %s does not take what %s gives", min(missing or [""]), vrf, min(names))
    known = {}
    for place, (home, names) in enumerate(columns):
        need(home in tables and tables[home][1][place] == LOCAL, "%s does not hand over by itself", home)
        for name in names:
            goal = routers[home].goal.get(peer.get(name))
            is_told = goal is not None and any(goal.subnet_of(net) for net in routers[home].told)
            need(is_told, "%s tells nobody of the network of %s", home, name)
        settle(home, place, routers, near, tables, known)
    return STATEMENT.format(switches=len(tables), sessions=sessions, endpoints=sum(len(names) for _, names in columns),
                            entries=len(columns) * (len(tables) - 1), columns=len(columns))

def main():
    parser = argparse.ArgumentParser(description="Check that the files of a bundle lead to its tables.")
    parser.add_argument("bundle", help="the folder that weftline prove --certificates wrote")
    parser.add_argument("--expect", metavar="SHA256", help="digest of manifest.json, as it was recorded elsewhere")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    given, status, result = parser.parse_args(), 1, {"schema": "weftline/audit-routes/1", "verdict": "unreadable"}
    try:
        bundle = Bundle(given.bundle)
        need("fabric/tables.txt" in bundle.digests, "the bundle has no derived tables")
        status = 2
        result.update(verdict="rejected", manifest_sha256=bundle.digest)
        need(given.expect in (None, bundle.digest), "the manifest has another digest than the one expected")
        result.update(converge=judge(bundle), verdict="holds", trusted=TRUSTED)
        status = 0
    except Rejected as error:
        result["reason"] = str(error)
    except (MemoryError, RecursionError, ValueError, LookupError, TypeError, AttributeError, OSError) as error:
        result["reason"] = "the bundle is not understood: %s: %s" % (type(error).__name__, error)
    rows = [(key, value) for key, value in result.items() if isinstance(value, str)]
    lines = ["%-16s %s" % row for row in rows + [("trusted", text) for text in result.get("trusted", [])]]
    print(json.dumps(result, indent=2) if given.json else re.sub(r"[^ -~\n]", "?", "\n".join(lines)))
    return status

if __name__ == "__main__":
    sys.exit(main())
