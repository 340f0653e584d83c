"""A hundred lines of plain Python: the yardstick the simulator is timed against.

One resource type, no nodes, no checks, no results on disk: it reads a Standard Workload Format
log, replays it under EASY or under list scheduling with backfilling in FCFS order, and prints four
averages. Nothing of ``hpcsched`` is imported. Run times are known to the scheduler.

Usage: ``python benchmarks/baseline_script.py easy|list TRACE.swf[.gz] UNITS``
"""

import gzip
import heapq
import sys


def read(path):
    """Return a log's jobs as (submit, run time, units), cleaned as in ``scenarios/kth-*``."""
    jobs = []
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as lines:
        for line in lines:
            if line.startswith(";"):
                continue
            fields = line.split()
            run_time = min(int(fields[3]), int(fields[8]))
            if run_time > 0:
                jobs.append((int(fields[1]), run_time, int(fields[7])))
    return jobs


def easy_round(now, queue, running, free):
    """Return the queued jobs to start now: head first, then backfilling around its reservation."""
    starts = []
    while queue and queue[0][2] <= free:
        starts.append(queue.pop(0))
        free -= starts[-1][2]
    if not queue or not free:
        return starts
    need = queue[0][2]
    ends = sorted([(end, units) for end, units in running] + [(now + j[1], j[2]) for j in starts])
    spare, shadow = free, None
    for end, units in ends:
        if shadow is not None and end > shadow:
            break
        spare += units
        if shadow is None and spare >= need:
            shadow = end
    spare -= need
    for job in queue[1:]:
        if job[2] <= free and (now + job[1] <= shadow or job[2] <= spare):
            starts.append(job)
            free -= job[2]
            if now + job[1] > shadow:
                spare -= job[2]
    return starts


def list_round(now, queue, running, free):
    """Return the queued jobs to start now: every job is planned at its earliest time, in order."""
    starts, times, frees = [], [now], [free]
    for end, units in sorted(running):
        if end == times[-1]:
            frees[-1] += units
        else:
            times.append(end)
            frees.append(frees[-1] + units)
    for job in queue:
        need, i = job[2], 0
        while True:
            while frees[i] < need:
                i += 1
            end, j = times[i] + job[1], i + 1
            while j < len(times) and times[j] < end and frees[j] >= need:
                j += 1
            if j == len(times) or times[j] >= end:
                break
            i = j + 1
        if i == 0:
            starts.append(job)
        if j == len(times) or times[j] != end:
            times.insert(j, end)
            frees.insert(j, frees[j - 1])
        for k in range(i, j):
            frees[k] -= need
    return starts


def replay(jobs, dispatch, free):
    """Return (job, start) in order of end."""
    done, queue, running, i = [], [], [], 0
    while i < len(jobs) or running:
        now = min(jobs[i][0] if i < len(jobs) else 1 << 60, running[0][0] if running else 1 << 60)
        while running and running[0][0] == now:
            free += heapq.heappop(running)[1]
        while i < len(jobs) and jobs[i][0] == now:
            queue.append(jobs[i])
            i += 1
        for job in dispatch(now, list(queue), running, free) if queue else ():
            queue.remove(job)
            free -= job[2]
            heapq.heappush(running, (now + job[1], job[2]))
            done.append((job, now))
    return done


def main():
    """Read, replay, print bounded slowdown, mean and area-weighted response time, P2SF."""
    rounds = {"easy": easy_round, "list": list_round}[sys.argv[1]]
    done = replay(read(sys.argv[2]), rounds, int(sys.argv[3]))
    rows = [(start - s + d, start - s, d, r) for (s, d, r), start in done]
    print(
        sum(max(1, f / max(d, 10)) for f, _, d, _ in rows) / len(rows),
        sum(f for f, _, _, _ in rows) / len(rows),
        sum(r * d * f for f, _, d, r in rows) / sum(r * d for _, _, d, r in rows),
        3
        / 4
        * sum(r * (f**4 - w**4) for f, w, _, r in rows)
        / sum(r * (f**3 - w**3) for f, w, _, r in rows),
    )


if __name__ == "__main__":
    main()
