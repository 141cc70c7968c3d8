"""Run ``python -m weftline``."""

from weftline.cli.main import run

run()
