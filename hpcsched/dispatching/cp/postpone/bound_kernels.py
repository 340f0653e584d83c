"""Compiled: lower bounds of the cost of plans that begin as the search has it.

Two bounds are compared with the best plan.

- By time tables: no job starts before the earliest time at which it could.
- By energy: of a resource that all share, jobs take run time × demand each. On a machine that may
  split them at will, the free amount is best given to the job with most weight for its energy
  first; the sum of weight × mean time of processing is then least, as for one machine (Smith 1956;
  Goemans 1996), and in no plan is it less. A job's mean time is its start and half its run time.
"""

from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.cp.postpone.search_tables import (
    BEST,
    DONE,
    LEVEL,
    Problem,
    Search,
)

NEVER = 1 << 62
"""Later than any time, and more than any plan costs."""

_ROUNDING = 1e-9
"""What sums of floating-point numbers may be off by, relatively."""


@compiled()
def _curve(j: int, start: int, problem: Problem) -> int:
    """Return a job's start-time cost function at a start, or its least from there on."""
    first, last = problem.curve_first[j], problem.curve_first[j + 1]
    if first == last:
        return 0
    k = last - 1
    while k > first and problem.curve_at[k] > start:
        k -= 1
    return int(problem.curve_cost[k] + problem.curve_slope[k] * (start - problem.curve_at[k]))


@compiled()
def cost_of(j: int, start: int, problem: Problem) -> int:
    """Return the cost of a job by its start."""
    cost = _curve(j, start, problem)
    for t in range(problem.weights.shape[0]):
        cost += problem.weights[t, j] * max(start, problem.free[t, j])
    return cost


@compiled()
def _least_from(j: int, start: int, problem: Problem) -> int:
    """Return the least cost of a job that starts at a step or later."""
    cost = cost_of(j, start, problem)
    first, last = problem.curve_first[j], problem.curve_first[j + 1]
    if first == last:
        return cost
    curve = _curve(j, start, problem)
    least = curve
    # A curve may fall later on. Between corners it is straight, so its least is at one of them.
    for k in range(first, last):
        if problem.curve_at[k] > start:
            least = min(least, problem.curve_cost[k])
    return cost - curve + least


@compiled()
def next_event(time: int, problem: Problem, search: Search) -> int:
    """Return the first time after another at which something may become free; NEVER if none."""
    found = NEVER
    for k in range(search.state[DONE]):
        i = search.by_end[k]
        end = search.start[i] + problem.run_times[i]
        if end > time:
            # `by_end` is in order: the first later end is the next.
            found = end
            break
    low, high = 0, len(problem.events)
    while low < high:
        middle = (low + high) // 2
        if problem.events[middle] > time:
            high = middle
        else:
            low = middle + 1
    if low < len(problem.events):
        found = min(found, problem.events[low])
    return found


@compiled()
def plan_cost(problem: Problem, search: Search) -> int:
    """Return the cost of the started jobs."""
    cost, last = 0, 0
    for j in range(len(search.start)):
        if search.start[j] >= 0:
            cost += cost_of(j, search.start[j], problem)
            last = max(last, search.start[j] + problem.run_times[j])
    return cost + problem.makespan * last


@compiled()
def is_hopeless(problem: Problem, search: Search) -> bool:
    """Say whether no plan that goes on from the present decisions is better than the best.

    A job that has been looked at, is postponed or finds too little starts at the next event: that
    may be the end of another that starts now.
    """
    level = search.state[LEVEL]
    now = search.level_time[level]
    then = next_event(now, problem, search)
    sooner = False
    for j in range(len(search.start)):
        search.earliest[j] = -1
        if search.start[j] >= 0 or search.rank[j] < search.level_at[level]:
            continue
        if search.postponed[j] >= 0 and not problem.by_node:
            continue
        enough = True
        for g in range(problem.demand.shape[1]):
            if problem.demand[j, g] > 0:
                enough = enough and search.together[level, g] >= problem.demand[j, g]
        if enough:
            search.earliest[j] = now
            then = min(then, now + problem.run_times[j])
            sooner = True
    # Only now is the next event known: a job that starts at once may end before all others.
    for j in range(len(search.start)):
        if search.earliest[j] == -1:
            search.earliest[j] = then
    return _is_too_dear(now if sooner else then, problem, search)


@compiled()
def is_hopeless_from(time: int, problem: Problem, search: Search) -> bool:
    """Say whether no plan is better than the best in which all other jobs start from then on."""
    for j in range(len(search.start)):
        search.earliest[j] = time
    return _is_too_dear(time, problem, search)


