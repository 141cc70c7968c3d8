from __future__ import annotations

import ast

import pytest

from tests.architecture import source

NAMES = frozenset({"infiniband", "roce", "rocev2", "opensm", "sonic", "frr", "nvue", "cumulus", "eos", "ufm"})


def find_branches(tree: ast.AST) -> list[int]:
    """List the lines that compare something with the name of a technology or a vendor."""
    lines: list[int] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            compared = [node.left, *node.comparators]
        elif isinstance(node, ast.match_case):
            compared = [inner.value for inner in ast.walk(node.pattern) if isinstance(inner, ast.MatchValue)]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            compared = node.args if node.func.attr in {"startswith", "endswith"} else []
        else:
            continue
        constants = {inner.value for part in compared for inner in ast.walk(part) if isinstance(inner, ast.Constant)}
        if constants & NAMES:
            lines.append(compared[0].lineno)
    return lines


def test_no_room_branches_on_a_variant() -> None:
    branches = [
        f"{module.name}:{line}"
        for module in source.read_modules()
        if module.room not in source.VARIANT_ROOMS
        for line in find_branches(module.tree)
    ]
    assert branches == []


@pytest.mark.parametrize(
    "text",
    [
        "if name == 'infiniband':\n    pass",
        "x = 1 if 'roce' != name else 2",
        "x = name in {'sonic', 'frr'}",
        "match name:\n    case 'opensm' | 'sonic':\n        pass",
        "x = name.startswith('roce')",
    ],
)
def test_a_branch_is_found(text: str) -> None:
    assert find_branches(ast.parse(text))


@pytest.mark.parametrize("text", ["x = TECHNOLOGIES['roce']", "x = Literal['roce']", "x = name == 'spine'"])
def test_a_lookup_is_no_branch(text: str) -> None:
    assert find_branches(ast.parse(text)) == []
