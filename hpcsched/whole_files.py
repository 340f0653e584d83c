"""Writing of files: a file appears whole or not at all."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hpcsched.errors import FORCE, Finding, InputError, Place


def unfinished_of(path: Path) -> Path:
    """Return the path beside a file at which it is written before it replaces the old one."""
    return path.with_name(f".{path.name}.unfinished")


@contextmanager
def replacing(path: Path, *, force: bool = True) -> Iterator[Path]:
    """Give a path to write to; the file takes the place of `path` at the end, if all is well.

    Otherwise the old file stays, and nothing new.

    Raises InputError if `path` exists, or writing or moving the file fails, as on a full disk.
    """
    check_target(path, force=force)
    # A link stays one. In the target's folder, as a rename between file systems is a copy that can
    # be seen half done.
    target = path.resolve() if path.is_symlink() else path
    unfinished = unfinished_of(target)
    try:
        yield unfinished
        unfinished.replace(target)
    except OSError as error:
        # One that names another file is about what the block reads.
        if error.filename not in (None, unfinished, str(unfinished), target, str(target)):
            raise
        raise cannot_write(path, error) from error
    finally:
        with suppress(OSError):  # it is in place, or was never there
            unfinished.unlink()


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file whole; raises InputError if it cannot be written."""
    if path.exists() and not path.is_file() and not path.is_dir():
        # A device or a pipe, such as /dev/stdout, which a file must not replace.
        try:
            path.write_bytes(content)
        except OSError as error:
            raise cannot_write(path, error) from error
        return
    with replacing(path) as unfinished:
        unfinished.write_bytes(content)


def write_text(path: Path, text: str) -> None:
    """Write a file whole in UTF-8; raises InputError if it cannot be written."""
    write_bytes(path, text.encode())


def check_target(path: Path, *, force: bool) -> None:
    """Raise InputError if a file may not be written to this path."""
    if path.is_dir():
        raise file_error("cannot-write", path, "it is a directory")
    if path.exists() and not force:
        raise file_error("file-exists", path, f"it is there already; {FORCE} replaces it")


def make_folder(path: Path) -> None:
    """Create a folder if it does not exist; raises InputError if it cannot be created."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(path, error) from error


def cannot_write(path: Path, error: OSError | ValueError) -> InputError:
    """Return the error about a file that cannot be written."""
    reason = getattr(error, "strerror", None) or error
    return file_error("cannot-write", path, f"it cannot be written: {reason}")


def file_error(rule: str, path: Path, message: str) -> InputError:
    """Return the error about a file or directory, with the rule that it breaks."""
    return InputError(Finding(rule, message, Place(str(path))))
