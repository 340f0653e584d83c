"""Files that appear whole or not at all."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hpcsched.errors import InputError, flag
from hpcsched.results.files import problem


@contextmanager
def replacing(path: Path, *, force: bool) -> Iterator[Path]:
    """Give a path to write to; the file takes the place of `path` at the end, if all is well.

    Parameters
    ----------
    path
        The file.
    force
        True: replace an existing file.

    Raises
    ------
    InputError
        If `path` exists, or the file cannot be put there.
    """
    check_target(path, force=force)
    # In the same folder, as a rename between file systems is a copy that can be seen half done.
    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        yield unfinished
        try:
            unfinished.replace(path)
        except OSError as error:
            raise cannot_write(path, error) from error
    finally:
        with suppress(OSError):  # it is in place, or was never there
            unfinished.unlink()


def check_target(path: Path, *, force: bool) -> None:
    """Check that a file may be written to this path.

    Raises
    ------
    InputError
        If it may not.
    """
    if path.is_dir():
        raise problem("cannot-write", path, "it is a directory")
    if path.exists() and not force:
        raise problem("file-exists", path, f"it is there already; {flag('force')} replaces it")


def make_folder(path: Path) -> None:
    """Create a folder if it does not exist.

    Raises
    ------
    InputError
        If it cannot be created.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise problem("cannot-write", path, "it is a file, not a directory") from None
    except OSError as error:
        raise cannot_write(path, error) from error


def cannot_write(path: Path, error: OSError) -> InputError:
    """Return the error about a file that cannot be written."""
    return problem("cannot-write", path, f"it cannot be written: {error.strerror or error}")
