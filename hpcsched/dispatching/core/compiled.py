"""Functions that are compiled to machine code by numba.

Import modules that hold such functions only where they are called: numba takes time to import.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

_Function = TypeVar("_Function", bound=Callable[..., object])


def compiled(signature: str | None = None) -> Callable[[_Function], _Function]:
    """Return a decorator that compiles a function for arguments of these numba types.

    What is compiled is kept beside the module, or else in the user's cache folder, and found there
    by the next process; where neither can be written, each process compiles for itself. Without a
    signature it is compiled for what it is called with. While it runs, other threads run as well.
    """

    def compile_function(function: _Function) -> _Function:
        try:
            return cast(_Function, njit(signature, cache=True, nogil=True)(function))
        except RuntimeError:  # there is no place for a cache
            return cast(_Function, njit(signature, nogil=True)(function))

    return compile_function


def is_compiled(function: Any) -> bool:
    """Say whether a function has been compiled, here or by a process before.

    Such a one has left it in the cache, unless the function has changed since.
    """
    if function.signatures:
        return True
    # Numba tells of what it finds there only once a function is called.
    file = getattr(function._cache, "_cache_file", None)
    return file is not None and bool(file._load_index())
