"""What the architecture tests read: modules as text and as syntax trees."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "weftline"
VARIANT_ROOMS = frozenset({"technologies", "vendors", "formats", "drivers", "labs"})


@dataclass(frozen=True)
class Module:
    """One file of the source."""

    path: Path
    text: str
    tree: ast.Module

    @property
    def name(self) -> str:
        """The path below the package, for messages."""
        return self.path.relative_to(PACKAGE).as_posix()

    @property
    def room(self) -> str:
        """The package at the top that the module stands in, or its own name."""
        return Path(self.name).parts[0].removesuffix(".py")


@cache
def read_modules() -> tuple[Module, ...]:
    """Read every module of the source, in order of their paths."""
    modules: list[Module] = []
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        modules.append(Module(path, text, ast.parse(text, filename=str(path))))
    return tuple(modules)


def list_rooms() -> set[str]:
    """Name the packages and modules at the top of the source."""
    return {module.room for module in read_modules() if not module.room.startswith("__")}


def list_strings(tree: ast.AST) -> list[tuple[int, str]]:
    """List the string constants of a tree with their lines, docstrings left out."""
    docstrings = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    return [
        (node.lineno, node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings
    ]
