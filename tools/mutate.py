"""Mutation testing: small faults are put into the dangerous modules one at a time, and their tests must notice each."""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path("src/weftline")
MIN_SECONDS = 30.0
"""A run of tests gets at least this long; else four times what the unchanged code took."""

PROVE = ("tests/unit/prove", "tests/properties/test_proofs.py", "tests/oracle/test_deadlock_networkx.py",
         "tests/oracle/test_faulty_tables.py")  # fmt: skip
ROUTE = ("tests/unit/route", "tests/properties/test_routes.py", "tests/golden/test_tables.py")
COMPILE = ("tests/unit/compile", "tests/oracle/test_closed_forms.py")
ISOLATE = ("tests/unit/prove/test_isolate.py", "tests/unit/technologies/test_audit_partitions.py",
           "tests/unit/vendors/test_opensm_lint.py", "tests/oracle/test_partitions.py")  # fmt: skip
ADOPT = ("tests/unit/adopt", "tests/golden/test_adopt.py", "tests/oracle/test_faulty_tables.py")
LAYERS = ("tests/kernels/test_layers.py", "tests/unit/route/test_layered.py")
REPAIR = ("tests/properties/test_repair.py",)
ORDER = ("tests/unit/prove/test_unite.py", "tests/properties/test_order_witness.py", "tests/oracle/test_orders.py",
         "tests/properties/test_order.py", "tests/properties/test_order_steps.py")  # fmt: skip
AUDIT = ("tests/unit/technologies/test_audit.py", "tests/unit/technologies/test_audit_cabling.py",
         "tests/unit/technologies/test_audit_partitions.py", "tests/unit/app/test_audit.py",
         "tests/cli/test_audit.py")  # fmt: skip
LINT = ("tests/unit/lint",)
SIMULATE = ("tests/unit/simulate", "tests/oracle/test_exact_simulation.py", "tests/properties/test_simulation.py",
            "tests/oracle/test_closed_forms.py")  # fmt: skip

PACKETS = ("tests/kernels/test_packet_patience.py", "tests/kernels/test_packet_choice.py",
           "tests/kernels/test_packet_mutants.py::test_plain_kernels_agree_with_the_twin")  # fmt: skip

# Module -> the tests that must notice. Kernels run as plain Python, the other modules on compiled kernels.
NAMED: Mapping[str, tuple[str, ...]] = {
    "admit/filters.py": ("tests/unit/admit",),
    "admit/prefix.py": ("tests/unit/admit", "tests/unit/lint/test_tenancy.py", "tests/unit/prove/test_separate.py"),
    "prove/balance.py": PROVE,
    "prove/check.py": PROVE,
    "prove/claims.py": PROVE,
    "prove/deadlock.py": PROVE,
    "prove/isolate.py": ISOLATE,
    "prove/reach.py": PROVE,
    "prove/sharing.py": ISOLATE,
    "prove/mixed.py": ORDER,
    "prove/stage.py": ORDER,
    "prove/tables.py": PROVE,
    "prove/transient.py": REPAIR,
    "prove/unite.py": ORDER,
    "prove/witness.py": PROVE,
    "kernels/reach.py": ("tests/kernels/test_reach.py", *PROVE),
    "kernels/channels.py": ("tests/kernels/test_channels.py", *PROVE),
    "kernels/cycles.py": ("tests/kernels/test_cycles.py", *PROVE),
    "kernels/loads.py": ("tests/kernels/test_loads.py", *PROVE),
    "kernels/layers.py": LAYERS,
    "kernels/mixture.py": ("tests/kernels/test_mixture.py",),
    "kernels/repair.py": ("tests/kernels/test_repair.py", *REPAIR),
    "kernels/shortest.py": LAYERS,
    "kernels/turns.py": LAYERS,
    "kernels/tables.py": ("tests/kernels/test_tables.py", "tests/unit/simulate"),
    "kernels/waiting.py": ("tests/kernels/test_waiting.py",),
    "kernels/trees.py": ("tests/kernels/test_trees.py", "tests/properties/test_routes.py"),
    "kernels/updown.py": ("tests/kernels/test_updown.py", "tests/unit/route/test_updown.py"),
    "kernels/csr.py": ("tests/kernels/test_csr.py",),
    "kernels/maxmin.py": ("tests/kernels/test_maxmin.py", "tests/unit/simulate"),
    "kernels/sharing.py": ("tests/unit/simulate", "tests/kernels/test_fluid.py"),
    "kernels/fluid.py": ("tests/unit/simulate", "tests/kernels/test_fluid.py"),
    "kernels/calendar.py": ("tests/kernels/test_calendar.py",),
    "kernels/packet_arriving.py": PACKETS,
    "kernels/packet_choice.py": PACKETS,
    "kernels/packet_lanes.py": PACKETS,
    "kernels/packet_run.py": PACKETS,
    "kernels/packet_sender.py": PACKETS,
    "kernels/packet_sending.py": PACKETS,
    "kernels/packet_timing.py": PACKETS,
    "kernels/chains.py": ("tests/kernels/test_chains.py", "tests/unit/simulate"),
    "kernels/pairs.py": ("tests/kernels/test_pairs.py", "tests/unit/simulate"),
    "route/blocks.py": ROUTE,
    "route/engines.py": ROUTE,
    "route/fattree.py": ROUTE,
    "route/graph.py": ROUTE,
    "route/layered.py": ("tests/unit/route/test_layered.py",),
    "route/names.py": ROUTE,
    "route/order.py": ROUTE,
    "route/repair.py": REPAIR,
    "route/table.py": ROUTE,
    "route/trace.py": ROUTE,
    "route/tree.py": ROUTE,
    "route/updown.py": ROUTE,
    "compile/plan.py": COMPILE,
    "compile/clos.py": COMPILE,
    "compile/expect.py": COMPILE,
    "compile/count.py": COMPILE,
    "simulate/run.py": SIMULATE,
    "simulate/paths.py": SIMULATE,
    "technologies/infiniband/limits.py": ("tests/unit/technologies",),
    "enact/order.py": REPAIR,
    "enact/search.py": ORDER,
    "enact/staging.py": ORDER,
    "enact/stepping.py": ORDER,
    "enact/turning.py": ORDER,
    "enact/units.py": ORDER,
    "enact/waits.py": ORDER,
    "adopt/adaptive.py": ADOPT,
    "adopt/entries.py": ADOPT,
    "adopt/tables.py": ADOPT,
    "adopt/targets.py": ADOPT,
    "vendors/opensm/isolation.py": ISOLATE,
    "vendors/opensm/membership.py": ISOLATE,
    "vendors/opensm/prediction.py": ISOLATE,
    "vendors/opensm/subnet.py": ISOLATE,
    "technologies/infiniband/audit/cabling.py": AUDIT,
    "technologies/infiniband/audit/fabric.py": AUDIT,
    "technologies/infiniband/audit/files.py": AUDIT,
    "technologies/infiniband/audit/keyed.py": AUDIT,
    "technologies/infiniband/audit/keys.py": AUDIT,
    "technologies/infiniband/audit/lanes.py": AUDIT,
    "technologies/infiniband/audit/links.py": AUDIT,
    "technologies/infiniband/audit/managers.py": AUDIT,
    "technologies/infiniband/audit/names.py": AUDIT,
    "technologies/infiniband/audit/partitions.py": AUDIT,
    "technologies/infiniband/audit/routing.py": AUDIT,
    "technologies/infiniband/audit/verdicts.py": AUDIT,
    "app/audit.py": AUDIT,
    "technologies/roce/limits.py": ("tests/unit/technologies",),
    "declare/checks.py": ("tests/unit/declare", "tests/errors"),
}

