"""Published tables of reference designs, row by row, with where they were read."""

from __future__ import annotations

from dataclasses import dataclass, field

H100 = "NVIDIA DGX SuperPOD H100 reference architecture, RA-11333-001 V11 (2023-09-22)"
B200 = "NVIDIA DGX SuperPOD B200 reference architecture, docs.nvidia.com/dgx-superpod"
B300 = "NVIDIA DGX SuperPOD B300 with Spectrum-X reference architecture, docs.nvidia.com/dgx-superpod"
XDR = "NVIDIA DGX SuperPOD B300 with XDR reference architecture, docs.nvidia.com/dgx-superpod"


@dataclass(frozen=True)
class Row:
    """One row: what is declared, and the counts that the source prints."""

    id: str
    source: str
    hosts: int
    unit_size: int
    ports: int
    expect: dict[str, int]
    """``gpus, leaf, spine, core, host_leaf, leaf_spine, spine_core``; cables as the source counts them."""
    planes: int = 1
    rate_gbps: float = 400
    technology: str = "infiniband"
    links_per_cable: int = 1
    extras: tuple[tuple[str, int, str], ...] = ()
    rails: int = field(default=8)


def _expect(gpus: int, leaf: int, spine: int, core: int, host_leaf: int, leaf_spine: int, top: int) -> dict[str, int]:
    return {
        "gpus": gpus, "leaf": leaf, "spine": spine, "core": core, "host_leaf": host_leaf, "leaf_spine": leaf_spine,
        "spine_core": top,
    }  # fmt: skip


def _one_host_less(units: int, gpus: int, leaf: int, spine: int, with_ufm: int, up: int) -> Row:
    """H100 table 4 counts the four cables of the management server with those of the hosts."""
    expect = _expect(gpus, leaf, spine, 0, with_ufm - 4, up, 0)
    hosts = units * 32 - 1
    return Row(f"h100-table4-{units}su", H100 + ", table 4", hosts, 32, 64, expect, extras=(("ufm", 4, "auto"),))


def _ndr(name: str, source: str, units: int, counts: tuple[int, int, int, int, int, int, int]) -> Row:
    return Row(f"{name}-{units}su", source, units * 32, 32, 64, _expect(*counts))


def _planes(units: int, gpus: int, leaf: int, spine: int) -> Row:
    expect = _expect(gpus, leaf, spine, 0, gpus, gpus, 0)
    return Row(
        f"b300-spectrumx-{units}su", B300 + ", table 3", units * 64, 64, 128, expect,
        planes=2, technology="roce", links_per_cable=2,
    )  # fmt: skip


def _xdr(units: int, gpus: int, leaf: int, spine: int) -> Row:
    expect = _expect(gpus, leaf, spine, 0, gpus, gpus, 0)
    return Row(f"b300-xdr-{units}su", XDR + ", table 3", units * 72, 72, 144, expect, rate_gbps=800)


ROWS = (
    _one_host_less(1, 248, 8, 4, 252, 256),
    _one_host_less(2, 504, 16, 8, 508, 512),
    _one_host_less(3, 760, 24, 16, 764, 768),
    _one_host_less(4, 1016, 32, 16, 1020, 1024),
    # The printed table has spine-core cables in the rows of 4 and 8 units, without cores: an error, see ERRATA.
    _ndr("h100-table3", H100 + ", table 3", 4, (1024, 32, 16, 0, 1024, 1024, 0)),
    _ndr("h100-table3", H100 + ", table 3", 8, (2048, 64, 32, 0, 2048, 2048, 0)),
    _ndr("h100-table3", H100 + ", table 3", 16, (4096, 128, 128, 64, 4096, 4096, 4096)),
    _ndr("h100-table3", H100 + ", table 3", 32, (8192, 256, 256, 128, 8192, 8192, 8192)),
    _ndr("h100-table3", H100 + ", table 3", 64, (16384, 512, 512, 256, 16384, 16384, 16384)),
    _ndr("b200", B200, 2, (512, 16, 8, 0, 512, 512, 0)),
    _ndr("b200", B200, 4, (1024, 32, 16, 0, 1024, 1024, 0)),
    _ndr("b200", B200, 8, (2048, 64, 32, 0, 2048, 2048, 0)),
    _ndr("b200", B200, 16, (4096, 128, 128, 64, 4096, 4096, 4096)),
    _ndr("b200", B200, 32, (8192, 256, 256, 128, 8192, 8192, 8192)),
    _ndr("b200", B200, 64, (16384, 512, 512, 256, 16384, 16384, 16384)),
    _planes(1, 512, 16, 8),
    _planes(2, 1024, 32, 16),
    _planes(4, 2048, 64, 32),
    _planes(8, 4096, 128, 64),
    _planes(16, 8192, 256, 128),
    _xdr(1, 576, 8, 4),
    _xdr(2, 1152, 16, 8),
    _xdr(4, 2304, 32, 18),
    _xdr(8, 4608, 64, 36),
    _xdr(18, 10368, 144, 72),
)
