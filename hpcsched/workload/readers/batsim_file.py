"""Reader of the workload files of Batsim: JSON, plain or compressed.

The text of a file stays in memory, since its profiles may come after the jobs that name them; jobs
are decoded one at a time.
"""

import json
import re
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any, NoReturn

from hpcsched.errors import Finding, InputError, Place
from hpcsched.paths import open_file
from hpcsched.workload.readers.compressed_files import DAMAGE, whole_text
from hpcsched.workload.readers.policies import UnusableError
from hpcsched.workload.readers.text_encoding import MARK, TextEncoding

_JOBS = "jobs"
_SPACE = re.compile(r"[ \t\n\r]*")


def _no_constant(name: str) -> NoReturn:
    """Refuse the constants that Python's decoder accepts beyond JSON, such as NaN."""
    raise ValueError(f"expected JSON, which has no {name}")


def _no_double(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; raises ValueError for a repeated key, as one value would be lost."""
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        double = next(key for n, key in enumerate(keys) if key in keys[:n])
        raise ValueError(f"an object has the key {double!r} twice")
    return found


# Strict: Python's decoder accepts NaN and keeps the last of repeated keys, which loses jobs.
_DECODER = json.JSONDecoder(parse_constant=_no_constant, object_pairs_hook=_no_double)


class BatsimFile:
    """Workload file, read once; its jobs can be iterated repeatedly.

    Parameters
    ----------
    encoding
        Encoding of the file; UTF-8 if not given.

    Attributes
    ----------
    header
        Entries of the file beside its jobs, including `profiles`.
    in_doubt
        Whether the job that was yielded last has undecodable bytes.

    Raises
    ------
    InputError
        If the file cannot be read, is damaged, or is no workload.
    """

    def __init__(self, path: Path, encoding: TextEncoding | None = None) -> None:
        self.path = path
        self.in_doubt = False
        self._encoding = encoding or TextEncoding()
        self.header: dict[str, Any] = {}
        self._text = self._read()
        self._first: int | None = None
        self._end = len(self._text)
        self._reached = 0
        self._check()

    @property
    def comments(self) -> list[str]:
        """Lines of the file's description, if any."""
        description = self.header.get("description")
        if not isinstance(description, str):
            return []
        return description.replace(MARK, "\ufffd").splitlines()

    @property
    def fraction_read(self) -> float:
        """Fraction of the file that has been read, from 0 to 1."""
        return min(self._reached / self._end, 1.0) if self._end else 1.0

    def records(self) -> Generator[tuple[int, Any], None, None]:
        """Yield the first line of each job, and the decoded job."""
        self._reached = 0
        if self._first is None:
            return
        line, counted = 1, 0
        for start, end, job in self._items(self._first):
            line += self._text.count("\n", counted, start)
            counted, self._reached = start, end
            self.in_doubt = MARK in self._text[start:end]
            yield line, job
        self._reached = self._end

    def _read(self) -> str:
        try:
            with open_file(self.path) as raw:
                data = whole_text(self._encoding.stream(raw), b"{", str(self.path))
        except DAMAGE as error:
            message = f"expected a whole compressed file, found damage: {error}"
            raise self._problem("damaged-trace", message) from None
        except OSError as error:
            message = f"the trace cannot be read: {error.strerror or error}"
            raise self._problem("unreadable-trace", message) from None
        return self._encoding.marked(self._encoding.without_mark(data, self.path))

    def _check(self) -> None:
        """Decode the whole file once, and keep everything but the jobs."""
        position = self._expect("{", self._after_space(0), "a workload, which begins with {")
        position = self._after_space(position)
        while self._text[position : position + 1] != "}":
            key_at = position
            key, position = self._decode(position)
            if not isinstance(key, str):
                raise self._at("expected a key in quotes", key_at)
            # Python's reader takes the last of two equal keys without a word.
            if key in self.header or (key == _JOBS and self._first is not None):
                raise self._at(f"the workload has the key {key!r} twice", key_at)
            position = self._expect(":", self._after_space(position), "':' after a key")
            position = self._after_space(position)
            if key == _JOBS:
                self._first = self._expect("[", position, "a list of jobs")
                position = self._end_of_jobs(self._first)
            else:
                value_at = position
                self.header[key], position = self._decode(position)
                self._check_text(value_at, position)
            position = self._after_space(position)
            if self._text[position : position + 1] == ",":
                position = self._after_space(position + 1)
                if self._text[position : position + 1] == "}":
                    raise self._at("expected a key after ','", position)
            elif self._text[position : position + 1] != "}":
                raise self._at("expected ',' or '}'", position)
        rest = self._after_space(position + 1)
        if rest < len(self._text):
            raise self._at("expected nothing after the workload", rest)
        self._check_keys()

    def _check_text(self, begin: int, end: int) -> None:
        """Raise InputError for undecodable bytes that belong to no job, if the policy says so."""
        found = self._text.find(MARK, begin, end)
        if found < 0 or self._encoding.policy != "error":
            return
        try:
            self._encoding.refuse("found bytes that are none")
        except UnusableError as error:
            place = Place(str(self.path), self._text.count("\n", 0, found) + 1)
            raise InputError(Finding("undecodable", str(error), place)) from None

    def _check_keys(self) -> None:
        if self._first is None:
            raise self._problem("malformed", f"the key {_JOBS!r} is missing")
        profiles = self.header.get("profiles")
        if profiles is None:
            raise self._problem("malformed", "the key 'profiles' is missing")
        if not isinstance(profiles, dict):
            raise self._problem("malformed", "expected an object under 'profiles'")

    def _end_of_jobs(self, first: int) -> int:
        ends = (end for _, end, _ in self._items(first))
        return self._after_space(max(ends, default=first)) + 1

    def _items(self, first: int) -> Iterator[tuple[int, int, Any]]:
        """Yield the begin, the end and the value of each item of a list; `]` is after the last."""
        position = self._after_space(first)
        if self._text[position : position + 1] == "]":
            return
        while True:
            item, end = self._decode(position)
            yield position, end, item
            position = self._after_space(end)
            sign = self._text[position : position + 1]
            if sign == "]":
                return
            if sign != ",":
                raise self._at("expected ',' or ']' after a job", position)
            position = self._after_space(position + 1)

    def _decode(self, position: int) -> tuple[Any, int]:
        try:
            return _DECODER.raw_decode(self._text, position)
        except json.JSONDecodeError as error:
            raise self._at(f"expected JSON: {error.msg}", error.pos) from None
        except ValueError as error:
            raise self._at(str(error), position) from None
        except RecursionError:
            raise self._at("values are nested too deeply", position) from None

    def _after_space(self, position: int) -> int:
        found = _SPACE.match(self._text, position)
        return found.end() if found else position

    def _expect(self, sign: str, position: int, what: str) -> int:
        if self._text[position : position + 1] != sign:
            raise self._at(f"expected {what}", position)
        return position + 1

    def _at(self, message: str, position: int) -> InputError:
        line = self._text.count("\n", 0, position) + 1
        column = position - self._text.rfind("\n", 0, position)
        if position >= len(self._text):
            message += "; the file ends here"
        return InputError(Finding("malformed", message, Place(str(self.path), line, column)))

    def _problem(self, rule: str, message: str) -> InputError:
        return InputError(Finding(rule, message, Place(str(self.path))))