@compiled()
def _is_too_dear(time: int, problem: Problem, search: Search) -> bool:
    """Say the same where jobs start at their earliest times or later, all from a time on."""
    start, best = search.start, search.state[BEST]
    paid, least, last, ends = 0, 0, 0, 0
    for j in range(len(start)):
        if start[j] >= 0:
            paid += cost_of(j, start[j], problem)
            last = max(last, start[j] + problem.run_times[j])
            continue
        if search.earliest[j] > problem.latest[j]:
            return True
        least += _least_from(j, search.earliest[j], problem)
        ends = max(ends, search.earliest[j] + problem.run_times[j])
    last = max(last, ends)
    if paid + least + problem.makespan * last >= best:
        return True
    # The energy bound takes costs that grow at a known slope, which curves do not.
    if best == NEVER or search.state[DONE] == len(start) or len(problem.curve_at):
        return False
    for g in range(len(problem.energy_order)):
        # Costs are whole numbers, so that a better plan costs at most best − 1.
        if paid + _by_energy(g, time, last, problem, search) > best - 1 + _ROUNDING * abs(best):
            return True
    return False


@compiled()
def _by_energy(g: int, time: int, last: int, problem: Problem, search: Search) -> float:
    """Return a lower bound of the cost of the other jobs and the last end, by energy."""
    count = _sort_by_ratio(g, problem, search)
    bound, end = _run_by_energy(g, time, count, problem, search)
    for j in range(len(search.start)):
        if search.start[j] < 0:
            slope = search.slopes[j]
            # From its earliest start on a job costs at least its cost there + slope · delay. The
            # slope · start of all jobs together is what the relaxed run above bounds.
            bound += cost_of(j, search.earliest[j], problem) - slope * search.earliest[j]
            if problem.demand[j, g] == 0:
                # A job that takes nothing of the resource is not in that run.
                bound += slope * search.earliest[j]
    return float(bound + problem.makespan * max(float(last), end))


@compiled()
def _sort_by_ratio(g: int, problem: Problem, search: Search) -> int:
    """Write which jobs are left, by weight over energy; return how many.

    Of a cost that becomes steeper later, its slope at the earliest start is below it.
    """
    count = 0
    for k in range(len(search.start)):
        j = problem.energy_order[g, k]
        if search.start[j] >= 0:
            continue
        slope = 0.0
        for t in range(problem.weights.shape[0]):
            if problem.free[t, j] <= search.earliest[j]:
                slope += problem.weights[t, j]
        search.slopes[j] = slope
        if problem.demand[j, g] == 0:
            continue
        ratio = slope / (float(problem.demand[j, g]) * problem.run_times[j])
        at = count
        while at > 0 and search.ratios[at - 1] < ratio:
            search.ratios[at] = search.ratios[at - 1]
            search.sorted_jobs[at] = search.sorted_jobs[at - 1]
            at -= 1
        search.ratios[at], search.sorted_jobs[at] = ratio, j
        count += 1
    return count


@compiled()
def _run_by_energy(
    g: int, time: int, count: int, problem: Problem, search: Search
) -> tuple[float, float]:
    """Run the first sorted jobs one after another, split at will, from a time on.

    Return the sum of slope × start, a start being the mean time less half the run time, and the
    time at which all is done.
    """
    free = problem.total[g]
    started, allocated = 0, len(problem.releases)
    done = search.state[DONE]
    for k in range(done):
        i = search.by_end[k]
        if search.start[i] + problem.run_times[i] <= time:
            started = k + 1
        else:
            free -= problem.demand[i, g]
    for h in range(len(problem.releases) - 1, -1, -1):
        if problem.releases[h] <= time:
            break
        free -= problem.released[h, g]
        allocated = h
    at, total = float(time), 0.0
    for k in range(count):
        j = search.sorted_jobs[k]
        energy = float(problem.demand[j, g]) * problem.run_times[j]
        left, moment = energy, 0.0
        while left > 0.0:
            until = NEVER
            if started < done:
                i = search.by_end[started]
                until = search.start[i] + problem.run_times[i]
            if allocated < len(problem.releases):
                until = min(until, problem.releases[allocated])
            # While others hold all of it nothing is done, and time goes on to the next release.
            if until > at and free > 0:
                spent = left / free
                if until != NEVER and at + spent > until:
                    spent = until - at
                    part = spent * free
                else:
                    part = left
                moment += part * (at + spent / 2.0)
                left -= part
                at += spent
                if left <= 0.0:
                    break
            if until == NEVER:
                break
            at = max(at, float(until))
            while started < done:
                i = search.by_end[started]
                if search.start[i] + problem.run_times[i] > until:
                    break
                free += problem.demand[i, g]
                started += 1
            while allocated < len(problem.releases) and problem.releases[allocated] <= until:
                free += problem.released[allocated, g]
                allocated += 1
        total += search.slopes[j] * (moment / energy - problem.run_times[j] / 2.0)
    return total, at
