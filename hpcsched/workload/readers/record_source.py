"""Common part of sources that parse a log record by record."""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from hpcsched._core import Verdict
from hpcsched.errors import InputError
from hpcsched.system.system import Request, System
from hpcsched.workload.job_columns import NUMBERED, TEXTS
from hpcsched.workload.readers.log_source import (
    NO_REQUEST,
    Block,
    LogReader,
    LogSource,
    ReadRequest,
)
from hpcsched.workload.readers.policies import RecordPolicies, UnusableError

_FIRST_CHUNK, _LARGEST_CHUNK = 64, 4096
"""Numbers of records that are parsed before the policies are applied to them."""


class RecordReader(LogReader, Protocol):
    """Reader of the records of a log."""

    def records(self) -> Any:
        """Yield the number of the line or row, and the content, of each record from the first on.

        Raises
        ------
        InputError
            If the log cannot be read or is damaged.
        """


class Record(NamedTuple):
    """Record of a log that is parsed by itself; times in seconds, -1 where a number is not given.

    Attributes
    ----------
    request
        Returns the request; raises UnusableError, or ValueError for a malformed one.
    details
        Numbers of user, group, application, queue and partition; texts are names, which are
        numbered as they appear in jobs.
    texts
        Names of the job, of its queue and of its partition.
    wait
        Recorded wait time.
    """

    job_id: int
    submit_time: int
    run_time: int
    requested_time: int
    request: Callable[[], Request]
    details: Sequence[int | str | None] = (None,) * len(NUMBERED)
    texts: Sequence[str | None] = (None,) * len(TEXTS)
    wait: int = -1


class _Read(NamedTuple):
    """What was read: a record and its request, or why it is none, and clippings by name."""

    path: Path
    line: int
    found: Record | UnusableError
    request: ReadRequest | None
    changes: list[str]


class RecordSource(LogSource):
    """Log source that parses one record after the other.

    Attributes
    ----------
    position
        Position of the record that is being read, from 1.
    changes
        Clippings of this record, by name; `parse` adds to them.
    """

    position = 0

    def __init__(self, policies: RecordPolicies, system: System, records: RecordReader) -> None:
        super().__init__(policies, system, records)
        self.changes: list[str] = []
        self._records = records

    @abstractmethod
    def parse(self, line: Any) -> Record:
        """Return the content of a record; raises UnusableError, or ValueError for a malformed one.

        Parameters
        ----------
        line
            A record as `records` yields it, such as the text of a line.
        """

    def blocks(self, most: int | None) -> Iterator[Block]:
        """Yield the records of the log; those before an error come before it."""
        self.position = 0
        # The first jobs are wanted soon; later ones are read faster in large numbers.
        size, largest = _FIRST_CHUNK, min(_LARGEST_CHUNK, most or _LARGEST_CHUNK)
        with closing(self._records.records()) as records:
            fault: Exception | None = None
            while fault is None:
                size = min(size, largest)
                read: list[_Read] = []
                try:
                    for number, line in islice(records, size):
                        self.position += 1
                        read.append(self._parsed(number, line))
                except InputError as error:
                    fault = error
                if read:
                    yield _block(read)
                if fault is None and len(read) < size:
                    return
                size *= 2
            raise fault

    def _parsed(self, number: int, line: Any) -> _Read:
        self.seconds.rounded = False
        self.changes = []
        found: Record | UnusableError
        request = None
        try:
            found = self.parse(line)
        except (UnusableError, ValueError) as error:
            found = _unusable(error)
        else:
            try:
                request = ReadRequest(found.request())
            except (UnusableError, ValueError) as error:
                request = ReadRequest(NO_REQUEST, _unusable(error))
        self.changes += ["fractional_seconds"] * self.seconds.rounded
        return _Read(self.lines.path, number, found, request, self.changes)


def _unusable(error: UnusableError | ValueError) -> UnusableError:
    return error if isinstance(error, UnusableError) else UnusableError("malformed", str(error))


def _block(read: Sequence[_Read]) -> Block:
    found = [one.found for one in read]
    faults = {k: one for k, one in enumerate(found) if isinstance(one, UnusableError)}
    none = Record(-1, -1, -1, -1, lambda: NO_REQUEST)
    records = [none if isinstance(one, UnusableError) else one for one in found]
    verdicts = np.full(len(read), Verdict.JOB, dtype=np.int8)
    verdicts[list(faults)] = Verdict.NO_RECORD
    known: dict[ReadRequest, int] = {}
    request = [
        -1 if one.request is None else known.setdefault(one.request, len(known)) for one in read
    ]
    job_id, submit_time, run_time, requested_time = np.ascontiguousarray(
        np.array([record[:4] for record in records], dtype=np.int64).T
    )
    details = [[n if isinstance(n, int) else -1 for n in record.details] for record in records]
    named = {d for r in records for d, value in enumerate(r.details) if isinstance(value, str)}
    texts = {
        name: partial(_text, records, n)
        for n, name in enumerate(TEXTS)
        if any(record.texts[n] is not None for record in records)
    }
    return Block(
        lambda k: read[k].path,
        np.array([one.line for one in read], dtype=np.int64),
        verdicts,
        job_id,
        submit_time,
        run_time,
        requested_time,
        np.array(request, dtype=np.int64),
        list(known),
        np.array(details, dtype=np.int64).T,
        np.zeros(len(read), dtype=np.int64),
        faults,
        {k: one.changes for k, one in enumerate(read) if one.changes},
        texts=texts,
        named={d: partial(_detail, records, d) for d in sorted(named)},
        wait=lambda k: records[k].wait,
    )


def _text(records: Sequence[Record], n: int, k: int) -> str | None:
    return records[k].texts[n]


def _detail(records: Sequence[Record], n: int, k: int) -> str:
    return str(records[k].details[n] or "")
