"""The JSON of rendered files."""

from __future__ import annotations

from weftline.app.render import Rendered
from weftline.app.views.proof import view_report


def view_rendered(rendered: Rendered) -> dict[str, object]:
    """Show each file with its digest; the proofs say why there are none."""
    return {
        "schema": "weftline/artifacts/1",
        "of": rendered.proved.routed.routes.digest,
        "folder": str(rendered.folder),
        "written": rendered.is_written,
        "forced": rendered.is_written and not rendered.proved.report.is_accepted,
        "artifacts": [
            {
                "path": artifact.path,
                "sha256": artifact.digest,
                "bytes": len(artifact.content),
                "device": artifact.device,
                "vendor": artifact.vendor,
            }
            for artifact in (rendered.artifacts.artifacts if rendered.artifacts else ())
        ],
        "proofs": None if rendered.is_written else view_report(rendered.proved.report),
    }
