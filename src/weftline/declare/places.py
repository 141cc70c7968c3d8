"""Key paths of a declaration and where in the file they stand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from weftline.declare.tree import KeyPath, Node, show_path
from weftline.errors import Place


@dataclass(frozen=True, slots=True)
class Places:
    """Finds the place of a key path; what is not written down is placed at its nearest parent."""

    file: str
    root: Node | None

    def value(self, *path: str | int) -> Place:
        """Find where the value at a path starts."""
        node = self.root
        line, column = (node.line, node.column) if node else (None, None)
        for step in path:
            node = child_of(node, step)
            if node is None:
                break
            line, column = node.line, node.column
        return Place(self.file, line, column, show_path(path))

    def key(self, *path: str | int) -> Place:
        """Find where the key at the end of a path stands; a list item stands where its value does."""
        parent = self.root
        for step in path[:-1]:
            parent = child_of(parent, step)
        last = path[-1] if path else None
        if parent is not None and isinstance(last, str) and last in parent.keys:
            line, column = parent.keys[last]
            return Place(self.file, line, column, show_path(path))
        return self.value(*path)

    def has(self, *path: str | int) -> bool:
        """Say whether a path is written down."""
        node = self.root
        for step in path:
            node = child_of(node, step)
        return node is not None

    def all(self) -> dict[str, Place]:
        """List the places of all values by dotted path, as ``jobs[0].name``."""
        return {
            show_path(path): Place(self.file, node.line, node.column, show_path(path)) for path, node in self.walk()
        }

    def walk(self) -> Iterator[tuple[KeyPath, Node]]:
        """Walk all values in the order of the file."""
        if self.root is not None:
            yield from _walk((), self.root)


def child_of(node: Node | None, step: str | int) -> Node | None:
    """Take one step down, or None where there is no such value."""
    if node is None:
        return None
    if isinstance(node.value, dict):
        return node.value.get(step) if isinstance(step, str) else None
    if isinstance(node.value, list) and isinstance(step, int) and 0 <= step < len(node.value):
        return node.value[step]
    return None


def _walk(path: KeyPath, node: Node) -> Iterator[tuple[KeyPath, Node]]:
    yield path, node
    if isinstance(node.value, dict):
        for key, child in node.value.items():
            yield from _walk((*path, key), child)
    elif isinstance(node.value, list):
        for index, child in enumerate(node.value):
            yield from _walk((*path, index), child)
