"""A vendor: what turns the intent for its devices into files, and reads them back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from weftline.model.addresses import Addresses
from weftline.model.artifact import Artifact, ArtifactSet
from weftline.model.fabric import Fabric
from weftline.model.intent import DeviceIntent, ForwardingTable
from weftline.model.isolation import IsolationTables, Owners
from weftline.model.lint import Linter
from weftline.model.observed import ObservedConfig, ObservedDevice


@dataclass(frozen=True, slots=True)
class TablesFile:
    """The one file of a vendor that holds forwarding tables, so that it can be exchanged alone."""

    name: str
    write: Callable[[ForwardingTable, bytes, ForwardingTable | None], bytes]
    """(tables, the file so far, the tables in it or None) -> the file with these tables; comments at its head stay."""


@dataclass(frozen=True, slots=True)
class Plug:
    """One port of a switch, as far as a command needs to know it."""

    device: str
    number: int
    """The number printed on the device."""
    per_cage: int
    """Ports that a cage is split into."""
    address: int
    """Address of the switch: a LID, or an IPv4 address."""


@dataclass(frozen=True, slots=True)
class Switching:
    """What a person types to take a port out of service, and to put it back."""

    off: tuple[str, ...]
    on: tuple[str, ...]
    where: str
    """Where that is typed, in words."""


@dataclass(frozen=True, slots=True)
class Vendor:
    """A register entry: capability data and pure functions."""

    name: str
    render: Callable[[tuple[DeviceIntent, ...]], tuple[Artifact, ...]]
    observe: Callable[[ArtifactSet], tuple[ObservedConfig, ...]]
    """What the files of this vendor say, device by device."""
    isolation: Callable[[ArtifactSet, Fabric, Addresses, Owners], IsolationTables] | None = None
    """Who meets whom once the devices have read the files; absent where the files decide nothing of that."""
    lint: Linter | None = None
    """What is wrong with configuration that somebody wrote by hand, and what comes of it."""
    tables: TablesFile | None = None
    """The one file with forwarding tables; None where devices take none."""
    recognise: Callable[[str, bytes], str | None] | None = None
    """(file name, first 64 KiB) -> the name of the form of a file of this vendor; None where it is none."""
    configured: Callable[[Sequence[tuple[str, bytes]]], tuple[ObservedDevice, ...]] | None = None
    """What files that anybody wrote say, device by device: (name, bytes) of files that ``recognise`` took."""
    unsaid: Callable[[str], bool] | None = None
    """Whether no file of this vendor can say a fact, given its path; None where its files can say all."""
    change: Callable[[ArtifactSet, Mapping[str, tuple[str, bytes]]], tuple[Artifact, ...]] | None = None
    """(files, what runs as (file name, bytes) by device) -> the change alone, in the place of the whole."""
    change_form: str | None = None
    """The form of its files that say how others are put in place, and nothing more; None where there are none."""
    switch: Callable[[Plug], Switching] | None = None
    """The commands that disable and enable a port; None where no device is this vendor's to command."""
