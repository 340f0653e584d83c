"""Reader of the lines of a Standard Workload Format file, plain or gzip, in constant memory."""

import gzip
import io
import zlib
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import IO

from hpcsched.errors import Finding, InputError, Place
from hpcsched.workload.readers.policies import UnusableError

GZIP_MAGIC = b"\x1f\x8b"

PIECE = 8192
"""Bytes unpacked at a time; the part of a piece before damage is lost."""


class SwfLines:
    """Lines of a file, read from the first to the last without holding it in memory.

    Parameters
    ----------
    path
        The file, plain or gzip.

    Attributes
    ----------
    comments
        Header comments: `;` lines before the first record.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.comments: list[str] = []
        self._raw: IO[bytes] | None = None
        self._size = 0

    @property
    def fraction_read(self) -> float:
        """Fraction of the file that has been read, from 0 to 1."""
        if self._raw is None or not self._size:
            return 0.0
        return 1.0 if self._raw.closed else self._raw.tell() / self._size

    def records(self) -> Generator[tuple[int, bytes], None, None]:
        """Yield the number and text of every line that is neither blank nor a comment.

        Lines come without their end.

        Raises
        ------
        InputError
            If the file cannot be read or is damaged.
        """
        number = 0
        in_header = True
        self.comments = []
        try:
            with self.path.open("rb") as raw:
                self._raw, self._size = raw, self.path.stat().st_size
                # By content, not by name: downloads are often renamed.
                packed = raw.read(2) == GZIP_MAGIC
                raw.seek(0)
                stream = gzip.GzipFile(fileobj=raw) if packed else raw
                for number, line in enumerate(_lines(stream), 1):
                    if line[:1] == b";":
                        if in_header:
                            self.comments.append(line[1:].decode("utf-8", "replace").strip())
                    elif line.strip():
                        in_header = False
                        yield number, line
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise InputError(
                Finding(
                    "damaged-trace",
                    f"expected a whole gzip file, found damage after this line: {error}",
                    Place(str(self.path), number),
                )
            ) from None
        except OSError as error:
            raise InputError(
                Finding(
                    "unreadable-trace",
                    f"the trace cannot be read: {error.strerror or error}",
                    Place(str(self.path)),
                )
            ) from None


def _lines(stream: io.BufferedIOBase) -> Iterator[bytes]:
    """Yield the lines of a stream, without their ends."""
    begun: list[bytes] = []
    while piece := stream.read1(PIECE):
        before, end, after = piece.rpartition(b"\n")
        if end:
            yield from b"".join((*begun, before)).split(b"\n")
            begun = []
        begun.append(after)
    if last := b"".join(begun):
        yield last


def wait_time(line: bytes) -> int:
    """Return the wait time of a record (field 3), in seconds; -1 if missing.

    Raises
    ------
    UnusableError
        If the field is no whole number.
    """
    field = line.split(None, 3)[2]
    try:
        return int(field)
    except ValueError as error:
        raise UnusableError("malformed", f"expected a whole wait time: {error}") from None
