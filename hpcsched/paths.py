"""Paths given by users: expansion, and messages about unusable ones."""

import errno
import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import IO

MIB = 2**20
MOST_TEXT = 256
"""Maximum size in MiB of a text file that is held in memory as a whole."""


def given_path(text: str, folder: Path) -> Path:
    """Return the absolute path for a text that a user gave.

    Raises ValueError if the user of `~USER` does not exist, or no file can have the path.
    """
    if "\0" in text:
        raise ValueError(f"expected a path without the character U+0000, found {_shown(text)}")
    try:
        expanded = Path(text).expanduser()
    except RuntimeError:
        user = Path(text).parts[0].removeprefix("~")
        what = f"there is no user {user!r}" if user else "this user has no home directory"
        raise ValueError(f"{what}, with which the path {_shown(text)} begins") from None
    # `Path.resolve` would follow symbolic links, and messages would show paths unknown to the user.
    # Removes `..` textually.
    path = Path(os.path.normpath(folder / expanded))
    try:
        # A link that leads nowhere is a possible path, and its target is looked at when read.
        path.lstat()
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            # How long a name and a path may be depends on the file system.
            raise ValueError(too_long(text)) from None
    return path


def too_long(path: str) -> str:
    """Return the message about a path that is too long for the file system."""
    return f"too long a path: {len(os.fsencode(path))} bytes; it begins with {_shown(path)}"


FileState = tuple[int, int, int]
"""What changes where a file is written anew: inode, size in bytes, and time in nanoseconds."""


def file_state(path: Path) -> FileState:
    """Return the state of a file; raises OSError if there is none."""
    state = path.stat()
    return state.st_ino, state.st_size, state.st_mtime_ns


def unreadable(path: str) -> str | None:
    """Return a message if there is no readable file at a path, else None."""
    try:
        Path(path).stat()  # Path.exists calls what may not be looked at an error, or not there
    except (FileNotFoundError, NotADirectoryError):
        return f"there is no file {path}"
    except OSError as error:
        return f"the file cannot be read: {(error.strerror or str(error)).lower()}: {path}"
    return None


def open_file(path: Path) -> IO[bytes]:
    """Open a file for reading; raises OSError for a pipe or a device, which may have no end."""
    mode = path.stat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        found = "a pipe" if stat.S_ISFIFO(mode) else "a device"
        raise OSError(
            errno.EINVAL, f"expected a file, found {found}; write its content into a file"
        )
    return path.open("rb")


def read_file(path: Path, most: int = MOST_TEXT) -> bytes:
    """Return the content of a file; raises OSError if there is none of at most `most` MiB."""
    with open_file(path) as file:
        content = file.read(most * MIB + 1)
    if len(content) > most * MIB:
        raise OSError(errno.EFBIG, f"expected at most {most} MiB, found more")
    return content


def _shown(text: str) -> str:
    shown = repr(text)
    return shown if len(shown) <= 60 else f"{shown[:60]}…"


_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


_OWN = "HPCSCHED_"
"""Begin of the names of variables that scenarios may use."""


def expand_variables(text: str, environment: Mapping[str, str]) -> str:
    """Replace every `${VAR}` in a path by its value; one that is unset or empty stays.

    Raises ValueError for a variable whose name does not begin with `HPCSCHED_`: a scenario of
    somebody else must not show or write down just any variable.

    Examples
    --------
    >>> expand_variables("${HPCSCHED_TRACES}/a.swf", {"HPCSCHED_TRACES": "/home/ada"})
    '/home/ada/a.swf'
    """
    for name in unset_variables(text):
        if not name.startswith(_OWN):
            message = f"expected a variable whose name begins with {_OWN}, found ${{{name}}}"
            raise ValueError(message)
    return _VARIABLE.sub(lambda match: environment.get(match[1]) or match[0], text)


def unset_variables(path: str) -> list[str]:
    """Return the names of the variables that are still in a path."""
    return _VARIABLE.findall(path)
