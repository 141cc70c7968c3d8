"""The one door to numba: compiled kernels, typed, cached in a folder that follows the source."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, Protocol, TypeVar, cast

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)


def _cache_folder() -> Path:
    """Name the folder after the kernels' source: numba does not notice an edit in a *called* kernel."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    for root in (Path(base).expanduser(), Path(tempfile.gettempdir()) / f"weftline-{os.getuid()}"):
        folder = root / "weftline" / "numba" / digest.hexdigest()[:16]
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError:
            continue
        if _is_private(root) and os.access(folder, os.W_OK):
            return folder
    return Path(tempfile.mkdtemp(prefix="weftline-numba-"))


def _is_private(root: Path) -> bool:
    """Tell whether nobody else can plant code: the cache holds pickles, and a temporary folder is everyone's."""
    status = root.stat()
    return status.st_uid == os.getuid() and not status.st_mode & 0o022


if "NUMBA_CACHE_DIR" not in os.environ:
    os.environ["NUMBA_CACHE_DIR"] = str(_cache_folder())

import numba as nb  # noqa: E402  (the cache folder must be set first)
from numba.core import cgutils as numba_cgutils  # noqa: E402
from numba.core import types as numba_types  # noqa: E402
from numba.extending import intrinsic  # noqa: E402

cgutils: Any = numba_cgutils
ir: Any = cgutils.ir
types: Any = numba_types


class Kernel(Protocol[P, R_co]):
    """A compiled function that keeps the signature of its source."""

    py_func: Callable[..., object]

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        """Run the compiled code."""
        ...


def kernel(function: Callable[P, R_co]) -> Kernel[P, R_co]:
    """Compile a function of arrays and numbers; with ``NUMBA_DISABLE_JIT`` it stays plain Python."""
    return _compile(function, cache=True)


def lean_kernel(function: Callable[P, R_co]) -> Kernel[P, R_co]:
    """Compile a function that makes no array; nobody counts references to those that it is given.

    Counting takes a locked instruction for every array that is passed on, several times what a short event takes.
    """
    return _compile(function, cache=True, _nrt=False)


def inlined(function: Callable[P, R_co]) -> Kernel[P, R_co]:
    """Compile a function into each lean kernel that calls it, since a call passes every array by its nine parts."""
    return _compile(function, inline="always", _nrt=False)


def _compile(function: Callable[P, R_co], **options: object) -> Kernel[P, R_co]:
    compiled = cast("Any", nb.njit)(nogil=True, error_model="numpy", **options)(function)
    if not hasattr(compiled, "py_func"):
        compiled.py_func = function
    return cast("Kernel[P, R_co]", compiled)


FOR_READING_AND_WRITING = 1
SOON = 3
"""Keep the line in every cache: it is used within a few events."""
IS_DATA = 1


def _fetch_row(_typing: Any, array: Any, row: Any) -> Any:
    if not isinstance(array, types.Array) or array.ndim != 1 or not isinstance(row, types.Integer):
        return None

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        kind = signature.args[0]
        struct = context.make_array(kind)(context, builder, value=values[0])
        index = context.cast(builder, values[1], signature.args[1], types.intp)
        (step,) = cgutils.unpack_tuple(builder, struct.strides)
        place = cgutils.pointer_add(builder, struct.data, builder.mul(index, step))
        word = cgutils.voidptr_t
        number: Any = cgutils.int32_t
        shape = ir.FunctionType(ir.VoidType(), [word, number, number, number])
        hint = builder.module.declare_intrinsic("llvm.prefetch", (word,), shape)
        builder.call(
            hint, [builder.bitcast(place, word), number(FOR_READING_AND_WRITING), number(SOON), number(IS_DATA)]
        )
        return context.get_dummy_value()

    return types.void(array, row), generate


def _fetch_nothing(_array: Any, _row: Any) -> None:
    """Plain Python has nobody to hint to."""


fetch_row: Callable[[Any, int], None] = (
    _fetch_nothing if cast("Any", nb).config.DISABLE_JIT else cast("Any", intrinsic)(_fetch_row)
)
"""Begin to load the cache line where a row of a one-dimensional array begins; a hint that changes no value.

Source: LLVM Language Reference, ``llvm.prefetch``. Nothing with ``NUMBA_DISABLE_JIT``.
"""
