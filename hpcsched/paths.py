"""Paths as users give them: expansion, and faults."""

import errno
import os
from pathlib import Path


def given_path(text: str, folder: Path) -> Path:
    """Return the path of a text.

    `~` and `~USER` are expanded; a relative path starts at `folder`.

    Raises
    ------
    ValueError
        If there is no such user, or no file can have the path.
    """
    _check_characters(text)
    try:
        expanded = Path(text).expanduser()
    except RuntimeError:
        user = Path(text).parts[0].removeprefix("~")
        what = f"there is no user {user!r}" if user else "this user has no home directory"
        raise ValueError(f"{what}, with which the path {_shown(text)} begins") from None
    path = os.path.normpath(folder / expanded)
    fault = path_fault(path, text)
    if fault is not None:
        raise ValueError(fault)
    return Path(path)


def path_fault(path: str, text: str | None = None) -> str | None:
    """Return why no file can have a path, which was given as `text`; None if one can."""
    try:
        _check_characters(path)
        os.lstat(path)
    except ValueError as error:
        return str(error)
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            # How long a name and a path may be depends on the file system.
            return too_long(text or path)
    return None


def too_long(path: str) -> str:
    """Return the message about a path, or a name in it, that is too long for the file system."""
    return f"too long a path: {len(os.fsencode(path))} bytes; it begins with {_shown(path)}"


def unreadable(path: str) -> str | None:
    """Return why there is nothing to read at a path; None if there is."""
    try:
        Path(path).stat()  # Path.exists calls what may not be looked at an error, or not there
    except (FileNotFoundError, NotADirectoryError):
        return f"there is no file {path}"
    except OSError as error:
        return f"the file cannot be read: {(error.strerror or str(error)).lower()}: {path}"
    return None


def _check_characters(path: str) -> None:
    """Raise ValueError for a character that no path has."""
    if "\0" in path:
        raise ValueError(f"expected a path without the character U+0000, found {_shown(path)}")


def _shown(text: str) -> str:
    """Return a text for a message, cut if it is long."""
    shown = repr(text)
    return shown if len(shown) <= 60 else f"{shown[:60]}…"
