"""Fill the on-disk cache of compiled kernels by running the main job once, in one process."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def warm_kernels() -> None:
    """Run ``weftline up`` on the examples; what fails here fails again, and is reported, in the tests."""
    if os.environ.get("NUMBA_DISABLE_JIT"):
        return
    with tempfile.TemporaryDirectory() as folder:
        for example in sorted(EXAMPLES.glob("*.yaml")):
            command = [sys.executable, "-m", "weftline", "up", str(example), "--out", str(Path(folder) / example.stem)]
            subprocess.run(command, check=False, capture_output=True, timeout=300)


if __name__ == "__main__":
    warm_kernels()
