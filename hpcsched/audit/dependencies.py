"""Check of dependencies between jobs."""

from collections.abc import Iterator

from hpcsched.audit.columns import RunColumns, TraceColumns
from hpcsched.audit.jobs import Match
from hpcsched.audit.violations import Check


def check_dependencies(trace: TraceColumns, run: RunColumns, match: Match) -> Iterator[Check]:
    """Yield the check that no job started before the jobs that it waits for had left.

    A job that comes later in the trace is not waited for. The instant at which a dispatcher
    rejected a job is not recorded: such a job is only known to have left no sooner than it was
    submitted.
    """
    if not any(trace.after):
        return
    check = Check("no job starts before those that it waits for have left, and its think time")
    place = {job_id: k for k, job_id in enumerate(trace.job_id.tolist())}
    rows, of = match
    row_of = dict(zip(of.tolist(), rows.tolist(), strict=True))
    for k, after in enumerate(trace.after):
        row = row_of.get(k)
        if row is None or not run.ran[row]:
            continue
        think_time, start = int(trace.think_time[k]), int(run.start_time[row])
        for other in after:
            before = place.get(other)
            # A reference to a later or unknown job is no dependency, as in the simulator's
            # specification.
            if before is None or before >= k:
                continue
            check.looked_at += 1
            job_id, its_row = int(run.job_id[row]), row_of.get(before)
            if its_row is None:
                check.found(f"job {job_id}: expected job {other} to have left, found it had not")
                continue
            left = run.end_time[its_row] if run.ran[its_row] else run.submit_time[its_row]
            if start < left + think_time:
                check.found(
                    f"job {job_id}: start_time: expected at least {left + think_time}, {think_time}"
                    f" s after job {other} left, found {start}"
                )
    yield check
