"""Results of a simulation and of a job prediction."""

from __future__ import annotations

from dataclasses import dataclass

from weftline.kernels.column import F64, freeze


@dataclass(frozen=True, slots=True)
class SimResult:
    """When each flow started and ended, and what no schedule could have beaten."""

    fidelity: str
    start_us: F64
    finish_us: F64
    """Arrival at the receiver of each flow."""
    total_us: float
    bound_low_us: float
    bound_name: str
    """What binds the bound: a link's bytes, or the longest chain of dependent messages."""
    port_bytes: F64
    """Bytes sent by each port of the fabric."""
    assumptions: tuple[str, ...]

    def __post_init__(self) -> None:
        """Make the columns read-only."""
        freeze(self.start_us, self.finish_us, self.port_bytes)


@dataclass(frozen=True, slots=True)
class JobPrediction:
    """What one training job would do on a fabric; every figure carries its assumption in ``assumptions``."""

    job: str
    gpus: int
    allreduce_bytes: int
    allreduce_us: float
    busbw_gbytes_per_s: float
    compute_us: float
    step_us: float
    tokens_per_s: float
    lost_ms_cost_per_month: float
    """Price of the GPU time that one millisecond lost in every step wastes in 730 hours."""
    currency: str
    assumptions: tuple[str, ...]
