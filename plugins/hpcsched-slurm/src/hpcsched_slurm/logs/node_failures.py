"""Failures of nodes that a dump of `sacct` tells by the jobs that were lost to them.

A record with the state `NODE_FAIL` ends as a node of its job fails. The node is the one in the
column `FailedNode`, or the only one in `NodeList`. It is back when the next job starts on it.

Source: the manual page `sacct` of SchedMD, on job states and on the fields `FailedNode` and
`NodeList`.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import tzinfo
from functools import lru_cache
from pathlib import Path
from zoneinfo import ZoneInfo

from hpcsched.errors import Finding, InputError, Place
from hpcsched.scenario.outage_declarations import FailuresFound, NodeFailuresDeclaration
from hpcsched.system.host_lists import expand
from hpcsched.workload.readers.policies import UnusableError
from hpcsched.workload.readers.quantities import WholeSeconds
from hpcsched_slurm.logs.local_clock import LocalClock, NoZoneError
from hpcsched_slurm.logs.sacct_rows import Row, SacctRows, parse_job_id
from hpcsched_slurm.syntax.values import NOT_GIVEN

_NEEDED = ("JobID", "Start", "End", "State", "NodeList")
_LISTS_KEPT = 4096
"""Number of lists of hosts whose names are kept: jobs run on the same nodes again and again."""

_Failure = tuple[str, int, int]
_expanded = lru_cache(_LISTS_KEPT)(expand)


@dataclass(frozen=True)
class FailureRules:
    """Rules for reading failures from a log.

    Attributes
    ----------
    states
        States of jobs that were lost to a failed node, in capitals.
    repair
        Seconds until a node is back; None: until the next job starts on it.
    all_nodes
        True: where the log does not say which of several nodes failed, all did. False: the record
        is left out.
    skip_malformed
        True: records that cannot be read are left out. False: they are an error.
    """

    states: frozenset[str]
    repair: int | None = None
    all_nodes: bool = False
    skip_malformed: bool = False


def failures_of(declared: NodeFailuresDeclaration) -> FailuresFound:
    """Return the failures that the dump of a scenario tells; see `read_node_failures`."""
    rules = FailureRules(
        frozenset(state.upper() for state in declared.states),
        None if declared.repair == "next_start" else declared.repair,
        declared.unnamed_node == "all",
        declared.malformed == "skip",
    )
    zone = None if declared.time_zone is None else ZoneInfo(declared.time_zone)
    return read_node_failures(Path(declared.path), rules, zone, declared.encoding)


def read_node_failures(
    path: Path, rules: FailureRules, zone: tzinfo | None, encoding: str
) -> FailuresFound:
    """Return the failures of nodes in a dump, or in all dumps of a folder, by start and host.

    Those of a node are disjoint. A node after whose failure no job starts stays out of service
    until the last instant of the log. Counted are `records` with one of the states; `unnamed_node`
    and `malformed` ones that were left out; failures that other records told, too (`told_again`),
    that lasted no time (`no_time`), or after which no job started on the node (`not_seen_again`).

    Parameters
    ----------
    zone
        Zone of local times; None: there are none.

    Raises
    ------
    InputError
        If the dump cannot be read, or a record cannot be used.
    """
    return _FailureLog(path, rules, zone, encoding).read()


class _FailureLog:
    """Reader of a dump, which is read twice: for failures, and for the starts after them."""

    def __init__(self, path: Path, rules: FailureRules, zone: tzinfo | None, encoding: str) -> None:
        self._rows = SacctRows(path, encoding)
        self._rules = rules
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
        if self._rules.repair is None and hosts:
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
        if self._rules.repair is not None:
            return start + self._rules.repair
        place = bisect_right(starts, start)
        if place < len(starts):
            return starts[place]
        self._counts["not_seen_again"] += 1
        return self._last

    def _records(
        self, told: Callable[[Row], tuple[int, tuple[str, ...]] | None]
    ) -> Iterator[tuple[int, tuple[str, ...]]]:
        """Yield the reading of each record; a bad one is an error or counted."""
        with closing(self._rows.records()) as lines:
            for number, line in lines:
                try:
                    found = told(self._rows.row(line))
                except NoZoneError as error:
                    message = str(error).replace("of the trace", "of 'outages.node_failures'")
                    place = Place(str(self._rows.path), number)
                    raise InputError(Finding("missing-time-zone", message, place)) from None
                except (UnusableError, ValueError) as error:
                    if not self._rules.skip_malformed:
                        place = Place(str(self._rows.path), number)
                        raise InputError(Finding("malformed", str(error), place)) from None
                    self._counts["malformed"] += told == self._failed
                else:
                    if found is not None:
                        yield found

    def _failed(self, row: Row) -> tuple[int, tuple[str, ...]] | None:
        """Return when nodes failed, and their names, if a record tells of it."""
        start = self._time(row["start"], None)
        end = self._time(row["end"], start)
        self._last = max(self._last, start or 0, end or 0)
        state = row["state"].partition(" ")[0].upper()
        if state not in self._rules.states or parse_job_id(row["jobid"]).is_step:
            return None
        self._counts["records"] += 1
        hosts = _expanded(row.get("failednode", "")) or _expanded(row["nodelist"])
        if end is None or not hosts or (len(hosts) > 1 and not self._named(row)):
            self._counts["unnamed_node"] += 1
            return None
        return end, hosts

    def _named(self, row: Row) -> bool:
        """Return True if several nodes of a record have failed."""
        return self._rules.all_nodes or bool(_expanded(row.get("failednode", "")))

    def _started(self, row: Row) -> tuple[int, tuple[str, ...]] | None:
        """Return when a job started, and on which nodes, if it did."""
        start = self._time(row["start"], None)
        if start is None or parse_job_id(row["jobid"]).is_step:
            return None
        return start, _expanded(row["nodelist"])

    def _time(self, text: str, not_before: int | None) -> int | None:
        return None if text.lower() in NOT_GIVEN else self._clock.instant(text, not_before)
