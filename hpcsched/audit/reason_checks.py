"""Check of the recorded reasons: existing jobs, in rounds that were held."""

from collections.abc import Iterator

import numpy as np

from hpcsched.audit.columns import RunColumns, TraceColumns
from hpcsched.audit.rounds import RoundColumns
from hpcsched.audit.violations import Check
from hpcsched.results.directory import RunDirectory
from hpcsched.results.files import REASONS

_STARTS = ("in_order", "backfilled", "planned")
_WAITS = (
    "no_room",
    "reserved_for",
    "behind",
    "beyond_depth",
    "solver_postponed",
    "not_planned",
    "limit",
    "dependency",
    "outage",
    "recorded_later",
)


def check_reasons(
    run: RunDirectory, trace: TraceColumns, attempts: RunColumns, rounds: RoundColumns
) -> Iterator[Check]:
    """Yield the check of the rows of `reasons.parquet`, if the run has them.

    The audit cannot tell whether a reason is the true one. A reason to start or to wait belongs to
    a job that does, in a round of that time; jobs that are named must be in the trace.
    """
    if not (run.path / REASONS).is_file():
        return
    names = ("round", "now", "job_id", "kind", "job", "time")
    table = run.reasons.read(*names)
    check = Check("reasons are of jobs that were there, in rounds that were held", table.num_rows)
    submitted = dict(zip(trace.job_id.tolist(), trace.submit_time.tolist(), strict=True))
    starts: dict[int, set[int]] = {}
    for row in np.flatnonzero(attempts.ran).tolist():
        starts.setdefault(int(attempts.job_id[row]), set()).add(int(attempts.start_time[row]))
    last = 1
    for number, now, job_id, kind, other, time in zip(
        *(table[name].to_pylist() for name in names), strict=True
    ):
        where = f"round {number}, job {job_id}"
        # Also guards the look-up of the round below.
        if not last <= number <= len(rounds.now):
            check.found(f"{where}: expected a round that was held, in order of rounds")
            continue
        last = number
        asked, done = int(rounds.now[number - 1]), int(rounds.done[number - 1])
        if now != asked:
            check.found(f"{where}: now: expected {asked}, found {now}")
        if job_id not in submitted or submitted[job_id] > asked:
            check.found(f"{where}: expected a job that was submitted by {asked}")
        if other is not None and other not in submitted:
            check.found(f"{where}: job: expected one of the trace, found {other}")
        if time is not None and time < asked:
            check.found(f"{where}: time: expected at least {asked}, found {time}")
        mine = starts.get(job_id, set())
        if kind in _STARTS:
            if done not in mine and not run.partial:
                check.found(f"{where}: kind: {kind}, but the job did not start at {done}")
        elif kind is not None and kind not in _WAITS:
            check.found(f"{where}: kind: expected a known one, found {kind!r}")
        elif mine and done > max(mine):
            check.found(f"{where}: expected a job that waited, found it started at {max(mine)}")
    yield check
