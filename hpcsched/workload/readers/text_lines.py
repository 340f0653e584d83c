"""Reader of the lines of text logs: of one file, or of every file of a folder."""

from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import IO

from hpcsched.errors import Finding, InputError, Place
from hpcsched.paths import open_file
from hpcsched.workload.readers.compressed_files import DAMAGE
from hpcsched.workload.readers.text_encoding import TextEncoding

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
        """Files to read; a path that is no folder is one file, existing or not.

        Raises
        ------
        InputError
            If a folder cannot be listed or has no files.
        """
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
        """Yield the number, within its file, and the text of every line that is not blank.

        Raises
        ------
        InputError
            If a file cannot be read, is damaged, or is no text (lines without end, UTF-16 that
            is not the encoding).
        """
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
