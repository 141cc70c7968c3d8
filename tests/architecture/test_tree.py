from __future__ import annotations

import ast
from pathlib import Path
from typing import Any, cast

import pytest

from tests.architecture import source

MODULE_LINES = 400
FUNCTION_LINES = 60
VAGUE_NAMES = {"utils", "util", "helpers", "helper", "common", "misc", "base", "manager", "core"}


def long_functions(module: source.Module) -> list[str]:
    """Name the functions of a module that are too long."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return [
        f"{module.name}:{node.lineno} {node.name} has {node.end_lineno - node.lineno + 1} lines"
        for node in ast.walk(module.tree)
        if isinstance(node, kinds) and node.end_lineno and node.end_lineno - node.lineno + 1 > FUNCTION_LINES
    ]


def test_modules_are_short() -> None:
    sizes = {module.name: module.text.count("\n") for module in source.read_modules()}
    assert {name: size for name, size in sizes.items() if size > MODULE_LINES} == {}


def test_functions_are_short() -> None:
    """Kernels are left out: one hot loop reads better as one function."""
    modules = [module for module in source.read_modules() if module.room != "kernels"]
    assert [text for module in modules for text in long_functions(module)] == []


def test_a_long_function_is_found() -> None:
    text = "def long():\n" + "    pass\n" * FUNCTION_LINES
    module = source.Module(source.PACKAGE / "x.py", text, ast.parse(text))
    assert long_functions(module) == [f"x.py:1 long has {FUNCTION_LINES + 1} lines"]


def test_names_say_something() -> None:
    parts = {part.removesuffix(".py") for module in source.read_modules() for part in Path(module.name).parts}
    assert parts & VAGUE_NAMES == set()


def test_every_module_says_what_stands_there() -> None:
    summaries = {
        module.name: (ast.get_docstring(module.tree) or "").split("\n\n")[0] for module in source.read_modules()
    }
    assert [name for name, summary in summaries.items() if not summary.endswith(".")] == []


def test_public_functions_say_what_they_do() -> None:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    silent = [
        f"{module.name}:{node.lineno} {node.name}"
        for module in source.read_modules()
        for node in module.tree.body
        if isinstance(node, kinds) and not node.name.startswith("_") and not ast.get_docstring(node)
    ]
    assert silent == []


def test_every_kernel_has_a_slow_twin(root: Path) -> None:
    compiled = [
        module
        for module in source.read_modules()
        if module.room == "kernels" and any(is_kernel(node) for node in module.tree.body)
    ]
    twins = {path.stem for path in (root / "tests" / "kernels" / "reference").glob("*.py")}
    assert compiled
    assert [module.name for module in compiled if module.path.stem not in twins] == []


def is_kernel(node: ast.stmt) -> bool:
    """Tell whether a statement defines a compiled function that others may call."""
    return isinstance(node, ast.FunctionDef) and any(
        isinstance(decorator, ast.Name) and decorator.id == "kernel" for decorator in node.decorator_list
    )


def test_every_room_has_unit_tests(root: Path) -> None:
    tested = {path.name.removeprefix("test_").removesuffix(".py") for path in (root / "tests" / "unit").iterdir()}
    with_other_tests = {"kernels", "cli"}
    assert source.list_rooms() - with_other_tests - tested == set()


@pytest.fixture
def contracts(root: Path) -> dict[str, dict[str, Any]]:
    """The import contracts by name."""
    import tomllib

    document = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    return {contract["name"]: contract for contract in document["tool"]["importlinter"]["contracts"]}


def test_the_floors_name_every_room_that_exists(contracts: dict[str, dict[str, Any]]) -> None:
    floors = cast("list[str]", contracts["the floors of the house"]["layers"])
    named = [word.strip() for floor in floors for word in floor.split("|")]
    assert source.list_rooms() == {word for word in named if not word.startswith("(")}


def test_faces_may_import_nothing_between_them_and_the_nouns(contracts: dict[str, dict[str, Any]]) -> None:
    contract = contracts["faces know the app and the nouns only"]
    forbidden = {name.removeprefix("weftline.") for name in contract["forbidden_modules"]}
    assert forbidden == source.list_rooms() - {"cli", "app", "model", "errors", "units"}
