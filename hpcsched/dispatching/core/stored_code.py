"""Files of machine code of functions of a state, for later processes."""

import hashlib
import inspect
import json
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from llvmlite import binding

from hpcsched.dispatching.core.code_stamp import stamp_of
from hpcsched.dispatching.core.compile_record import cache_folders, not_kept
from hpcsched.whole_files import share_bytes

_MAKERS = (
    "code_call_types.py",
    "inner_code.py",
    "machine_state.py",
    "state_compiler.py",
    "state_types.py",
)


class ObjectCode(NamedTuple):
    """Machine code before it is loaded.

    Attributes
    ----------
    code
        Object file.
    symbol
        Name of the function in it.
    offsets
        Offset of each field of the state in bytes, and of their end.
    """

    code: bytes
    symbol: str
    offsets: list[int]


def find(function: Callable[..., object], kinds: str) -> ObjectCode | None:
    """Return the stored code of a function; None if there is none that is valid.

    Parameters
    ----------
    function
        The function in Python.
    kinds
        Kinds of the state's fields.

    Returns
    -------
    ObjectCode | None
        Code made from the present sources on this machine.
    """
    for folder in cache_folders(inspect.getfile(function)):
        with suppress(OSError):
            made = unpacked((folder / _name(function, kinds)).read_bytes(), function)
            if made is not None:
                return made
    return None


def keep(function: Callable[..., object], kinds: str, made: ObjectCode) -> None:
    """Store the code of a function, if a folder is writable.

    Parameters
    ----------
    function
        The function in Python.
    kinds
        Kinds of the state's fields.
    made
        Its code.
    """
    content = packed(function, made)
    for folder in cache_folders(inspect.getfile(function)):
        with suppress(OSError):
            share_bytes(folder / _name(function, kinds), content)
            return
    not_kept()


def packed(function: Callable[..., object], made: ObjectCode) -> bytes:
    """Return the code of a function and the stamp of its sources as file content."""
    about = {
        "made_from": _made_from(function),
        "digest": _digest(made.code),
        "symbol": made.symbol,
        "offsets": made.offsets,
    }
    return json.dumps(about).encode() + b"\n" + made.code


def unpacked(content: bytes, function: Callable[..., object]) -> ObjectCode | None:
    """Return the code from file content; None if it is damaged or of other sources.

    Parameters
    ----------
    content
        Content of a file, as of `packed`.
    function
        The function in Python.

    Returns
    -------
    ObjectCode | None
        The code.
    """
    try:
        first, code = content.split(b"\n", 1)
        about = json.loads(first)
        if about["made_from"] == _made_from(function) and about["digest"] == _digest(code):
            return ObjectCode(code, about["symbol"], about["offsets"])
    except (ValueError, TypeError, KeyError):
        pass
    return None


def _name(function: Callable[..., object], kinds: str) -> str:
    """Return the file name, distinct for each module, kind of state and processor."""
    triple, cpu, features = binding.get_process_triple(), *_processor()
    parts = inspect.getfile(function), kinds, triple, cpu, features, sys.implementation.cache_tag
    module = function.__module__.rpartition(".")[2]
    return f"{module}.{function.__name__}-{_digest(repr(parts).encode())[:24]}.code"


def _processor() -> tuple[str, str]:
    """Return name and features of the processor, unless numba is configured for another."""
    cpu = os.environ.get("NUMBA_CPU_NAME") or binding.get_host_cpu_name()
    features = os.environ.get("NUMBA_CPU_FEATURES")
    return cpu, binding.get_host_cpu_features().flatten() if features is None else features


def _made_from(function: Callable[..., object]) -> dict[str, Any]:
    """Return versions and digests of everything that determines the code."""
    makers = b"".join(Path(__file__).with_name(name).read_bytes() for name in _MAKERS)
    return {
        "sources": stamp_of(function),
        "makers": _digest(makers),
        "numba": metadata.version("numba"),
        "llvmlite": metadata.version("llvmlite"),
        "numpy": np.__version__,
    }


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
