"""Stamp of all sources that the machine code of a function depends on, without importing numba."""

import hashlib
import inspect
from collections.abc import Callable
from pathlib import Path

from hpcsched.dispatching.core.compiled import Compiled


def callees(function: Callable[..., object]) -> set[Callable[..., object]]:
    """Return the compiled functions that a function may call, in Python."""
    named = map(function.__globals__.get, function.__code__.co_names)
    return {value.py_func for value in named if isinstance(value, Compiled)}


def stamp_of(function: Callable[..., object]) -> str:
    """Return a digest of all sources that the machine code of a function contains.

    These are the files of all functions that it calls, and the constants that these use.

    Parameters
    ----------
    function
        The function that Python calls.

    Returns
    -------
    str
        SHA-256 digest in hexadecimal.
    """
    found, seen, constants = [function], {function}, set()
    while found:
        function = found.pop()
        new = callees(function) - seen
        seen |= new
        found += new
        for name in function.__code__.co_names:
            value = function.__globals__.get(name)
            if isinstance(value, int | float | str | tuple):
                constants.add(f"{name}={value!r}")
    digest = hashlib.sha256("\n".join(sorted(constants)).encode())
    for path in sorted({inspect.getfile(function) for function in seen}):
        digest.update(Path(path).read_bytes())
    return digest.hexdigest()
