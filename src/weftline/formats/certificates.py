"""The files of a bundle of certificates, as docs/reference/certificates.md has them: neutral records to bytes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from weftline.model.certificates import Counts, DerivedTables, TableCertificates, TenantTable
from weftline.model.isolation import MANAGEMENT, NOBODY, Sharing

SCHEMA = "weftline/certificates/1"
NO_OWNER = "/nobody"
"""How an endpoint of no owner is written; no tenant can be called so."""
EVERYBODY = "*"
NOTHING = "-"
NO_GROUP = "1"
"""Stands where a switch has no group; no entry names it."""


def write_links(links: Iterable[tuple[str, str]]) -> bytes:
    """Write every cable once, by its two ports."""
    return _write("weftline-links 1", (f"{a}\t{b}" for a, b in links))


def write_endpoints(endpoints: Iterable[tuple[str, str, str]]) -> bytes:
    """Write (port, network, owner) of every endpoint, also of those without a cable."""
    lines = (f"{name}\t{network}\t{_call(owner)}" for name, network, owner in endpoints)
    return _write("weftline-endpoints 1", lines)


def write_sharing(sharings: Iterable[Sharing]) -> bytes:
    """Write whom each shared owner may meet."""
    lines = (
        f"{_call(sharing.hub)}\t{user}"
        for sharing in sharings
        for user in ((EVERYBODY,) if sharing.users is None else map(_call, sorted(sharing.users)))
    )
    return _write("weftline-sharing 1", lines)


def write_distances(tables: TableCertificates) -> bytes:
    """Write the classes of destinations, then a row of distances per switch, two hex digits each."""
    lines = [f"class {' '.join(tokens)}" for tokens in tables.classes]
    lines += [f"row {name} {tables.distance[row].tobytes().hex()}" for row, name in enumerate(tables.switches)]
    return _write("weftline-distances 1", lines)


def write_ranks(tables: TableCertificates) -> bytes:
    """Write the rank of each channel in each lane."""
    ranks = tables.rank.T.tolist()
    lines = (f"{name} {' '.join(map(str, ranks[at]))}" for at, name in enumerate(tables.channels))
    return _write("weftline-ranks 1", lines)


def write_derived(tables: DerivedTables) -> bytes:
    """Write the columns, then for each switch its groups of ports and its row, two hex digits per entry."""
    lines = [f"column {home} {' '.join(names)}" for home, names in tables.columns]
    for row, name in enumerate(tables.switches):
        groups = ";".join(",".join(map(str, ports)) for ports in tables.groups[row])
        lines.append(f"switch {name} {groups or NO_GROUP} {tables.entry[row].tobytes().hex()}")
    return _write("weftline-tables 1", lines)


def write_tenants(tables: Iterable[TenantTable]) -> bytes:
    """Write each VRF of each switch, and which ports that face endpoints are in it."""
    lines: list[str] = []
    for one in tables:
        imports, exports = ",".join(one.imports) or NOTHING, ",".join(one.exports) or NOTHING
        lines.append(f"{one.switch}\tvrf\t{one.vrf}\t{one.vni}\t{imports}\t{exports}")
        lines += [f"{one.switch}\tport\t{port}\t{one.vrf}" for port in one.ports]
    return _write("weftline-tenants 1", lines)


def write_claims(fabric: str, of: str, statements: Mapping[str, str], *, lanes: int, answers: bool) -> bytes:
    """Write which claims the bundle shows, each in the words that the auditor must come to by itself."""
    claims = [{"claim": claim, "statement": statement} for claim, statement in sorted(statements.items())]
    value = {"schema": SCHEMA, "fabric": fabric, "of": of, "lanes": lanes, "answers": answers, "claims": claims}
    return (json.dumps(value, indent=2) + "\n").encode()


def state_reach(counts: Counts) -> str:
    """State reach by its counts, with the longest path that there is and not the longest that was allowed."""
    ends = "an endpoint and an address of another" if counts.further_addresses else "endpoints"
    return (
        f"Each of {counts.connected_pairs} ordered pairs of {ends} of one network is delivered, by every choice of "
        f"every port group, without a loop and over at most {counts.longest} switches; none of {counts.foreign_pairs} "
        f"pairs of different networks is delivered; of the pairs of a switch with endpoints and a switch "
        f"{counts.switch_pairs} are delivered."
    )


def state_deadlock(lanes: int, *, answers: bool) -> str:
    """State freedom from deadlock."""
    kind = "one lane" if lanes == 1 else f"{lanes} lanes; packets are on that of their destination"
    kind += ", answers on that of their source" if lanes > 1 and answers else ""
    return (
        f"No cycle among the channels between switches ({kind}) that packets hold and wait for, following every choice "
        "from every switch with endpoints to every destination."
    )


def state_isolation(owners: int, sharings: Iterable[Sharing], *, by_partitions: bool) -> str:
    """State isolation."""
    hubs = ", ".join(sorted({_call(one.hub) for one in sharings} - {MANAGEMENT})) or "nobody"
    by = "partition" if by_partitions else "VRF, route target or VNI"
    return f"Endpoints of {owners} owners meet in no {by}; shared where that is declared: {hubs}."


def _call(owner: str) -> str:
    return NO_OWNER if owner == NOBODY else owner


def _write(first: str, lines: Iterable[str]) -> bytes:
    return "\n".join((first, *lines, "")).encode("ascii")
