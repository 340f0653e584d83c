"""Text of logs: unpacking by content, encodings, and the lines of one or several files."""

import bz2
import codecs
import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Literal

from hpcsched.errors import Finding, InputError, Place
from hpcsched.paths import MIB, open_file
from hpcsched.workload.readers.policies import UnusableError

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
    """Return the bytes of a file, unpacked if it is compressed."""
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
    """
    begun = stream.read(_LOOKED_AT)
    if not begun.removeprefix(codecs.BOM_UTF8).lstrip().startswith(first):
        return begun
    text = begun + stream.read(_MOST_WHOLE * MIB + 1 - len(begun))
    if len(text) > _MOST_WHOLE * MIB:
        message = f"expected at most {_MOST_WHOLE} MiB of JSON, found more"
        raise InputError(Finding("too-large", message, Place(path)))
    return text


PIECE = 8192
"""Bytes read at a time; the part of a piece before damage is lost."""

MARK = "\udcff"
"""Character in place of undecodable bytes; no decoded text has it."""

_MARKING = "hpcsched.mark"
_UTF_8 = "utf-8"
_UTF_16 = codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE

Undecodable = Literal["error", "skip", "replace"]


def _mark(error: UnicodeError) -> tuple[str, int]:
    """Return the mark for undecodable bytes, and where decoding goes on."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return MARK, error.end


codecs.register_error(_MARKING, _mark)


class TextEncoding:
    """Encoding of a log, and the policy for bytes that are not of it.

    Parameters
    ----------
    undecodable
        Policy for a record with bytes that are not of the encoding.

    Attributes
    ----------
    replaced
        Whether bytes were replaced since this was last set to False.
    """

    def __init__(self, name: str = _UTF_8, undecodable: Undecodable = "error") -> None:
        self.policy = undecodable
        self.replaced = False
        self._name = name
        # Lines can be told apart as bytes only where ASCII stands for itself.
        self._recodes = not _extends_ascii(name)
        self._of_lines = _UTF_8 if self._recodes else name
        self._is_utf_8 = codecs.lookup(self._of_lines).name == _UTF_8

    def stream(self, raw: IO[bytes]) -> io.BufferedIOBase:
        """Return the bytes of a file, plain or compressed, with line feeds as the ends of lines.

        The bytes are UTF-8 if the encoding does not extend ASCII, as UTF-16 does not.
        """
        stream = unpacked(raw)
        if self._recodes:
            name = getattr(raw, "name", "the log")
            stream = io.BufferedReader(_Recoded(stream, self._name, name))
        # Every kind of stream that is unpacked can be looked into, which Python's types do not say.
        beginning: bytes = stream.peek(PIECE)  # type: ignore[attr-defined]
        # The last byte left out: a line feed may follow it. Text has no zero bytes.
        if b"\r" in beginning[:-1] and not {0, 10} & set(beginning):
            return io.BufferedReader(_WithLineFeeds(stream))
        return stream

    def without_mark(self, line: bytes, path: Path) -> bytes:
        """Return the first line of a file without the mark that says UTF-8."""
        if line.startswith(_UTF_16) and not self._recodes:
            message = (
                f"expected lines of {self._name} text, found UTF-16; 'encoding: utf-16' of the"
                " trace source reads it"
            )
            raise InputError(Finding("no-text", message, Place(str(path), 1)))
        return line.removeprefix(codecs.BOM_UTF8)

    def utf8(self, line: bytes) -> bytes:
        """Return a line of the stream in UTF-8."""
        if line.isascii():
            return line
        try:
            text = line.decode(self._of_lines)
        except UnicodeDecodeError as error:
            self.refuse(f"found the byte 0x{line[error.start]:02x}")
            text = line.decode(self._of_lines, "replace")
        else:
            if self._is_utf_8:
                return line
        return text.encode()

    def refuse(self, found: str) -> None:
        """Note that bytes of a record are replaced."""
        if self.policy != "replace":
            raise UnusableError(
                "undecodable",
                f"expected {self._name} text, {found}; 'encoding' of the trace source names the"
                " encoding of the log, such as latin-1",
            )
        self.replaced = True

    def header(self, line: bytes, place: Place) -> bytes:
        """Return a line of a header, without which no record can be read, in UTF-8."""
        try:
            return self.utf8(line)
        except UnusableError as error:
            raise InputError(Finding("undecodable", str(error), place)) from None

    def comment(self, line: bytes) -> str:
        """Return a comment, in which undecodable bytes are replaced: it is no record."""
        return line.decode(self._of_lines, "replace").strip()

    def marked(self, text: bytes) -> str:
        """Return the text of a whole stream, with `MARK` in place of undecodable bytes."""
        return text.decode(self._of_lines, _MARKING).removeprefix("\ufeff")


