"""A host's files: the list of its NICs, the settings of NCCL and kernel, and the script that applies the list."""

from __future__ import annotations

from weftline.model.artifact import Artifact
from weftline.model.intent import DeviceIntent, HostIntent
from weftline.vendors.host.classes import write_classes
from weftline.vendors.host.columns import COLUMNS, write_cell
from weftline.vendors.host.script import SHARED

NAME = "host"


def render(intents: tuple[DeviceIntent, ...]) -> tuple[Artifact, ...]:
    """Write the files of each host, and those that all of them share where NICs must be set."""
    hosts = [(intent, intent.host) for intent in intents if intent.role == "host" and intent.host is not None]
    artifacts = [artifact for intent, host in hosts for artifact in _render_host(intent, host)]
    if any(nic.trust is not None for _, host in hosts for nic in host.nics):
        artifacts.extend(Artifact(path, text.encode(), device="", vendor=NAME) for path, text in SHARED.items())
    return tuple(artifacts)


def _render_host(intent: DeviceIntent, host: HostIntent) -> list[Artifact]:
    files = {"nccl.conf": _write_nccl(intent, host), "nics.conf": _write_nics(intent, host)}
    if intent.queues is not None:
        head = _head(intent, "/etc/weftline/classes.conf", "Classes of the NICs")
        files["classes.conf"] = head + write_classes(intent.queues.classes)
    collectives = _list_variables(host)
    if collectives:
        head = _head(intent, "/etc/weftline/collectives.env", "Variables for jobs with UCX or NVSHMEM")
        files["collectives.env"] = head + "".join(f"{name}={value}\n" for name, value in collectives)
    if host.settings:
        files["sysctl.conf"] = _head(intent, "/etc/sysctl.d/90-weftline.conf", "Kernel settings") + "".join(
            f"{setting.key} = {setting.value}\n" for setting in host.settings
        )
    return [
        Artifact(path=f"hosts/{intent.device}/{name}", content=text.encode(), device=intent.device, vendor=NAME)
        for name, text in sorted(files.items())
    ]


def _head(intent: DeviceIntent, install: str, what: str) -> str:
    lines = [f"{what} of {intent.device} of fabric {intent.fabric}; install as {install}", *intent.notes]
    return "".join(f"# {line}\n" for line in lines)


def _write_nics(intent: DeviceIntent, host: HostIntent) -> str:
    nics = {nic.key: nic for nic in host.nics}
    table = [["nic", *(column.name for column in COLUMNS)]]
    for port in intent.ports:
        nic = nics[port.key]
        table.append([str(port.key), *(write_cell(column.write(port, nic)) for column in COLUMNS)])
    widths = [max(len(row[place]) for row in table) for place in range(len(table[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table]
    return _head(intent, "/etc/weftline/nics.conf", "NICs") + "".join(f"{line}\n" for line in lines)


def _list_variables(host: HostIntent) -> list[tuple[str, str]]:
    """List what UCX and NVSHMEM must be told: they read no file of NCCL, and send DSCP 0 if nobody tells them."""
    pairs: list[tuple[str, str]] = []
    if host.traffic_class is None:
        return pairs
    for name, value in (("TRAFFIC_CLASS", host.traffic_class), ("GID_INDEX", host.gid_index)):
        if value is not None:
            pairs.extend((f"{library}_IB_{name}", str(value)) for library in ("UCX", "NVSHMEM"))
    if host.devices:
        devices = ",".join(f"{device}:1" for device in host.devices)
        pairs.extend([("UCX_NET_DEVICES", devices), ("NVSHMEM_HCA_LIST", devices)])
    return pairs


def _write_nccl(intent: DeviceIntent, host: HostIntent) -> str:
    settings: list[tuple[str, str]] = []
    if host.devices:
        # '=' asks for exactly these names: mlx5_1 alone would match mlx5_10 too.
        settings.append(("NCCL_IB_HCA", "=" + ",".join(f"{device}:1" for device in host.devices)))
    for name, value in (
        ("NCCL_IB_GID_INDEX", host.gid_index),
        ("NCCL_IB_TC", host.traffic_class),
        ("NCCL_IB_SL", host.service_level),
        ("NCCL_IB_PKEY", host.partition_index),
        ("NCCL_IB_QPS_PER_CONNECTION", host.queue_pairs),
    ):
        if value is not None:
            settings.append((name, str(value)))
    if host.splits_data is not None:
        settings.append(("NCCL_IB_SPLIT_DATA_ON_QPS", "1" if host.splits_data else "0"))
    if host.keeps_rail is not None:
        settings.append(("NCCL_CROSS_NIC", "0" if host.keeps_rail else "1"))
    body = "".join(f"{name}={value}\n" for name, value in settings)
    return _head(intent, "/etc/nccl.conf", "Collective library") + body
