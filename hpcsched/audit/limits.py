"""Checks of limits of partitions, QOS, accounts and users, from the jobs alone."""

from collections import Counter
from typing import NamedTuple

import numpy as np

from hpcsched.audit.columns import Amounts, Replayed, sums_upto
from hpcsched.audit.partitions import by_attempt, rules_of
from hpcsched.audit.violations import Check, rule
from hpcsched.system.limits import NODES
from hpcsched.system.system import IntArray

_MINUTE = 60
_Key = tuple[str, str, str]
"""Group, kind and name of what is limited; see `Counter`."""


class _Group(NamedTuple):
    """Attempts that count in a group, in order of their starts, and those that keep to a limit."""

    start: IntArray
    end: IntArray
    requested: IntArray
    amount: Amounts
    bound: IntArray

    def between(self, values: Amounts, begin: IntArray, end: IntArray) -> Amounts:
        """Return the sum of values from `begin` to before `end`, at each start that is bound."""
        end, at = np.maximum(begin, end), self.start[self.bound]
        return sums_upto(begin, values, at) - sums_upto(end, values, at)

    def level(self, kind: str) -> Amounts:
        """Return what counts against a limit at each start that is bound."""
        amount, at = self.amount, self.start[self.bound]
        limit = self.start + self.requested
        planned = np.minimum(self.end, limit)
        if kind == "amount":
            return self.between(amount, self.start, self.end)
        running = self.between(amount * limit, self.start, planned)
        running -= at * self.between(amount, self.start, planned)
        if kind == "running":
            return running
        used = sums_upto(self.end, amount * (self.end - self.start), at)
        late = at * self.between(amount, limit, self.end)
        late -= self.between(amount * self.start, limit, self.end)
        return used + late + self.between(amount * self.requested, self.start, planned)


@rule(lambda at: at.limits.any)
def group_limits(check: Check, at: Replayed) -> None:
    """Check that no job starts beyond a limit of its group.

    Jobs that start at the same instant may have started one after the other, so that those which
    need not keep to the limit are left out there; jobs without length hold nothing. A job that was
    rejected for a used-up limit is beyond one when all have ended, or waits for such a job.
    """
    run, rules = at.attempts, rules_of(at.trace, at.limits)
    of_run = by_attempt(at, rules.of_job)
    requested = by_attempt(at, at.trace.requested_time)
    holds = run.ran & (of_run >= 0) & (run.end_time > run.start_time)
    bounds: dict[_Key, dict[int, tuple[int, str]]] = {}
    counted: dict[_Key, set[int]] = {}
    used: dict[_Key, int] = {}
    for n, one in enumerate(rules.distinct):
        for counter in one.counters:
            key: _Key = counter[:3]
            counted.setdefault(key, set()).add(n)
            used[key] = _MINUTE * counter.used if counter.kind != "running" else 0
        for of in one.limits:
            key = of.group, "amount", of.counted
            bounds.setdefault(key, {})[n] = of.most, of.name
        for over in one.over_time:
            key = over.group, over.kind, over.counted
            bounds.setdefault(key, {})[n] = _MINUTE * (over.limit.most or 0), over.name
    types = {name: r for r, name in enumerate(at.system.resource_types)}
    rejected = run.rejected_by == "used_up_limit"
    beyond = np.zeros_like(rejected)
    for key, binding in bounds.items():
        _, kind, name = key
        asked = at.asked[:, types[name]] if name in types else np.ones_like(of_run)
        rows = np.flatnonzero(holds & np.isin(of_run, list(counted[key])))
        if kind in ("total", "wall"):
            ran = (asked * (run.end_time - run.start_time))[rows].sum() + used[key]
            for n, told_most in binding.items():
                beyond |= (of_run == n) & (ran + asked * requested > told_most[0])
        rows = rows[np.argsort(run.start_time[rows], kind="stable")]
        amount = asked[rows]
        bound = np.flatnonzero(np.isin(of_run[rows], list(binding)) & (amount > 0))
        if not len(bound):
            continue
        times = run.start_time[rows], run.end_time[rows], requested[rows]
        group = _Group(*times, amount, bound)
        if name == NODES:
            level = _nodes(at, rows, group)
        else:
            level = group.level("total" if kind == "wall" else kind) + used[key]
            free = np.setdiff1d(np.arange(len(rows)), bound)
            factor = 1 if kind == "amount" else requested[rows][free]
            level -= _at(group.start[free], amount[free] * factor, group.start[bound])
        check.looked_at += len(bound)
        most = np.array([binding[n][0] for n in of_run[rows[bound]].tolist()])
        words = np.array([binding[n][1] for n in of_run[rows[bound]].tolist()], dtype=np.str_)
        message = "job {}: second {}: {}: expected at most {}, found {}"
        told = run.job_id[rows[bound]], group.start[bound], words, most, level
        check.found_at(level > most, message, *told)
    check.looked_at += int(rejected.sum())
    after = dict(zip(at.trace.job_id.tolist(), at.trace.after, strict=True))
    for row in np.flatnonzero(rejected & ~beyond).tolist():
        beyond[row] = np.isin(after.get(int(run.job_id[row]), ()), run.job_id[rejected]).any()
    message = "job {}: expected a start, found it rejected, and within its limits"
    check.found_at(rejected & ~beyond, message, run.job_id)


def _at(times: IntArray, amounts: Amounts, at: IntArray) -> Amounts:
    """Return the amounts at exactly some instants."""
    return sums_upto(times, amounts, at) - sums_upto(times, amounts, at, side="left")


def _nodes(at: Replayed, rows: IntArray, group: _Group) -> IntArray:
    """Return the number of nodes of a group at each start that is bound."""
    run = at.attempts
    nodes_of: dict[int, list[int]] = {row: [] for row in rows.tolist()}
    for row, node in zip(run.place_row.tolist(), run.node.tolist(), strict=True):
        if row in nodes_of:
            nodes_of[row].append(node)
    free = np.setdiff1d(np.arange(len(rows)), group.bound).tolist()
    events = [(time, 0, k) for k, time in enumerate(group.end.tolist())]
    events += [(time, 2 if k in set(free) else 1, k) for k, time in enumerate(group.start.tolist())]
    on: Counter[int] = Counter()
    found: dict[int, int] = {}
    for time, step, k in sorted(events):
        change = -1 if step == 0 else 1
        on.update(dict.fromkeys(nodes_of[int(rows[k])], change))
        if step == 1:
            found[time] = sum(count > 0 for count in on.values())
    return np.array([found[time] for time in group.start[group.bound].tolist()], dtype=np.int64)
