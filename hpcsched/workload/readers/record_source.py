"""Common part of sources that parse a log record by record."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
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
from hpcsched.workload.readers.log_source import Block, LogReader, LogSource, ReadRequest
from hpcsched.workload.readers.policies import RecordPolicies, UnusableError
from hpcsched.workload.readers.text_files import TextEncoding

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
    details
        Numbers of user, group, application, queue and partition; texts are names, which are
        numbered as they appear in jobs.
    texts
        Names of the job, of its queue and of its partition.
    wait
        Recorded wait time.
    refused
        Why the record gives no job, unless a check before `verdict` finds another reason.
    """

    job_id: int
    submit_time: int
    run_time: int = -1
    requested_time: int = -1
    request: Request | None = None
    details: Sequence[int | str | None] = (None,) * len(NUMBERED)
    texts: Sequence[str | None] = (None,) * len(TEXTS)
    wait: int = -1
    refused: UnusableError | None = None
    verdict: Verdict = Verdict.JOB

    def refused_for(
        self, problem: ValueError | UnusableError, verdict: Verdict = Verdict.REFUSED_REQUEST
    ) -> "Record":
        """Return the record as one that gives no job; a ValueError is about a malformed one."""
        if isinstance(problem, ValueError):
            problem = UnusableError("malformed", str(problem))
        return self._replace(refused=problem, verdict=verdict)


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

    def __init__(
        self,
        policies: RecordPolicies,
        system: System,
        records: RecordReader,
        encoding: TextEncoding,
    ) -> None:
        super().__init__(policies, system, records, encoding)
        self.changes: list[str] = []
        self._records = records
        self._submission = -1

    @abstractmethod
    def parse(self, line: Any) -> Record:
        """Return the content of a record.

        Parameters
        ----------
        line
            A record as `records` yields it, such as bytes of a line.
        """

    def note_submission(self, submit_time: int) -> None:
        """Record the submit time of a record that may give no job: its place in a sorted log."""
        self._submission = submit_time

    def blocks(self, most: int | None) -> Iterator[Block]:
        """Yield the records of the log; those before an error come before it."""
        self.position = 0
        # The first jobs are wanted soon; later ones are read faster in large numbers.
        size, largest = _FIRST_CHUNK, min(_LARGEST_CHUNK, most or _LARGEST_CHUNK)
        with closing(self._records.records()) as records:
            fault: Exception | None = None
            while fault is None:
                size = min(size, largest)
                read: list[tuple[Path, int, Record | UnusableError, int, list[str]]] = []
                try:
                    for number, line in islice(records, size):
                        self.position += 1
                        found = self._parsed(line)
                        read.append(
                            (self.lines.path, number, found, self._submission, self.changes)
                        )
                except InputError as error:
                    fault = error
                if read:
                    yield _block(read)
                if fault is None and len(read) < size:
                    return
                size *= 2
            raise fault

    def _parsed(self, line: Any) -> Record | UnusableError:
        """Return a record, or why it is none; `changes` has the policies that changed it."""
        self.encoding.replaced = self.seconds.rounded = False
        self.changes, self._submission = [], -1
        try:
            if isinstance(line, bytes):
                line = self.encoding.utf8(line)
            found = self.parse(line)
        except UnusableError as problem:
            return problem
        if found.submit_time >= 0:
            self._submission = found.submit_time
        self.changes += ["undecodable"] * self.encoding.replaced
        self.changes += ["fractional_seconds"] * self.seconds.rounded
        return found


def _block(read: Sequence[tuple[Path, int, Record | UnusableError, int, list[str]]]) -> Block:
    faults: dict[int, UnusableError] = {}
    records: list[Record] = []
    verdicts = np.full(len(read), Verdict.JOB, dtype=np.int8)
    request = np.full(len(read), -1)
    known: dict[Request, int] = {}
    requests: list[ReadRequest] = []
    for k, (_, _, found, submitted, _) in enumerate(read):
        if isinstance(found, UnusableError):
            faults[k], verdicts[k] = found, Verdict.NO_RECORD
            records.append(Record(-1, submitted))
            continue
        records.append(found)
        if found.refused is not None:
            faults[k], verdicts[k] = found.refused, found.verdict
        elif found.request is not None:
            if found.request not in known:
                known[found.request] = len(requests)
                requests.append(ReadRequest(found.request))
            request[k] = known[found.request]
    numbers = np.array([record[:4] for record in records], dtype=np.int64).T
    details = [[-1 if n is None or isinstance(n, str) else n for n in r.details] for r in records]
    named = {d for r in records for d, value in enumerate(r.details) if isinstance(value, str)}
    texts = {
        name: partial(_text, records, n)
        for n, name in enumerate(TEXTS)
        if any(record.texts[n] is not None for record in records)
    }
    paths = [path for path, *_ in read]
    job_id, submit_time, run_time, requested_time = np.ascontiguousarray(numbers)
    return Block(
        paths.__getitem__,
        np.array([number for _, number, *_ in read], dtype=np.int64),
        verdicts,
        job_id,
        submit_time,
        run_time,
        requested_time,
        request,
        requests,
        np.array(details, dtype=np.int64).T,
        np.zeros(len(read), dtype=np.int64),
        faults,
        {k: changes for k, (*_, changes) in enumerate(read) if changes},
        texts=texts,
        named={d: partial(_detail, records, d) for d in sorted(named)},
        wait=lambda k: records[k].wait,
    )


def _text(records: Sequence[Record], n: int, k: int) -> str | None:
    return records[k].texts[n]


def _detail(records: Sequence[Record], n: int, k: int) -> str:
    return str(records[k].details[n] or "")