class _WithLineFeeds(io.RawIOBase):
    """Stream with line feeds in place of the carriage returns that end the lines of another."""

    def __init__(self, stream: io.BufferedIOBase) -> None:
        super().__init__()
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview") -> int:  # type: ignore[override]
        """Fill a buffer, and return the number of bytes; 0 at the end."""
        piece = self._stream.read(len(buffer)).replace(b"\r", b"\n")
        buffer[: len(piece)] = piece
        return len(piece)


class _Recoded(io.RawIOBase):
    """Stream in UTF-8 of a stream in another encoding.

    Undecodable bytes become the byte 0xff, which is none of UTF-8. Raises InputError where no
    text can be told, such as in UTF-16 without a mark.
    """

    def __init__(self, stream: io.BufferedIOBase, encoding: str, path: str) -> None:
        super().__init__()
        self._encoding, self._path = encoding, path
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder(encoding)(_MARKING)
        self._left = b""
        self._ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview") -> int:  # type: ignore[override]
        """Fill a buffer, and return the number of bytes; 0 at the end."""
        while not self._left and not self._ended:
            piece = self._stream.read(PIECE)
            self._ended = not piece
            try:
                text = self._decoder.decode(piece, self._ended)
            # Such as UTF-16 without the mark that says which byte of a letter is first.
            except UnicodeError as error:
                message = f"expected {self._encoding} text, found other bytes: {error}"
                raise InputError(Finding("no-text", message, Place(self._path, 1))) from None
            self._left = text.encode(_UTF_8, "surrogateescape")
        count = min(len(buffer), len(self._left))
        buffer[:count], self._left = self._left[:count], self._left[count:]
        return count


def _extends_ascii(name: str) -> bool:
    ascii_bytes = bytes(range(128))
    try:
        return ascii_bytes.decode(name) == ascii_bytes.decode("ascii")
    except UnicodeError:
        return False


LONGEST = 2**20
"""Maximum length of a line in bytes: a file without line ends must not fill the memory."""


class TextLines:
    """Lines of one or several files, read one after the other in constant memory.

    A folder stands for its files in the order of their names, without hidden files and folders.

    Parameters
    ----------
    encoding
        Encoding of the files; UTF-8 if not given.

    Attributes
    ----------
    path
        The file that is being read, to which line numbers refer.
    """

    def __init__(self, path: Path, encoding: TextEncoding | None = None) -> None:
        self.path = path
        self.encoding = encoding or TextEncoding()
        self.comments: list[str] = []
        self._given = path
        self._raw: IO[bytes] | None = None
        self._bytes_before = 0

    @property
    def files(self) -> Sequence[Path]:
        """Files to read; a path that is no folder is one file, existing or not."""
        if not self._given.is_dir():
            return [self._given]
        try:
            listed = sorted(self._given.iterdir(), key=lambda file: file.name)
        except OSError as error:
            raise self._unreadable(self._given, error) from None
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

    def records(self) -> Generator[tuple[int, bytes], None, None]:
        """Yield the number, within its file, and the text of every line that is not blank."""
        self._bytes_before, self._raw = 0, None
        for file in self.files:
            if self._raw is not None:
                self._bytes_before += self.path.stat().st_size
            self.path = file
            yield from self._records_of(file)

    def _records_of(self, file: Path) -> Iterator[tuple[int, bytes]]:
        number = 0
        try:
            with open_file(file) as raw:
                self._raw = raw
                lines = self.encoding.stream(raw)
                # Bounded, since iteration over a file without line ends would read all of it at
                # once.
                while line := lines.readline(LONGEST):
                    number += 1
                    if number == 1:
                        line = self.encoding.without_mark(line, file)
                    if len(line) == LONGEST:
                        raise self._no_text(number, f"found a line of {LONGEST} bytes or more")
                    if line.strip():
                        yield number, line
        except DAMAGE as error:
            raise InputError(
                Finding(
                    "damaged-trace",
                    f"expected a whole compressed file, found damage after this line: {error}",
                    Place(str(file), number),
                )
            ) from None
        except OSError as error:
            raise self._unreadable(file, error) from None

    def _no_text(self, number: int, what: str) -> InputError:
        place = Place(str(self.path), number)
        return InputError(Finding("no-text", f"expected lines of text, {what}", place))

    @staticmethod
    def _unreadable(file: Path, error: OSError) -> InputError:
        return InputError(
            Finding(
                "unreadable-trace",
                f"the trace cannot be read: {error.strerror or error}",
                Place(str(file)),
            )
        )
