"""Damaging one rendered file, and what its vendor then says."""

from __future__ import annotations

from collections.abc import Callable

from tests.designs import Rendered
from weftline.errors import Problem
from weftline.model.artifact import Artifact, ArtifactSet
from weftline.vendors import VENDORS


def damage(made: Rendered, path: str, change: Callable[[str], str]) -> tuple[Problem, ...]:
    """Change the text of one file and return the problems that are then observed; the change must change something."""
    (old,) = [item for item in made.artifacts.artifacts if item.path == path]
    text = change(old.content.decode())
    assert text != old.content.decode()
    file = Artifact(path, text.encode(), old.device, old.vendor)
    observed = VENDORS[old.vendor].observe(ArtifactSet("", (file,)))
    return tuple(problem for config in observed for problem in config.problems)


def replace(old: str, new: str) -> Callable[[str], str]:
    """Make a change of the first place where a text stands."""
    return lambda text: text.replace(old, new, 1)


def say_again(mark: str) -> Callable[[str], str]:
    """Make a change that repeats the file from the first place where a text stands to its end."""
    return lambda text: text + text[text.index(mark) :]
