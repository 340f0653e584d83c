"""Text of logs: unpacking by content, and the lines of one or several files."""

import bz2
import codecs
import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from hpcsched.errors import Finding, InputError, Place
from hpcsched.paths import open_file


def _zstandard(raw: IO[bytes]) -> io.BufferedReader:
    import pyarrow as pa  # noqa: PLC0415 (it takes its time, and few logs need it)

    return io.BufferedReader(pa.CompressedInputStream(raw, "zstd"))


_UNPACKED: Mapping[bytes, Callable[[IO[bytes]], Any]] = {
    b"\x1f\x8b": lambda raw: gzip.GzipFile(fileobj=raw),
    b"\xfd7zXZ\x00": lzma.LZMAFile,
    b"BZh": bz2.BZ2File,
    b"\x28\xb5\x2f\xfd": _zstandard,
}
"""Readers of compressed files, by their first bytes."""

ENDINGS = (".gz", ".xz", ".bz2", ".zst")
"""Endings of the names of compressed files."""

_OTHERS = {
    b"PK\x03\x04": "a zip archive; unpack it first",
    codecs.BOM_UTF16_LE: "UTF-16; write it as UTF-8 first",
    codecs.BOM_UTF16_BE: "UTF-16; write it as UTF-8 first",
}

LONGEST = 2**20
"""Maximum length of a line in bytes: a file without line ends must not fill the memory."""


@contextmanager
def open_text(path: Path) -> Iterator[tuple[IO[bytes], Any]]:
    """Open a text file, plain or compressed; yield the file, and its unpacked bytes.

    By content, not by name: downloads are often renamed.
    """
    with open_file(path) as raw:
        beginning = raw.read(6)
        raw.seek(0)
        readers = (reader for magic, reader in _UNPACKED.items() if beginning.startswith(magic))
        reader = next(readers, None)
        stream: Any = raw if reader is None else reader(raw)
        start = stream.peek(4)
        for magic, what in _OTHERS.items():
            if start.startswith(magic):
                message = f"expected a text, plain or compressed, found {what}"
                raise InputError(Finding("no-text", message, Place(str(path))))
        if start.startswith(codecs.BOM_UTF8):
            stream.read(len(codecs.BOM_UTF8))
        yield raw, stream


@contextmanager
def reading(path: Path, line: Callable[[], int] | None = None) -> Iterator[None]:
    """Raise InputError in place of the errors of a file that is unreadable or damaged.

    Parameters
    ----------
    line
        Number of the last line that was read.
    """
    try:
        yield
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        # Damage of compressed data is an OSError without a number.
        if isinstance(error, OSError) and error.errno is not None:
            message = f"the trace cannot be read: {error.strerror}"
            finding = Finding("unreadable-trace", message, Place(str(path)))
        else:
            after = "" if line is None else " after this line"
            message = f"expected a whole compressed file, found damage{after}: {error}"
            place = Place(str(path), None if line is None else line())
            finding = Finding("damaged-trace", message, place)
        raise InputError(finding) from None


def read_text(path: Path) -> str:
    """Return a whole text, plain or compressed."""
    with reading(path), open_text(path) as (_, stream):
        begun: bytes = stream.read(8192)
        # A file of zeros must not fill the memory.
        if b"\0" in begun:
            message = "expected a text, found zero bytes"
            raise InputError(Finding("no-text", message, Place(str(path), 1)))
        text: bytes = begun + stream.read()
    return text.decode("utf-8", "replace")


def decoded(text: bytes) -> str:
    """Return a text, in which bytes that are not UTF-8 are escaped."""
    return text.decode("utf-8", "backslashreplace")


class TextLines:
    """Lines of one or several files, read one after the other in constant memory.

    A folder stands for its files in the order of their names, without hidden files and folders.

    Attributes
    ----------
    path
        The file that is being read, to which line numbers refer.
    """

    comments: Sequence[str] = ()

    def __init__(self, path: Path) -> None:
        self.path = path
        self._given = path
        self._raw: IO[bytes] | None = None
        self._bytes_before = 0

    @property
    def files(self) -> Sequence[Path]:
        """Files to read; a path that is no folder is one file, existing or not."""
        if not self._given.is_dir():
            return [self._given]
        with reading(self._given):
            listed = sorted(self._given.iterdir(), key=lambda file: file.name)
        files = [file for file in listed if file.is_file() and not file.name.startswith(".")]
        if not files:
            raise InputError(
                Finding("empty-trace", "the folder holds no file", Place(str(self._given)))
            )
        return files

    @property
    def fraction_read(self) -> float:
        """Fraction of the files that has been read, from 0 to 1."""
        if self._raw is None:
            return 0.0
        whole = sum(file.stat().st_size for file in self.files)
        here = self.path.stat().st_size if self._raw.closed else self._raw.tell()
        return min(1.0, (self._bytes_before + here) / whole) if whole else 1.0

    def records(self) -> Generator[tuple[int, str], None, None]:
        """Yield the number, within its file, and the text of every line that is not blank."""
        self._bytes_before, self._raw = 0, None
        for file in self.files:
            if self._raw is not None:
                self._bytes_before += self.path.stat().st_size
            self.path = file
            yield from self._records_of(file)

    def _records_of(self, file: Path) -> Iterator[tuple[int, str]]:
        number = 0
        with reading(file, lambda: number), open_text(file) as (self._raw, stream):
            # Bounded, since iteration over a file without line ends would read all of it at once.
            while line := stream.readline(LONGEST):
                number += 1
                check_length(line, file, number)
                if line.strip():
                    yield number, decoded(line).rstrip("\r\n")


def check_length(line: bytes, path: Path, number: int) -> None:
    """Raise InputError for a line that is too long to be one of text."""
    if len(line) >= LONGEST:
        message = f"expected lines of text, found a line of {LONGEST} bytes or more"
        raise InputError(Finding("no-text", message, Place(str(path), number)))
