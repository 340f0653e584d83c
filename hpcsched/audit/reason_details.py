"""Details of reasons that dispatchers of hpcsched and the simulator give, in words."""

import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from hpcsched.audit.columns import RunColumns, TraceColumns
from hpcsched.system.outages import Outage, Outages
from hpcsched.system.system import System
from hpcsched.workload.site_partitions import Partitions

_LITERAL = {
    ("in_order", "nothing runs and the plan starts nothing, so the first job starts"),
    ("no_room", "it was to start now, and no nodes were found for it"),
    ("solver_postponed", "jobs that run for no time go first in an instant"),
    ("beyond_depth", "default_queue_depth"),
}
_SHARED = re.compile(r"shared resource (.+)")
_PROMISE = re.compile(r"at first promised for (\d+) s")
_THINK = re.compile(r"think time, until second (\d+)")
_OUTAGES = re.compile(r"(.+?)(?: and (\d+) more)?")
_DOWN = re.compile(r"node (\S+) is out of service")
_GOES_DOWN = re.compile(
    r"node (\S+) goes out of service at (\d+), and the job is predicted to end at (\d+)"
)
_OVERDRAWN = re.compile(
    r"shared resource (.+): (\d+) would be drawn, (-?\d+) free since the decision was asked for"
)
_SHOWN_OUTAGES = 3


class ReasonRow(NamedTuple):
    """A row of `reasons.parquet`, and the second at which its round took effect, once known."""

    round: int
    now: int
    job_id: int
    kind: str | None
    job: int | None
    time: int | None
    detail: str
    done: int = -1


class ReasonDetails:
    """Test of details against the declared resources, partitions and outages, and the jobs.

    Parameters
    ----------
    limits_seen
        True if limits of a real cluster apply, whose reasons are in its own words.
    """

    def __init__(
        self,
        trace: TraceColumns,
        run: RunColumns,
        system: System,
        partitions: Partitions,
        outages: Outages,
        *,
        limits_seen: bool,
    ) -> None:
        self._trace, self._outages = trace, outages.all
        self._place = {job_id: k for k, job_id in enumerate(trace.job_id.tolist())}
        self._predicted = dict(
            zip(run.job_id.tolist(), run.predicted_run_time.tolist(), strict=True)
        )
        ran = np.flatnonzero(run.ran)
        self._ends = dict(zip(run.job_id[ran].tolist(), run.end_time[ran].tolist(), strict=True))
        self._resources = {resource.name for resource in system.shared_resources}
        self._nodes = {system.node_name(node): node for node in range(system.node_count)}
        limits = ("running_jobs_per_user", "nodes_per_user")
        self._limits = {
            f"partition {partition.name}: {limit} {getattr(partition, limit)}"
            for partition in partitions
            for limit in limits
            if getattr(partition, limit) is not None
        }
        self._limits_seen = limits_seen
        self._promises: dict[int, str] = {}

    def may_be(self, row: ReasonRow) -> bool:
        """Return True if the detail of a row whose job is in the trace can be as it is."""
        if row.kind in ("dependency", "outage", "limit", "in_order", "backfilled", "planned", None):
            # A job that was not shown to the dispatcher gets another promise, and one that started
            # and lost a node.
            self._promises.pop(row.job_id, None)
        if row.kind == "dependency":
            return self._is_dependency(row)
        if row.kind == "outage":
            return self._are_outages(row)
        if row.kind == "limit":
            known = self._limits_seen or row.detail in self._limits
            return known or self._came_too_late(row)
        if not row.detail or (row.kind, row.detail) in _LITERAL:
            return True
        if row.kind not in ("no_room", "reserved_for", "behind", "beyond_depth"):
            return False
        return all(self._is_part(row, part) for part in row.detail.split("; "))

    def _is_part(self, row: ReasonRow, part: str) -> bool:
        """Return True for a declared shared resource, or the one promise of the job."""
        shared, promise = _SHARED.fullmatch(part), _PROMISE.fullmatch(part)
        if shared is not None:
            return row.kind == "no_room" and shared[1] in self._resources
        if promise is None or self._promises.setdefault(row.job_id, part) != part:
            return False
        return row.time is None or int(promise[1]) < row.time

    def _is_dependency(self, row: ReasonRow) -> bool:
        place = self._place[row.job_id]
        if row.job not in self._trace.after[place]:
            return False
        think = _THINK.fullmatch(row.detail)
        if think is None:
            return not row.detail
        # Of a job that was rejected, when it left is not recorded.
        until, end = int(think[1]), self._ends.get(row.job)
        return until > row.now and (
            end is None or until == end + int(self._trace.think_time[place])
        )

    def _are_outages(self, row: ReasonRow) -> bool:
        """Return True for outages that are there, or come before the job's predicted end."""
        end = row.now + self._predicted.get(row.job_id, 2**62)
        labels = dict.fromkeys(
            outage.label for outage in self._outages if outage.start < end and outage.end > row.now
        )
        found = _OUTAGES.fullmatch(row.detail)
        if found is None:
            return False
        names = found[1].split(", ")
        more = int(found[2] or 0)
        return (
            labels.keys() >= set(names)
            and len(names) + more <= len(labels)
            and (not more or len(names) == _SHOWN_OUTAGES)
        )

    def _came_too_late(self, row: ReasonRow) -> bool:
        """Return True for a cause that can keep a decided start from being carried out."""
        overdrawn = _OVERDRAWN.fullmatch(row.detail)
        if overdrawn is not None:
            return overdrawn[1] in self._resources and int(overdrawn[2]) > int(overdrawn[3])
        down, goes = _DOWN.fullmatch(row.detail), _GOES_DOWN.fullmatch(row.detail)
        if down is not None:
            return any(one.start <= row.done < one.end for one in self._outages_of(down[1]))
        if goes is None:
            return False
        end = row.done + self._predicted.get(row.job_id, int(goes[3]) - row.done)
        return end == int(goes[3]) and any(
            one.start == int(goes[2]) for one in self._outages_of(goes[1])
        )

    def _outages_of(self, name: str) -> Iterator[Outage]:
        """Yield the outages of a node."""
        node = self._nodes.get(name)
        return (outage for outage in self._outages if node in outage.nodes)
