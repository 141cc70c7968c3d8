"""Who meets whom by OpenSM's rendered files: what it will program from them, as tables for the proof of isolation."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import lru_cache

from weftline.formats import partitions_conf
from weftline.kernels.column import NIL
from weftline.model.addresses import Addresses
from weftline.model.artifact import Artifact, ArtifactSet
from weftline.model.fabric import Fabric
from weftline.model.isolation import Groups, IsolatedEnd, IsolationTables, Owners
from weftline.model.partitions import FULL, KEY, KeySubnet, KeyTable, PartitionFile
from weftline.vendors.opensm.prediction import PartitionOptions, Prediction, predict
from weftline.vendors.opensm.subnet import describe_subnet, lit_endpoints, place_facing
from weftline.vendors.opensm.writing import NAME

PARTITIONS = "partitions.conf"
OPTIONS = "opensm.conf"
SOURCE = "the tables that OpenSM will program from the rendered files"


def observe_isolation(artifacts: ArtifactSet, fabric: Fabric, addresses: Addresses, owners: Owners) -> IsolationTables:
    """Read the files as OpenSM does, and predict the tables of every endpoint and of the port that faces it."""
    devices: dict[str, dict[str, Artifact]] = {}
    for artifact in artifacts.artifacts:
        if artifact.vendor == NAME:
            devices.setdefault(artifact.device, {})[artifact.path.rsplit("/", 1)[-1]] = artifact
    ends: list[IsolatedEnd] = []
    doubts: list[str] = []
    digests: list[str] = []
    causes: list[str] = []
    for plane in range(max(fabric.planes, 1)):
        files = devices.get(f"subnet-{plane + 1}", {})
        file = _read(files.get(PARTITIONS))
        digests += [f"{name}:{item.digest}" for name, item in files.items() if name.startswith((PARTITIONS, OPTIONS))]
        options = PartitionOptions.read(_read_options(files))
        subnet = describe_subnet(fabric, addresses, plane)
        prediction = predict(file, subnet, options)
        ends.extend(_list_ends(fabric, addresses, plane, owners, (subnet, prediction)))
        doubts.extend(_doubt(f"subnet-{plane + 1}", file, prediction))
        causes.extend(_blame(f"subnet-{plane + 1}", file))
    cause = causes[0] if causes else ""
    of = hashlib.sha256("\n".join(digests).encode()).hexdigest()
    return IsolationTables(tuple(ends), owners.sharings, of, SOURCE, owners.premise, tuple(doubts), cause)


def _read(artifact: Artifact | None) -> PartitionFile | None:
    return None if artifact is None else partitions_conf.parse(artifact.content, artifact.path)


def _read_options(files: dict[str, Artifact]) -> dict[str, str]:
    """Read the options; a file that waits for its keys to be filled in counts."""
    options: dict[str, str] = {}
    for name, artifact in files.items():
        if name.startswith(OPTIONS):
            for line in artifact.content.decode("utf-8", "replace").splitlines():
                option, _, value = line.partition(" ")
                if option and not option.startswith("#"):
                    options[option] = value.strip()
    return options


def _list_ends(
    fabric: Fabric, addresses: Addresses, plane: int, owners: Owners, predicted: tuple[KeySubnet, Prediction]
) -> Iterator[IsolatedEnd]:
    subnet, prediction = predicted
    by_guid = {end.guid: end for end in subnet.ends}
    for port in lit_endpoints(fabric, plane):
        end = by_guid[int(addresses.port_id[port])]
        facing = place_facing(fabric, addresses, port)
        wall = None if facing is None else prediction.tables.get(facing)
        peer = int(fabric.port_peer[port])
        yield IsolatedEnd(
            name=fabric.port_name(port),
            owner=owners.of_port[port],
            own=read_groups(prediction.tables.get(end.place), plane),
            wall=read_groups(wall, plane),
            enforces_in=None if wall is None else wall.enforces_in,
            enforces_out=None if wall is None else wall.enforces_out,
            facing="" if peer == NIL else fabric.port_name(peer),
            component=int(fabric.port_component[port]),
        )


def read_groups(table: KeyTable | None, plane: int = 0) -> Groups | None:
    """Split the keys of a table by their membership bit; the same key of another plane is another group."""
    return None if table is None else _split(table.keys, plane)


@lru_cache(maxsize=4096)
def _split(keys: tuple[int, ...], plane: int) -> Groups:
    """Split once what thousands of ports hold alike."""
    full = frozenset(plane << 16 | key & KEY for key in keys if key & FULL and key & KEY)
    return Groups(full, frozenset(plane << 16 | key & KEY for key in keys if key & KEY) - full)


def _doubt(device: str, file: PartitionFile | None, prediction: Prediction) -> Iterator[str]:
    if not prediction.is_certain:
        why = file.doubt.message if file is not None and file.doubt is not None else "the file cannot be predicted"
        yield f"{device}: {why}"
    for overflow in prediction.overflows[:1]:
        yield f"{device}: {overflow.wanted} keys do not fit in a table of {overflow.capacity}"


def _blame(device: str, file: PartitionFile | None) -> Iterator[str]:
    if file is None:
        yield f"{device} has no partition file, so that everybody joins one partition"
    elif file.fault is not None:
        yield f"OpenSM gives up {file.fault.where}, so that everybody joins one partition"
