"""Unpacking of logs: gzip, xz, bzip2 and Zstandard, recognised by content."""

import bz2
import codecs
import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Mapping
from typing import IO

from hpcsched.errors import Finding, InputError, Place
from hpcsched.paths import MIB

DAMAGE = (EOFError, zlib.error, gzip.BadGzipFile, lzma.LZMAError)
"""What the reader of a compressed file raises where the file is cut off or damaged."""

_MOST_WHOLE = 512
"""Maximum size in MiB, unpacked, of a log that is held in memory as a whole."""

_MOST_WINDOW = 256
"""Maximum memory in MiB for unpacking xz; its largest preset takes 65."""

_LOOKED_AT = 8192
_ZIP = b"PK\x03\x04"


class _Unpacked(io.RawIOBase):
    """Unpacked bytes of a stream; damage is an OSError without a number.

    Damage is raised as EOFError; an OSError is one of the disk.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        super().__init__()
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview") -> int:  # type: ignore[override]
        """Fill a buffer, and return the number of bytes; 0 at the end."""
        try:
            piece = self._stream.read(len(buffer))
        except OSError as error:
            if error.errno is None:
                raise EOFError(str(error)) from None
            raise
        buffer[: len(piece)] = piece
        return len(piece)


class _Xz(io.RawIOBase):
    """Unpacked bytes of xz; damage, and a window above the limit, are an LZMAError or EOFError."""

    def __init__(self, raw: IO[bytes]) -> None:
        super().__init__()
        self._raw = raw
        self._decoder = lzma.LZMADecompressor(memlimit=_MOST_WINDOW * MIB)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview") -> int:  # type: ignore[override]
        """Fill a buffer, and return the number of bytes; 0 at the end."""
        while True:
            packed = b""
            if self._decoder.eof:  # another stream may follow, behind zero bytes
                packed = self._decoder.unused_data.lstrip(b"\0")
                while not packed and (piece := self._raw.read(_LOOKED_AT)):
                    packed = piece.lstrip(b"\0")
                if not packed:
                    return 0
                self._decoder = lzma.LZMADecompressor(memlimit=_MOST_WINDOW * MIB)
            elif self._decoder.needs_input:
                packed = self._raw.read(_LOOKED_AT)
                if not packed:
                    raise EOFError("it ends before its end mark")
            piece = self._decoder.decompress(packed, len(buffer))
            if piece:
                buffer[: len(piece)] = piece
                return len(piece)


def _bzip2(raw: IO[bytes]) -> io.BufferedIOBase:
    return io.BufferedReader(_Unpacked(bz2.BZ2File(raw)))


def _zstandard(raw: IO[bytes]) -> io.BufferedIOBase:
    # Of the packages that are required anyway, Arrow reads it; Python does from 3.14 on.
    import pyarrow as pa  # noqa: PLC0415 (a log of another kind needs none of it)

    packed = pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), "zstd")
    return io.BufferedReader(_Unpacked(packed))


_READERS: Mapping[bytes, Callable[[IO[bytes]], io.BufferedIOBase]] = {
    b"\x1f\x8b": lambda raw: gzip.GzipFile(fileobj=raw),
    b"\xfd7zXZ\x00": lambda raw: io.BufferedReader(_Xz(raw)),
    b"BZh": _bzip2,
    b"\x28\xb5\x2f\xfd": _zstandard,
}
"""Readers by the first bytes of a file."""

ENDINGS = (".gz", ".xz", ".bz2", ".zst")
"""Endings of the names of compressed files."""


def unpacked(raw: IO[bytes]) -> io.BufferedIOBase:
    """Return the bytes of a file, unpacked if it is compressed.

    Raises
    ------
    InputError
        If it is a zip archive, which may hold several files.
    """
    # By content, not by name: downloads are often renamed.
    beginning = raw.read(6)
    raw.seek(0)
    if beginning.startswith(_ZIP):
        message = "expected a log, plain or compressed, found a zip archive; unpack it first"
        raise InputError(Finding("archive", message, Place(str(getattr(raw, "name", "")))))
    for magic, reader in _READERS.items():
        if beginning.startswith(magic):
            return reader(raw)
    return raw  # type: ignore[return-value]


def whole_text(stream: io.BufferedIOBase, first: bytes, path: str) -> bytes:
    """Return all bytes of a text that is held in memory as a whole.

    Of a text that begins otherwise, only the beginning is returned: enough for the error of its
    reader, without the memory for a file of zeros.

    Parameters
    ----------
    first
        First character of the text that is not blank.

    Raises
    ------
    InputError
        If the text has more than 512 MiB.
    """
    begun = stream.read(_LOOKED_AT)
    if not begun.removeprefix(codecs.BOM_UTF8).lstrip().startswith(first):
        return begun
    text = begun + stream.read(_MOST_WHOLE * MIB + 1 - len(begun))
    if len(text) > _MOST_WHOLE * MIB:
        message = f"expected at most {_MOST_WHOLE} MiB of JSON, found more"
        raise InputError(Finding("too-large", message, Place(path)))
    return text
