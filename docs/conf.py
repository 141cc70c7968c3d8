"""How the documentation is built."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parent))

import reference_pages
from pygments.lexers.shell import BashSessionLexer

import weftline

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.config import Config

project = "Weftline"
author = "The Weftline maintainers"
copyright = author
release = version = weftline.__version__

extensions = ["myst_parser"]
exclude_patterns = ["_build"]
source_suffix = {".md": "markdown"}
myst_enable_extensions = ["colon_fence", "deflist", "fieldlist"]
myst_heading_anchors = 3
nitpicky = True

html_theme = "furo"
html_title = "Weftline"
html_copy_source = False
html_last_updated_fmt = None


def setup(app: Sphinx) -> None:
    """Write the pages that come from the code before Sphinx looks for pages; blocks of a lab are shell sessions."""
    app.add_lexer("lab", BashSessionLexer)
    app.connect("config-inited", write_reference)


def write_reference(_app: Sphinx, _config: Config) -> None:
    """Write the pages that come from the code."""
    reference_pages.write_pages(Path(__file__).parent)