TARGETS: Mapping[str, tuple[str, ...]] = {
    **NAMED,
    **{f"lint/{path.name}": LINT for path in sorted((ROOT / PACKAGE / "lint").glob("[a-z]*.py"))},
}

COMPARISONS: Mapping[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
OPERATORS: Mapping[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult, ast.Div: ast.Mult,
    ast.Mod: ast.FloorDiv, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.LShift: ast.RShift,
}  # fmt: skip
NOT_RUN = ("annotation", "returns", "decorator_list", "type_params")
TWINS = {
    "min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum", "fmin": "fmax", "any": "all", "all": "any",
    "argmax": "argmin", "argmin": "argmax",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Mutant:
    """One fault: bytes ``start:end`` of a module become ``text``."""

    module: str
    line: int
    start: int
    end: int
    text: bytes


def find_mutants(module: str, source: bytes) -> list[Mutant]:
    """Find every fault that can be put into a module, in the order of its text."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found: dict[tuple[int, int, bytes], Mutant] = {}
    for node, changed in _walk(ast.parse(source)):
        if node.end_lineno is None or node.end_col_offset is None:
            continue
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset
        text = ast.unparse(changed).encode()
        if isinstance(changed, ast.expr) and not isinstance(changed, ast.Constant | ast.Name | ast.Attribute):
            text = b"(" + text + b")"
        found.setdefault((start, end, text), Mutant(module, node.lineno, start, end, text))
    return [found[place] for place in sorted(found)]


def _walk(node: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, ast.AST]]:
    """Walk what runs, not annotations, decorators, messages or text; give each node with each of its faults."""
    if isinstance(node, ast.JoinedStr | ast.Raise | ast.Import | ast.ImportFrom):
        return
    if isinstance(node, ast.expr):
        yield from ((node, changed) for change in (_change_operator, _change_value) for changed in change(node))
    elif isinstance(node, ast.stmt):
        yield from ((node, changed) for changed in _change_statement(node))
    skipped = {id(child) for name in NOT_RUN for child in _children(node, name)}
    for child in ast.iter_child_nodes(node):
        if id(child) not in skipped:
            yield from _walk(child)


def _children(node: ast.AST, name: str) -> list[object]:
    child: Any = getattr(node, name, None)
    return list(child) if isinstance(child, list) else [child]  # pyright: ignore[reportUnknownArgumentType]


def _change_operator(node: ast.expr) -> Iterator[ast.AST]:
    match node:
        case ast.Compare(ops=[first], comparators=[_]) if type(first) in COMPARISONS:
            yield ast.Compare(node.left, [COMPARISONS[type(first)]()], node.comparators)
        case ast.BoolOp():
            yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
        case ast.BinOp(op=ast.Add() | ast.Sub(), right=ast.Constant(value=int())):
            yield node.left
        case ast.BinOp() if type(node.op) in OPERATORS:
            yield ast.BinOp(node.left, OPERATORS[type(node.op)](), node.right)
        case ast.UnaryOp(op=ast.Not() | ast.Invert()):
            yield node.operand
        case _:
            pass


def _change_value(node: ast.expr) -> Iterator[ast.AST]:
    match node:
        case ast.Constant(value=bool()):
            yield ast.Constant(not node.value)
        case ast.Constant(value=int() | float() as value):
            yield ast.Constant(value + 1)
        case ast.IfExp():
            yield ast.IfExp(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)
        case ast.Name() if node.id in TWINS:
            yield ast.Name(TWINS[node.id])
        case ast.Attribute() if node.attr in TWINS:
            yield ast.Attribute(node.value, TWINS[node.attr])
        case _:
            pass


def _change_statement(node: ast.stmt) -> Iterator[ast.AST]:
    match node:
        case ast.AugAssign() | ast.Continue() | ast.Break() | ast.Assign(targets=[ast.Subscript()]):
            yield ast.Pass()
        case ast.Expr() if not isinstance(node.value, ast.Constant):
            yield ast.Pass()
        case ast.If():
            yield ast.If(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)
        case _:
            pass


class Bench:
    """A copy of the repository in which modules are changed and tests run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        for name in ("src", "tests", "examples", "docs", "benchmarks"):
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "_build"))
        shutil.copy(ROOT / "pyproject.toml", folder)

    def run(self, module: str, tests: Sequence[str], seconds: float | None) -> str:
        """Run tests: ``passed``, ``failed``, or ``timed out``, which counts as noticed."""
        env = {**os.environ, "PYTHONPATH": str(self.folder / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
        env["NUMBA_CACHE_DIR"] = str(self.folder / "numba")
        env["NUMBA_DISABLE_JIT"] = "1" if module.startswith("kernels/") else "0"
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--no-header", *tests]
        try:
            ended = subprocess.run(
                command, cwd=self.folder, env=env, timeout=seconds, capture_output=True, check=False, text=True
            )
        except subprocess.TimeoutExpired:
            return "timed out"
        return "passed" if ended.returncode == 0 else "failed"

    def survives(self, mutant: Mutant, tests: Sequence[str], seconds: float) -> bool:
        """Judge whether the tests pass although the fault is there; the module is put back."""
        path = self.folder / PACKAGE / mutant.module
        source = path.read_bytes()
        try:
            path.write_bytes(source[: mutant.start] + mutant.text + source[mutant.end :])
            return self.run(mutant.module, tests, seconds) == "passed"
        finally:
            path.write_bytes(source)


def judge_module(bench: Bench, module: str, count: int, seed: int) -> tuple[int, int]:
    """Try up to ``count`` faults of a module, and print those that no test notices; count the tried and survivors."""
    source = (ROOT / PACKAGE / module).read_bytes()
    mutants = find_mutants(module, source)
    chosen = random.Random(f"{seed} {module}").sample(mutants, min(count, len(mutants)))  # noqa: S311  (a sample of faults)
    before = os.times().elapsed
    if bench.run(module, TARGETS[module], None) != "passed":
        print(f"{module}: its tests fail without any fault", flush=True)
        return 0, 0
    seconds = max(MIN_SECONDS, 4 * (os.times().elapsed - before))
    survivors = 0
    for mutant in sorted(chosen, key=lambda one: (one.start, one.text)):
        if bench.survives(mutant, TARGETS[module], seconds):
            survivors += 1
            was = b" ".join(source[mutant.start : mutant.end].split()).decode()
            print(
                f"{PACKAGE / module}:{mutant.line}\n  - {was}\n  + {' '.join(mutant.text.decode().split())}", flush=True
            )
    print(f"{module}: {len(chosen)} of {len(mutants)} faults tried, {survivors} survived", flush=True)
    return len(chosen), survivors


def main() -> int:
    """Try faults in the modules named, or in all; 1 where one survives."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="*", help="like prove/reach.py; all without any")
    parser.add_argument("--count", type=int, default=12, help="faults per module (default: 12)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    unknown = sorted(set(options.modules) - set(TARGETS))
    if unknown:
        parser.error(f"no tests are listed for {', '.join(unknown)}")
    with tempfile.TemporaryDirectory(prefix="weftline-mutants-") as name:
        bench = Bench(Path(name) / "repository")
        tried = [judge_module(bench, module, options.count, options.seed) for module in options.modules or TARGETS]
    total, survivors = sum(one for one, _ in tried), sum(two for _, two in tried)
    print(f"{total} faults tried, {survivors} survived")
    return int(survivors > 0)


if __name__ == "__main__":
    sys.exit(main())
