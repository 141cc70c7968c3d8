"""Fill the on-disk cache of compiled kernels by running the main job once, in one process."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ("small-fat-tree.yaml", "sovereign-512.yaml", "sovereign-512-roce.yaml")


def warm_kernels() -> None:
    """Run ``weftline up`` on small examples; what fails here fails again, and is reported, in the tests."""
    if os.environ.get("NUMBA_DISABLE_JIT"):
        return
    with tempfile.TemporaryDirectory() as folder:
        for example in EXAMPLES:
            place, out = ROOT / "examples" / example, Path(folder) / example
            command = [sys.executable, "-m", "weftline", "up", str(place), "--out", str(out)]
            subprocess.run(command, check=False, capture_output=True, timeout=300)


if __name__ == "__main__":
    warm_kernels()
