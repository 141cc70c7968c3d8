"""Management keys read from the files that the declaration names, at deployment and at no other time."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from weftline.app.check import Checked, problems_error
from weftline.errors import Place, Problem
from weftline.model.secret import Secret

MAX_BYTES = 64
FORM = re.compile(rb"0x[0-9a-fA-F]{16}\s*")
DEFAULTS = frozenset({0, 1, 0xFFFFFFFFFFFFFFFF})
"""No key at all, the key that OpenSM has from the factory, and all ones."""
OTHERS = 0o077
"""Rights of anybody but the owner."""


def read_secrets(checked: Checked) -> tuple[Secret, ...]:
    """Read every declared key; each file is judged as it was opened, so that it cannot be exchanged in between.

    Raises:
        SpecError: ``spec.key-file`` or ``spec.key-value``, with every problem that was found; never with a value.
    """
    keys = checked.design.spec.infiniband.keys
    folder = checked.workspace.declaration.parent
    secrets: list[Secret] = []
    problems: list[Problem] = []
    for name in type(keys).model_fields:
        path = getattr(keys, name)
        if not name.endswith("_file") or path is None:
            continue
        where = checked.design.places.get(f"infiniband.keys.{name}")
        found = _read_one(name.removesuffix("_file"), folder, Path(path), where)
        if isinstance(found, Problem):
            problems.append(found)
        else:
            secrets.append(found)
    if problems:
        raise problems_error(tuple(problems))
    return tuple(secrets)


def _read_one(name: str, folder: Path, path: Path, where: Place | None) -> Secret | Problem:
    hint = f"chmod 600 {path}, and own it"
    try:
        real = (folder / path).resolve(strict=True)
        if not path.is_absolute() and not real.is_relative_to(folder.resolve()):
            message = f"{path} leads out of the folder of the declaration, to {real}"
            return Problem("spec.key-file", message, "give the absolute path of the file itself", where)
        if path.is_absolute() and real != Path(os.path.normpath(path)):
            message = f"{path} leads through a link to {real}"
            return Problem("spec.key-file", message, "give the path of the file itself", where)
        handle = os.open(real, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "it cannot be followed"
        return Problem("spec.key-file", f"{path}, which holds {name}, cannot be read: {reason}", hint, where)
    try:
        why = _judge_file(os.fstat(handle))
        if why:
            return Problem("spec.key-file", f"{path}, which holds {name}, {why}", hint, where)
        data = os.read(handle, MAX_BYTES + 1)
    finally:
        os.close(handle)
    return _judge_value(name, path, data, where)


def _judge_file(found: os.stat_result) -> str:
    """Say why a file cannot hold a secret; empty where it can."""
    if not stat.S_ISREG(found.st_mode):
        return "is no ordinary file"
    if found.st_uid != os.geteuid():
        return f"belongs to user {found.st_uid}, and user {os.geteuid()} reads it"
    if found.st_mode & OTHERS:
        return f"has mode {stat.S_IMODE(found.st_mode):04o}, so that others than its owner may read or change it"
    return ""


def _judge_value(name: str, path: Path, data: bytes, where: Place | None) -> Secret | Problem:
    hint = "make one: (umask 077; printf '0x%s\\n' $(od -An -N8 -tx8 /dev/urandom) > FILE)"
    if not FORM.fullmatch(data):
        message = f"{path}, which holds {name}, is not 0x and 16 hexadecimal digits"
        return Problem("spec.key-value", message, hint, where)
    value = int(data, 16)
    if value in DEFAULTS:
        return Problem("spec.key-value", f"{name} in {path} is a value that everybody knows", hint, where)
    return Secret(name, f"0x{value:016x}")
