"""Reader of the job log of Eurora, CSV with the nodes of each job.

Further columns come from that one: what a unit has, and where the job ran. The requested memory of
the log is not used: of 5,930 records, it is in MB in 701, 1 whatever the job was given in 577, and
in GiB in the others. The amounts of the nodes used are in KiB throughout.
"""

from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

from hpcsched.errors import Finding, InputError, Place
from hpcsched.workload.readers.policies import UnusableError
from hpcsched.workload.readers.table_rows import CsvRows
from hpcsched.workload.readers.text_encoding import TextEncoding

USED = "used (node:cores:gpus:mics:mem per node)"
LIMIT = "requested_time"
UNIT_COLUMNS = ("core", "gpu", "mic", "mem_kib")
MINUTES, NODES, APART = "requested_minutes", "used_nodes", "on_nodes_of_its_own"


class EuroraRows:
    """Rows of the log of Eurora; nodes are numbered from 0, and from 1 in the log.

    Parameters
    ----------
    encoding
        Its encoding; UTF-8 if not given.

    Raises
    ------
    InputError
        If the file cannot be read or is no such log.
    """

    comments: Sequence[str] = ()

    def __init__(self, path: Path, encoding: TextEncoding | None = None) -> None:
        self.path = path
        self._table = CsvRows(path, ";", encoding)
        there = self._table.names
        if not {USED, LIMIT} <= set(there):
            message = f"expected the log of Eurora, with the columns {LIMIT} and {USED}; there are:"
            where = Place(str(path), 1)
            raise InputError(Finding("malformed", f"{message} {', '.join(there)[:200]}", where))
        self.names: Sequence[str] = [*there, *UNIT_COLUMNS, MINUTES, NODES, APART]
        self._table.select(there)
        self._wanted: Sequence[str] = ()

    @property
    def files(self) -> Sequence[Path]:
        """The file."""
        return [self.path]

    @property
    def fraction_read(self) -> float:
        """Fraction of the file that has been read, from 0 to 1."""
        return self._table.fraction_read

    def select(self, names: Sequence[str]) -> None:
        """Select the columns to read, in this order."""
        self._wanted = names

    def records(self) -> Generator[tuple[int, Any], None, None]:
        """Yield the number and the bytes of each line after that with the names."""
        return self._table.records()

    def values(self, record: Any) -> Sequence[Any]:
        """Return the selected values of a line.

        Raises
        ------
        UnusableError
            If the line is no row, or its nodes and its requested time cannot be read.
        """
        row = dict(zip(self._table.names, self._table.values(record), strict=True))
        nodes, unit = _parts(row[USED])
        derived = {
            **row,
            **dict(zip(UNIT_COLUMNS, unit, strict=True)),
            MINUTES: _minutes(row[LIMIT]),
            NODES: sorted(set(nodes)),
            APART: len(set(nodes)) == len(nodes),
        }
        return [derived[name] for name in self._wanted]


def _parts(used: str) -> tuple[list[int], tuple[int, ...]]:
    """Return the node of each part of a job, and the amounts that all parts have."""
    try:
        parts = [tuple(int(number) for number in part.split(":")) for part in used.split()]
    except ValueError:
        parts = []
    if not parts or any(len(part) != 1 + len(UNIT_COLUMNS) or part[0] < 1 for part in parts):
        message = f"column {USED!r}: expected such parts for nodes from 1, found {used[:40]!r}"
        raise UnusableError("malformed", message)
    if any(part[1:] != parts[0][1:] for part in parts):
        message = f"column {USED!r}: expected equal amounts on all nodes, found {used[:40]!r}"
        raise UnusableError("malformed", message)
    return [part[0] - 1 for part in parts], parts[0][1:]


def _minutes(limit: str) -> int | None:
    """Return a requested time of the form HH:MM in minutes; None if it is empty."""
    if not limit.strip():
        return None
    hours, _, minutes = limit.strip().partition(":")
    if not (hours.isdecimal() and minutes.isdecimal() and int(minutes) < 60):
        raise UnusableError(
            "malformed", f"column {LIMIT!r}: expected HH:MM, found {limit.strip()[:40]!r}"
        )
    return 60 * int(hours) + int(minutes)
