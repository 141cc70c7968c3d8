"""What a simulation is asked, and results of simulations and predictions."""

from __future__ import annotations

from dataclasses import dataclass

from weftline.kernels.column import F64, freeze


@dataclass(frozen=True, slots=True)
class SimOptions:
    """What a simulation assumes that neither the fabric nor the flows say."""

    latency_us: float
    """Whole end-to-end latency of a message: its last byte arrives so long after it was sent."""
    inside_host_gbytes_per_s: float | None = None
    """Rate of one GPU on the network inside its host, each way; only flows inside a host need it."""
    seed: int = 0
    """For the hash that picks one path of several; 0 to 2**32 - 1."""
    max_hops: int = 64
    """A path of more switches than this counts as a loop."""


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
class ClosedForm:
    """What arithmetic alone says about a collective on a fabric without contention."""

    time_us: float
    bound_low_us: float
    """What no algorithm that sends these bytes can beat: the bytes of the busiest port at its rate, without latency."""
    busbw_gbytes_per_s: float | None
    """None where nothing is sent or it takes no time."""
    binds: str
    """What most of the time goes to."""
    formula: str


@dataclass(frozen=True, slots=True)
class JobPrediction:
    """What one training job would do on a fabric; every figure carries its assumption in ``assumptions``.

    A figure is None where something that it needs is not known; then an assumption says what to give.
    """

    job: str
    gpus: int
    allreduce_bytes: int
    """Gradient bytes that each GPU reduces per step."""
    allreduce_us: float
    busbw_gbytes_per_s: float | None
    compute_us: float | None
    step_us: float | None
    tokens_per_s: float | None
    lost_ms_cost_per_month: float | None
    """Price of the GPU time that one millisecond lost in every step wastes in 730 hours."""
    currency: str
    assumptions: tuple[str, ...]
