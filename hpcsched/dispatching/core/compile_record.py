"""Folders of compiled code, and a record of how long compiling took on this machine."""

import grp
import json
import logging
import os
import pwd
import stat
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

    Those that others can write are left out: whoever writes code there has it run.

    Parameters
    ----------
    module_file
        File of the module that is compiled.
    """
    named = os.environ.get("NUMBA_CACHE_DIR")
    if named and is_private(Path(named), module_file):
        yield Path(named)
        with suppress(OSError):
            Path(named).mkdir(parents=True, exist_ok=True)
        if Path(named).is_dir() and os.access(named, os.W_OK):
            return
    places = [Path(module_file).parent / "__pycache__"]
    with suppress(RuntimeError):  # this user has no home
        at_home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        places.append(Path(at_home, "hpcsched"))
    yield from (place for place in places if is_private(place, module_file))


def is_private(folder: Path, module_file: str) -> bool:
    """Return True if only those can put code into a folder who can change the module; or warn.

    A folder with the sticky bit may lie above, as `/tmp`: what is in it belongs to its maker.
    """
    beside, folder = Path(module_file).resolve().parent, folder.resolve()
    # The last is root, which has another number within a container.
    trusted = {0, os.getuid(), _status(beside).st_uid, _status(Path("/")).st_uid}
    for place in (folder, *folder.parents):
        if place in (beside, *beside.parents):
            break
        status = _status(place)
        if place != folder and status.st_mode & stat.S_ISVTX:
            shared = False
        else:
            by_group = status.st_mode & stat.S_IWGRP and not _may_change(beside, status.st_gid)
            shared = bool(status.st_mode & stat.S_IWOTH or by_group)
        if shared or status.st_uid not in trusted:
            _not_private(folder, place)
            return False
    return True


def _status(path: Path) -> os.stat_result:
    """Return the status of a folder; one that is not there is this user's alone."""
    try:
        return path.stat()
    except OSError:
        return os.stat_result((stat.S_IFDIR, 0, 0, 0, os.getuid(), os.getgid(), 0, 0, 0, 0))


def _may_change(beside: Path, group: int) -> bool:
    """Return True if a group is this user's own, or can write beside the module."""
    status = _status(beside)
    if status.st_mode & stat.S_IWGRP and status.st_gid == group:
        return True
    try:
        name = grp.getgrgid(group).gr_name
        return name == pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return False


@cache
def _not_private(folder: Path, place: Path) -> None:
    """Warn, once in a process and folder, that it is not used."""
    _log.warning(
        "compiled code in %s is neither used nor kept: other users can write %s", folder, place
    )


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
