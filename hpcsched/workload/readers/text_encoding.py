"""Encoding of text logs: bytes in any encoding become UTF-8, and a policy decides on the rest."""

import codecs
import io
from pathlib import Path
from typing import IO, Literal

from hpcsched.errors import Finding, InputError, Place
from hpcsched.workload.readers.compressed_files import unpacked
from hpcsched.workload.readers.policies import UnusableError

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

        Raises
        ------
        InputError
            If it is an archive of files.
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
        """Return the first line of a file without the mark that says UTF-8.

        Raises
        ------
        InputError
            If the mark says UTF-16, which is not the encoding.
        """
        if line.startswith(_UTF_16) and not self._recodes:
            message = (
                f"expected lines of {self._name} text, found UTF-16; 'encoding: utf-16' of the"
                " trace source reads it"
            )
            raise InputError(Finding("no-text", message, Place(str(path), 1)))
        return line.removeprefix(codecs.BOM_UTF8)

    def utf8(self, line: bytes) -> bytes:
        """Return a line of the stream in UTF-8.

        Raises
        ------
        UnusableError
            If bytes are not of the encoding and the policy does not replace them.
        """
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
        """Note that bytes of a record are replaced.

        Raises
        ------
        UnusableError
            If the policy does not replace them.
        """
        if self.policy != "replace":
            raise UnusableError(
                "undecodable",
                f"expected {self._name} text, {found}; 'encoding' of the trace source names the"
                " encoding of the log, such as latin-1",
            )
        self.replaced = True

    def header(self, line: bytes, place: Place) -> bytes:
        """Return a line of a header, without which no record can be read, in UTF-8.

        Raises
        ------
        InputError
            If bytes are not of the encoding and the policy does not replace them.
        """
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
