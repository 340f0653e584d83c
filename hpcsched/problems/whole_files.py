"""Files that a reader sees whole or not at all."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hpcsched.errors import InputError
from hpcsched.results.files import problem


@contextmanager
def replacing(path: Path, *, force: bool) -> Iterator[Path]:
    """Give a path to write to; what is there takes the place of `path` at the end, if all is well.

    Raises InputError where something is at `path` already, unless it is a file and `force` is
    given, and where the file cannot be put there.
    """
    check_target(path, force=force)
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
    """Raise InputError unless a file may be written to this path."""
    if path.is_dir():
        raise problem("cannot-write", path, "it is a directory")
    if path.exists() and not force:
        raise problem("file-exists", path, "it is there already; --force replaces it")


def make_folder(path: Path) -> None:
    """Make a folder unless it is there; raises InputError where that cannot be."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise problem("cannot-write", path, "it is a file, not a directory") from None
    except OSError as error:
        raise cannot_write(path, error) from error


def cannot_write(path: Path, error: OSError) -> InputError:
    """Return the error that says why a file cannot be written."""
    return problem("cannot-write", path, f"it cannot be written: {error.strerror or error}")
