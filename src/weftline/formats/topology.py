"""The topology file that ibsim reads and ibnetdiscover prints, written from a fabric."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from weftline.formats.speed import name_rate
from weftline.kernels.column import NIL
from weftline.model.addresses import Addresses
from weftline.model.fabric import Fabric, NodeKind


def write(fabric: Fabric, addresses: Addresses) -> str:
    """Write a fabric as a topology file that ibnetdiscover could have printed and ibsim reads.

    Each NIC port of a host is an adapter ``host-0001 HCA-3``, numbered as the port; an extra endpoint is one adapter
    of several ports, or ``HCA-n`` each where its ports would exceed one adapter. Dark ports are not written.
    """
    names = [_port_words(fabric, addresses, port) for port in range(fabric.port_count)]
    chunks: list[str] = []
    for node in [*fabric.switch_node.tolist(), *_non_switches(fabric)]:
        if fabric.node_kind[node] == NodeKind.SWITCH:
            chunks.append(_switch_text(fabric, addresses, names, node))
        else:
            chunks.extend(_adapter_texts(fabric, addresses, names, node))
    return "#\n# Topology file: written by weftline\n#\n\n" + "\n".join(chunks)


@dataclass(frozen=True, slots=True)
class _Words:
    """How a port is called in the file: its adapter or switch, and its number there."""

    key: str
    number: int
    guid: int
    description: str
    lid: int
    is_switch: bool = False


def _non_switches(fabric: Fabric) -> list[int]:
    """List hosts and extra endpoints."""
    return [node for node in range(fabric.node_count) if fabric.node_kind[node] != NodeKind.SWITCH]


def _port_words(fabric: Fabric, addresses: Addresses, port: int) -> _Words:
    """Name one port."""
    node, number = int(fabric.port_node[port]), int(fabric.port_number[port])
    name, guid = fabric.node_name[node], int(addresses.port_id[port])
    if fabric.node_kind[node] == NodeKind.SWITCH:
        own = int(addresses.node_id[node])
        return _Words(f"S-{own:016x}", number, own, name, max(int(addresses.node_address[node]), 0), is_switch=True)
    lid = max(int(addresses.port_address[port]), 0)
    if fabric.node_kind[node] == NodeKind.EXTRA:
        return _Words(f"H-{int(addresses.node_id[node]):016x}", number, guid, name, lid)
    return _Words(f"H-{guid:016x}", 1, guid, f"{name} HCA-{number}", lid)


def _speed(fabric: Fabric, port: int, peer: int) -> str:
    """Name the speed of a link, with the space before it; nothing where the rate has no name."""
    word = name_rate(min(float(fabric.port_rate_gbps[port]), float(fabric.port_rate_gbps[peer])))
    return f" {word}" if word else ""


def _lit_ports(fabric: Fabric, node: int) -> Iterator[tuple[int, int]]:
    """Yield the wired ports of a node with their peers."""
    for port in range(int(fabric.port_ptr[node]), int(fabric.port_ptr[node + 1])):
        peer = int(fabric.port_peer[port])
        if peer != NIL:
            yield port, peer


def _switch_text(fabric: Fabric, addresses: Addresses, names: list[_Words], node: int) -> str:
    """Write one switch."""
    guid, lid = int(addresses.node_id[node]), max(int(addresses.node_address[node]), 0)
    count = int(fabric.port_number[fabric.port_ptr[node] : fabric.port_ptr[node + 1]].max(initial=1))
    out = [f"switchguid=0x{guid:x}({guid:x})"]
    out.append(f'Switch\t{count} "S-{guid:016x}"\t\t# "{fabric.node_name[node]}" enhanced port 0 lid {lid} lmc 0')
    for port, peer in _lit_ports(fabric, node):
        words = names[peer]
        far_guid = "" if words.is_switch else f"({words.guid:x})"
        out.append(
            f'[{names[port].number}]\t"{words.key}"[{words.number}]{far_guid} \t\t'
            f'# "{words.description}" lid {words.lid}{_speed(fabric, port, peer)}'
        )
    return "\n".join(out) + "\n"


def _adapter_texts(fabric: Fabric, addresses: Addresses, names: list[_Words], node: int) -> Iterator[str]:
    """Write the adapters of a host or extra endpoint."""
    lit = list(_lit_ports(fabric, node))
    groups = [lit] if fabric.node_kind[node] == NodeKind.EXTRA else [[pair] for pair in lit]
    for group in groups:
        if not group:
            continue
        first = names[group[0][0]]
        count = max(names[port].number for port, _ in group)
        out = [f"caguid=0x{first.key[2:]}", f'Ca\t{count} "{first.key}"\t\t# "{first.description}"']
        for port, peer in group:
            own, far = names[port], names[peer]
            out.append(
                f'[{own.number}]({own.guid:x}) \t"{far.key}"[{far.number}]\t\t# lid {own.lid} '
                f'lmc {addresses.multipath_bits} "{far.description}" lid {far.lid}{_speed(fabric, port, peer)}'
            )
        yield "\n".join(out) + "\n"
