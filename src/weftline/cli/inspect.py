"""The verbs that judge what exists, and those that explain."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from weftline.cli.options import Ibnl, Json, NoColor, Quiet


def register(app: typer.Typer) -> None:
    """Add the verbs."""
    for verb in (adopt, diff, lint, explain, schema):
        app.command()(verb)
    app.command(name="audit-fabric")(audit_fabric)


def adopt(
    dump: Annotated[
        Path, typer.Argument(metavar="DUMP", help="Output of ibnetdiscover, plain or -p, or an IBDM .topo file.")
    ],
    tables: Annotated[
        list[Path] | None,
        typer.Option("--tables", metavar="FILE", help="Programmed tables: dump_fts, ibroute or opensm-lfts.dump."),
    ] = None,
    engine: Annotated[
        str, typer.Option("--engine", help="Engine whose tables are proved where none are given.")
    ] = "auto",
    ibnl: Ibnl = None,
    as_json: Json = False,
    quiet: Quiet = False,
    no_color: NoColor = False,
) -> int:
    """Read a discovery dump of a cluster that exists and give a verdict on it; read-only."""
    from weftline.app.adopt import adopt as adopt_dump
    from weftline.cli import show
    from weftline.cli.output import show_progress

    with show_progress(quiet=quiet, no_color=no_color) as progress:
        adopted = adopt_dump(dump, tuple(tables or ()), engine, progress, ibnl)
    return show.show_adopted(adopted, as_json=as_json, no_color=no_color)


def audit_fabric(
    place: Annotated[Path, typer.Argument(metavar="FOLDER", help="A folder of dumps of one subnet, or one dump.")],
    against: Annotated[
        Path | None,
        typer.Option("--against", metavar="DECLARATION", help="What the fabric should be: tenants and managers."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FOLDER", help="Where the report goes; else out/NAME-audit.")
    ] = None,
    engines: Annotated[
        str | None,
        typer.Option(
            "--engines", metavar="A,B|all", help="Run these engines of OpenSM on the same cables here, and judge them."
        ),
    ] = None,
    fail_on: Annotated[
        str, typer.Option("--fail-on", help="Exit 2 from this severity on: critical, warning, note or never.")
    ] = "critical",
    as_json: Json = False,
    quiet: Quiet = False,
    no_color: NoColor = False,
) -> int:
    """Audit a fabric that exists from its dumps: tables, partitions, keys, managers, cabling, links; read-only."""
    from weftline.app.audit import audit, read_severity
    from weftline.app.report.audit import write_audit
    from weftline.cli import auditing
    from weftline.cli.output import show_progress

    severity = read_severity(fail_on)
    with show_progress(quiet=quiet, no_color=no_color) as progress:
        audited = audit(place, against, progress, engines=engines)
        report = write_audit(audited, out, progress)
    return auditing.show_audit(audited, report, severity, as_json=as_json, no_color=no_color)


def diff(
    declared: Annotated[
        Path,
        typer.Argument(metavar="DECLARED", help="A declaration, a workspace, a cabling plan (.ndt, CSV) or a dump."),
    ],
    discovered: Annotated[Path, typer.Argument(metavar="DISCOVERED", help="A discovery dump, or a declaration.")],
    ibnl: Ibnl = None,
    as_json: Json = False,
    quiet: Quiet = False,
    no_color: NoColor = False,
) -> int:
    """Name every missing, extra or swapped cable and node; exit 2 when something differs."""
    from weftline.app.adopt import diff as diff_places
    from weftline.app.plan import hold, is_plan
    from weftline.cli import show
    from weftline.cli.output import show_progress
    from weftline.cli.plans import show_held

    if is_plan(declared):
        with show_progress(quiet=quiet, no_color=no_color) as progress:
            held = hold(declared, discovered, progress, ibnl)
        return show_held(held, as_json=as_json, no_color=no_color)
    with show_progress(quiet=quiet, no_color=no_color) as progress:
        compared = diff_places(declared, discovered, progress, ibnl)
    return show.show_differences(compared, as_json=as_json, no_color=no_color)


def lint(
    places: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="Configuration and show outputs of switches, hosts or a subnet manager, or folders of them.",
        ),
    ],
    dscp: Annotated[
        str | None, typer.Option("--dscp", metavar="LIST", help="DSCPs that must not lose packets, as 26 or 3,4.")
    ] = None,
    options: Annotated[
        Path | None, typer.Option("--options", metavar="FILE", help="The opensm.conf that goes with partitions.conf.")
    ] = None,
    fabric: Annotated[
        Path | None,
        typer.Option("--fabric", metavar="DUMP", help="The fabric: output of ibnetdiscover, or a declaration."),
    ] = None,
    manager: Annotated[
        str | None, typer.Option("--sm", metavar="GUID", help="GUID of the port at which the subnet manager runs.")
    ] = None,
    predict: Annotated[
        bool, typer.Option("--predict", metavar="", help="Print the key table that each port will hold.")
    ] = False,
    fail_on: Annotated[
        str, typer.Option("--fail-on", help="Exit 2 from this severity on: error, warning, notice or never.")
    ] = "error",
    as_json: Json = False,
    quiet: Quiet = False,
    no_color: NoColor = False,
) -> int:
    """Judge configuration that anybody wrote: is RoCE lossless, and what will OpenSM really program; read-only."""
    from weftline.app.lint import LintOptions, read_dscps, read_fail_on
    from weftline.app.lint import lint as lint_places
    from weftline.cli.linting import show_lint
    from weftline.cli.output import show_progress

    severity = read_fail_on(fail_on)
    known = LintOptions(options, fabric, manager, read_dscps(dscp))
    with show_progress(quiet=quiet, no_color=no_color) as progress:
        linted = lint_places(places, known, progress)
    return show_lint(linted, severity, predict=predict, as_json=as_json, no_color=no_color)


def explain(
    code: Annotated[str, typer.Argument(metavar="CODE", help="An error code, as spec.unknown-key.")],
    as_json: Json = False,
    quiet: Quiet = False,
    no_color: NoColor = False,
) -> int:
    """Explain an error code: what it means, why, and what to do."""
    from weftline.app.explain import explain as explain_code
    from weftline.cli import show

    return show.show_explanation(explain_code(code), as_json=as_json, quiet=quiet, no_color=no_color)


def schema(as_json: Json = True, quiet: Quiet = False, no_color: NoColor = False) -> int:  # noqa: ARG001
    """Print the JSON Schema of a declaration; editors complete from it."""
    from weftline.app.start import show_schema
    from weftline.cli.output import print_json

    print_json(show_schema())
    return 0
