"""Small helpers for the tests of the proofs."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from weftline.model.fabric import Fabric
from weftline.model.proof import Proof, ProofRules, Witness
from weftline.model.routes import Routes
from weftline.prove import prove
from weftline.prove.witness import name_destination


def judge(fabric: Fabric, routes: Routes, claim: str, **rules: Any) -> Proof:
    """Judge one claim."""
    return next(p for p in prove(fabric, routes, ProofRules(**rules)).proofs if p.claim == claim)


def witness_of(fabric: Fabric, routes: Routes, claim: str, **rules: Any) -> Witness:
    """Judge one claim that must be refuted, and return its witness."""
    proof = judge(fabric, routes, claim, **rules)
    assert proof.verdict.value == "refuted", proof
    assert proof.certificate is None
    assert proof.witness is not None
    return proof.witness


def port_named(fabric: Fabric, name: str) -> int:
    """Find a port by its name."""
    return next(p for p in range(fabric.port_count) if fabric.port_name(p) == name)


def entry_of(fabric: Fabric, switch: str, host: str) -> tuple[int, int]:
    """Find the place in the group table of a switch and an endpoint."""
    row = int(fabric.switch_row[fabric.node_name.index(switch)])
    return row, [fabric.port_name(int(p)) for p in fabric.endpoint_port].index(host)


def group_by(fabric: Fabric, routes: Routes, switch: str, port: str) -> int:
    """Find the group of a switch that is one port alone."""
    row = int(fabric.switch_row[fabric.node_name.index(switch)])
    wanted = [port_named(fabric, port)]
    for group in range(int(routes.group_ptr[row + 1] - routes.group_ptr[row])):
        place = int(routes.group_ptr[row]) + group
        if routes.member_port[routes.member_ptr[place] : routes.member_ptr[place + 1]].tolist() == wanted:
            return group
    raise LookupError(port)


def replay(fabric: Fabric, routes: Routes, witness: Witness) -> None:
    """Follow a witness hop by hop: each step is an entry of the tables and a link of the fabric."""
    hops = witness.detail["hops"]
    d = [name_destination(fabric, routes, i) for i in range(len(routes.destination_port))].index(
        witness.detail["destination"]
    )
    assert hops[0]["out_port"] == witness.detail["source"]
    for before, hop in pairwise(hops):
        sent = port_named(fabric, before["out_port"])
        assert fabric.port_name(int(fabric.port_peer[sent])) == hop["in_port"]
        row = int(fabric.switch_row[fabric.node_name.index(hop["node"])])
        if row >= 0 and hop["out_port"] is not None:
            place = int(routes.group_ptr[row]) + int(routes.group[row, d])
            members = routes.member_port[routes.member_ptr[place] : routes.member_ptr[place + 1]]
            names = [fabric.port_name(p) if 0 <= p < fabric.port_count else f"port {p}" for p in members.tolist()]
            assert hop["out_port"] in names
