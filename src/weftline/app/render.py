"""Device files from a proved design."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from weftline.app.bulk import without_collector
from weftline.app.changes import change_from
from weftline.app.devices import DeviceFiles, render_devices
from weftline.app.isolation import judge_files, put_isolation
from weftline.app.lossless import judge_exchange, judge_lossless, put_lossless
from weftline.app.pipeline import Progress, Proved, run_to_proofs, silent
from weftline.errors import InternalError
from weftline.model.artifact import ArtifactSet
from weftline.render import MANIFEST, write
from weftline.vendors import VENDORS


@dataclass(frozen=True, slots=True)
class Rendered:
    """The files of a design; ``artifacts`` is None where a required claim stood in the way."""

    proved: Proved
    folder: Path
    artifacts: ArtifactSet | None

    @property
    def is_written(self) -> bool:
        """Whether the files stand in the folder."""
        return self.artifacts is not None

    @property
    def has_earlier(self) -> bool:
        """Whether files that an earlier run wrote still stand in the folder."""
        return not self.is_written and (self.folder / MANIFEST).exists()


def render(
    place: Path, out: Path | None, *, force: bool = False, against: Path | None = None, progress: Progress = silent
) -> Rendered:
    """Go from a declaration to files; without ``out`` they go to ``artifacts`` in the workspace.

    With ``against``, a folder of running configurations, changes are from what runs there.
    """
    proved = run_to_proofs(place, progress)
    return render_proved(proved, out, force=force, against=against, progress=progress)


@without_collector()
def render_proved(
    proved: Proved,
    out: Path | None,
    *,
    force: bool = False,
    against: Path | None = None,
    progress: Progress = silent,
    to_disk: bool = True,
) -> Rendered:
    """Render, read back and write; a design with a required claim not proved is written only when forced, and says so.

    Raises:
        InternalError: ``internal.render-differs`` when the files do not say what they should.
    """
    checked = proved.routed.built.checked
    folder = (out or checked.workspace.folder) / "artifacts"
    forced = not proved.report.is_accepted
    if forced and not (force or checked.design.spec.policy.render_unproved):
        return Rendered(replace(proved, files=None), folder, None)
    progress("rendering device files", None)
    routed = proved.routed
    files = proved.files or render_devices(routed.built, routed.addresses, routed.routes)
    _refuse_differences(files)
    artifacts = files.artifacts
    isolation = () if proved.files else judge_files(routed.built, routed.addresses, artifacts, files.observed)
    lossless = judge_lossless(routed.built, artifacts.of, files.observed)
    lossless += judge_exchange(routed.built, routed.routes, artifacts.of, files.observed)
    report = put_lossless(put_isolation(proved.report, isolation), lossless)
    proved = replace(proved, report=report, files=None)
    forced = not proved.report.is_accepted
    if forced and not (force or checked.design.spec.policy.render_unproved):
        return Rendered(proved, folder, None)
    if against is not None:
        vendors = tuple(VENDORS[name] for name in checked.technology.design.list_vendors(checked.design))
        artifacts = change_from(artifacts, vendors, against)
    if to_disk:
        write(artifacts, folder, forced=forced)
    return Rendered(proved, folder, artifacts)


def prove_all(place: Path, progress: Progress = silent) -> Proved:
    """Prove every claim, those about files too: where a technology has such, the files are rendered for that alone."""
    proved = run_to_proofs(place, progress)
    if proved.routed.built.checked.technology.design.lossless is None:
        return proved
    return render_proved(proved, None, force=True, progress=progress, to_disk=False).proved


def _refuse_differences(files: DeviceFiles) -> None:
    if files.problems:
        message = "the rendered files do not say what the devices should do, so nothing is written"
        hint = "this is a bug of ours; report the declaration"
        raise InternalError("internal.render-differs", message, hint, problems=files.problems)
