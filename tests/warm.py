"""Fill the on-disk cache of compiled kernels by running the main job once, in one process."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ("small-fat-tree.yaml", "sovereign-512.yaml", "sovereign-512-roce.yaml")
PACKETS = ("simulate", str(ROOT / "examples" / "roce-lab.yaml"), "--fidelity", "packet", "--load", "incast")


def warm_kernels() -> None:
    """Run ``weftline up`` on small examples and send packets; what fails here fails again in the tests, and is told."""
    if os.environ.get("NUMBA_DISABLE_JIT"):
        return
    with tempfile.TemporaryDirectory() as folder:
        calls = [("up", str(ROOT / "examples" / name), "--out", str(Path(folder) / name)) for name in EXAMPLES]
        for words in (*calls, PACKETS):
            command = [sys.executable, "-m", "weftline", *words]
            subprocess.run(command, check=False, capture_output=True, timeout=300)


if __name__ == "__main__":
    warm_kernels()
