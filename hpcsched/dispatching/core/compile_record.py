"""Folders of compiled code, and a record of how long compiling took on this machine."""

import json
import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from hpcsched.whole_files import share_bytes

_log = logging.getLogger(__name__)

RECORD = "compile-seconds.json"
"""File beside compiled code: real seconds by the names of the functions compiled at once."""


def cache_folders(module_file: str = __file__) -> Iterator[Path]:
    """Yield folders for code: by environment variable, beside the module, or at home.

    Parameters
    ----------
    module_file
        File of the module that is compiled.
    """
    named = os.environ.get("NUMBA_CACHE_DIR")
    if named:
        yield Path(named)
        with suppress(OSError):
            Path(named).mkdir(parents=True, exist_ok=True)
        if Path(named).is_dir() and os.access(named, os.W_OK):
            return
    yield Path(module_file).parent / "__pycache__"
    with suppress(RuntimeError):  # this user has no home
        at_home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        yield Path(at_home, "hpcsched")


@cache
def not_kept() -> None:
    """Warn, once in a process, that compiled code cannot be kept for later ones."""
    tried = ", ".join(map(str, cache_folders()))
    _log.warning(
        "compiled code cannot be kept, so that each command compiles it anew: none of these"
        " folders can be written: %s; set NUMBA_CACHE_DIR to one that can",
        tried,
    )


def expected_seconds(names: Sequence[str]) -> float | None:
    """Return how long functions took to compile the last time on this machine, in real seconds.

    Parameters
    ----------
    names
        Names of the functions, which are compiled at once.

    Returns
    -------
    float | None
        Seconds; None if they have not been compiled here before.
    """
    for folder in cache_folders():
        seconds = _read(folder / RECORD).get(_key(names))
        if seconds is not None:
            return seconds
    return None


def record_seconds(names: Sequence[str], seconds: float) -> None:
    """Record how long functions took to compile, if a folder is writable.

    Parameters
    ----------
    names
        Names of the functions, which were compiled at once.
    seconds
        Real seconds.
    """
    for folder in cache_folders():
        record = _read(folder / RECORD) | {_key(names): round(seconds, 1)}
        with suppress(OSError):
            share_bytes(folder / RECORD, json.dumps(record).encode())
            return


def _key(names: Sequence[str]) -> str:
    return " ".join(sorted(names))


def _read(path: Path) -> dict[str, float]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(content, dict):
        return {}
    return {key: float(value) for key, value in content.items() if isinstance(value, int | float)}
