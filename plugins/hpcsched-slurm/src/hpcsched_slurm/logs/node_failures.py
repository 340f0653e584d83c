"""Failures of nodes that a dump of `sacct` tells by the jobs that were lost to them.

A record with the state `NODE_FAIL` ends as a node of its job fails. The node is the one in the
column `FailedNode`, or the only one in `NodeList`. It is back when the next job starts on it.

Source: the manual page `sacct` of SchedMD, on job states and on the fields `FailedNode` and
`NodeList`.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import tzinfo
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from hpcsched.errors import Finding, InputError, Place
from hpcsched.system.host_lists import expand
from hpcsched.workload.readers.policies import UnusableError
from hpcsched.workload.readers.quantities import WholeSeconds
from hpcsched_slurm.logs.local_clock import LocalClock, NoZoneError
from hpcsched_slurm.logs.sacct_rows import Row, SacctRows, parse_job_id
from hpcsched_slurm.syntax.values import NOT_GIVEN

_LOST = "NODE_FAIL"
_NEEDED = ("JobID", "Start", "End", "State", "NodeList")
_LISTS_KEPT = 4096
"""Number of lists of hosts whose names are kept: jobs run on the same nodes again and again."""

_Failure = tuple[str, int, int]
_expanded = lru_cache(_LISTS_KEPT)(expand)


class FailuresFound(NamedTuple):
    """Failures of nodes that a log tells, and the account of its records.

    Attributes
    ----------
    failures
        Name of the node, first second of the failure and the second after it, in Unix times.
    counts
        Numbers of records and failures, by what became of them.
    """

    failures: Sequence[tuple[str, int, int]]
    counts: Mapping[str, int]


def failure_lines(found: FailuresFound, nodes: Mapping[str, str], origin: int) -> Iterator[str]:
    """Yield the lines of a file for `outages.failure_log`.

    Parameters
    ----------
    nodes
        Node of the scenario by its name in the log; others are left out.
    origin
        Second 0 of the trace, as Unix time; failures that ended before are left out.
    """
    yield "node,from,until"
    for host, start, end in found.failures:
        if host in nodes and end > origin:
            yield f"{nodes[host]},{max(start - origin, 0)},{end - origin}"


def node_names(groups: Sequence[str]) -> dict[str, str]:
    """Return the node of a scenario by its name in a log, from texts such as `thin=c[1-2]`.

    Raises InputError if a text is none of these, or names a node that another has named.
    """
    nodes: dict[str, str] = {}
    for text in groups:
        group, _, hosts = text.partition("=")
        try:
            names = expand(hosts)
        except ValueError as error:
            raise InputError(Finding("bad-value", f"--nodes {text}: {error}")) from None
        if not names or not group or len({*nodes, *names}) < len(nodes) + len(names):
            message = f"--nodes {text}: expected GROUP=NAMES, such as thin=c[1-2], each name once"
            raise InputError(Finding("bad-value", message))
        nodes |= {name: f"{group}-{k}" for k, name in enumerate(names)}
    return nodes


def read_node_failures(
    path: Path, zone: tzinfo | None, *, repair: int | None = None, all_nodes: bool = False
) -> FailuresFound:
    """Return the failures of nodes in a dump, or in all dumps of a folder, by start and host.

    Those of a node are disjoint. A node after whose failure no job starts stays out of service
    until the last instant of the log. Counted are `records` of lost jobs; `unnamed_node` ones that
    were left out; failures that other records told, too (`told_again`), that lasted no time
    (`no_time`), or after which no job started on the node (`not_seen_again`).

    Parameters
    ----------
    zone
        Zone of local times; None: there are none.
    repair
        Seconds until a node is back; None: until the next job starts on it.
    all_nodes
        True: where the log does not say which of several nodes failed, all did. False: the record
        is left out.

    Raises
    ------
    InputError
        If the dump cannot be read, or a record cannot be used.
    """
    return _FailureLog(path, zone, repair, all_nodes=all_nodes).read()


class _FailureLog:
    """Reader of a dump, which is read twice: for failures, and for the starts after them."""

    def __init__(
        self, path: Path, zone: tzinfo | None, repair: int | None, *, all_nodes: bool
    ) -> None:
        self._rows = SacctRows(path)
        self._repair, self._all_nodes = repair, all_nodes
        self._zone = zone
        self._clock = LocalClock(zone, WholeSeconds("outward"))
        self._counts: Counter[str] = Counter(records=0)
        self._last = 0
        lacking = [name for name in _NEEDED if name.lower() not in self._rows.columns]
        if lacking:
            message = (
                f"the dump has no column {', '.join(lacking)}, without which it tells no failures"
                " of nodes"
            )
            place = Place(str(self._rows.path), self._rows.header_line)
            raise InputError(Finding("missing-columns", message, place))

    def read(self) -> FailuresFound:
        """Return the failures; see `read_node_failures`."""
        failed = list(self._records(self._failed))
        hosts = {host for _, names in failed for host in names}
        starts: dict[str, list[int]] = {host: [] for host in hosts}
        if self._repair is None and hosts:
            # Read again for the few nodes that failed, so that no other starts are kept.
            self._clock = LocalClock(self._zone, WholeSeconds("outward"))
            for start, names in self._records(self._started):
                for host in hosts.intersection(names):
                    starts[host].append(start)
        found: list[_Failure] = []
        for host, times in starts.items():
            times.sort()
            instants = sorted({time for time, names in failed if host in names})
            self._counts["told_again"] += sum(host in names for _, names in failed) - len(instants)
            found += self._of_host(host, instants, times)
        found.sort(key=lambda failure: (failure[1], failure[0]))
        return FailuresFound(found, +self._counts)

    def _of_host(self, host: str, instants: list[int], starts: list[int]) -> Iterator[_Failure]:
        """Yield the failures of a node, from the instants at which records tell of one."""
        until = 0
        for start in instants:
            # Jobs that were lost to the same failure, and ended a little later.
            if start < until:
                self._counts["told_again"] += 1
                continue
            end = self._back(start, starts)
            if end <= start:
                self._counts["no_time"] += 1
                continue
            until = end
            yield host, start, end

    def _back(self, start: int, starts: list[int]) -> int:
        if self._repair is not None:
            return start + self._repair
        place = bisect_right(starts, start)
        if place < len(starts):
            return starts[place]
        self._counts["not_seen_again"] += 1
        return self._last

    def _records(
        self, told: Callable[[Row], tuple[int, tuple[str, ...]] | None]
    ) -> Iterator[tuple[int, tuple[str, ...]]]:
        """Yield the reading of each record."""
        with closing(self._rows.records()) as lines:
            for number, line in lines:
                try:
                    found = told(self._rows.row(line))
                except NoZoneError as error:
                    message = str(error).replace("'time_zone' of the trace", "--time-zone")
                    place = Place(str(self._rows.path), number)
                    raise InputError(Finding("missing-time-zone", message, place)) from None
                except (UnusableError, ValueError) as error:
                    place = Place(str(self._rows.path), number)
                    raise InputError(Finding("malformed", str(error), place)) from None
                if found is not None:
                    yield found

    def _failed(self, row: Row) -> tuple[int, tuple[str, ...]] | None:
        """Return when nodes failed, and their names, if a record tells of it."""
        start = self._time(row["start"], None)
        end = self._time(row["end"], start)
        self._last = max(self._last, start or 0, end or 0)
        state = row["state"].partition(" ")[0].upper()
        if state != _LOST or parse_job_id(row["jobid"]).is_step:
            return None
        self._counts["records"] += 1
        hosts = _expanded(row.get("failednode", "")) or _expanded(row["nodelist"])
        if end is None or not hosts or (len(hosts) > 1 and not self._named(row)):
            self._counts["unnamed_node"] += 1
            return None
        return end, hosts

    def _named(self, row: Row) -> bool:
        """Return True if several nodes of a record have failed."""
        return self._all_nodes or bool(_expanded(row.get("failednode", "")))

    def _started(self, row: Row) -> tuple[int, tuple[str, ...]] | None:
        """Return when a job started, and on which nodes, if it did."""
        start = self._time(row["start"], None)
        if start is None or parse_job_id(row["jobid"]).is_step:
            return None
        return start, _expanded(row["nodelist"])

    def _time(self, text: str, not_before: int | None) -> int | None:
        return None if text.lower() in NOT_GIVEN else self._clock.instant(text, not_before)
