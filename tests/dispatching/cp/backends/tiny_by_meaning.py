"""The optimum of tiny data by what each kind of formulation means, by trying everything.

What is tried: jobs in every order, each at its earliest start beside those before it, on every
choice of what it takes. For given resources some best plan is among them where no job gets cheaper
by waiting. Nothing is shared with what makes plans or models.
"""

from collections.abc import Callable, Iterator
from itertools import combinations, pairwise, product

from hpcsched.dispatching.cp.formulation import Formulation
from hpcsched.dispatching.planning.model_data import ModelData
from tests.dispatching.cp.tiny import cost_by_start, optimum, placements

Slots = frozenset[tuple[int, ...]]
"""Things of which each is one job's at a time."""


def _free_together(data: ModelData, length: int) -> list[list[int]]:
    """Return what is free of all nodes together at each time."""
    free = [data.capacity.sum(axis=0).tolist() for _ in range(length)]
    for end, amounts in zip(data.allocated_until.tolist(), data.allocated.tolist(), strict=True):
        for time in range(end):
            free[time] = [
                most - allocated for most, allocated in zip(free[time], amounts, strict=True)
            ]
    for n, begin, end in zip(*(data.outages or ()), strict=True):
        for time in range(int(begin), int(end)):
            there = data.capacity[int(n)].tolist()
            free[time] = [most - gone for most, gone in zip(free[time], there, strict=True)]
    return free


def _length(data: ModelData) -> int:
    last = int(data.allocated_until.max(initial=0))
    if data.outages is not None:
        last = max(last, int(data.outages.ends.max()))
    return last + int(data.run_times.sum()) + 1


def _least(
    data: ModelData,
    ways: Callable[[int], list[tuple[int, object]]],
    take: Callable[[int, object, int, int], None],
) -> int:
    """Return what the best plan costs: `ways` of a job are starts, and what it takes then."""
    best = [10**9]
    run_times = data.run_times.tolist()

    def go_on(left: frozenset[int], cost: int, last: int, least: int) -> None:
        if cost + data.makespan * last + least >= best[0]:
            return
        if not left:
            best[0] = cost + data.makespan * last
            return
        for job in sorted(left):
            for start, what in ways(job):
                take(job, what, start, 1)
                go_on(
                    left - {job},
                    cost + cost_by_start(data, job, start),
                    max(last, start + run_times[job]),
                    least - cost_by_start(data, job, 0),
                )
                take(job, what, start, -1)

    jobs = frozenset(range(data.job_count))
    go_on(jobs, 0, 0, sum(cost_by_start(data, job, 0) for job in jobs))
    return best[0]


def optimum_of_shared(data: ModelData, *, nodes_now: bool = False) -> int:
    """Return what the best plan costs that takes all nodes for one.

    With `nodes_now`, what starts now has nodes besides.
    """
    free = _free_together(data, _length(data))
    here = data.available.tolist()
    demands = (data.units[:, None] * data.requests).tolist()
    requests, run_times = data.requests.tolist(), data.run_times.tolist()
    closes = [10**9] * data.node_count
    for n, begin, _ in zip(*(data.outages or ()), strict=True):
        closes[int(n)] = min(closes[int(n)], int(begin))

    def fits(job: int, start: int) -> bool:
        times = free[start : start + run_times[job]]
        return all(a >= b for row in times for a, b in zip(row, demands[job], strict=True))

    def earliest(job: int, start: int) -> int:
        while not fits(job, start):
            start += 1
        return start

    def ways(job: int) -> list[tuple[int, object]]:
        if not nodes_now:
            return [(earliest(job, 0), None)]
        found: list[tuple[int, object]] = [(earliest(job, 1), None)]
        if fits(job, 0):
            found += [
                (0, counts)
                for counts in placements(data, job)
                if all(
                    count == 0
                    or (
                        closes[n] >= run_times[job]
                        and all(
                            count * asked <= left
                            for asked, left in zip(requests[job], here[n], strict=True)
                        )
                    )
                    for n, count in enumerate(counts)
                )
            ]
        return found

    def take(job: int, what: object, start: int, sign: int) -> None:
        for row in free[start : start + run_times[job]]:
            for r, amount in enumerate(demands[job]):
                row[r] -= sign * amount
        if isinstance(what, tuple):
            for n, count in enumerate(what):
                for r, asked in enumerate(requests[job]):
                    here[n][r] -= sign * count * asked

    return _least(data, ways, take)


def _rows(size: int, count: int, length: int) -> Iterator[tuple[int, ...]]:
    """Yield the first positions of so many units of a size that do not overlap, ascending."""
    if size == 0:
        yield (0,) * count
        return
    for lows in combinations(range(length - size + 1), count):
        if all(b - a >= size for a, b in pairwise(lows)):
            yield lows


def _slots(data: ModelData, job: int) -> Iterator[Slots]:
    """Yield every set of positions (node, type, position) that a job can have."""
    request = data.requests[job].tolist()
    for counts in placements(data, job):
        choices = [
            [(n, r, lows) for lows in _rows(size, count, int(data.capacity[n, r]))]
            for n, count in enumerate(counts)
            if count
            for r, size in enumerate(request)
            if size
        ]
        for rows in product(*choices):
            yield frozenset(
                (n, r, low + k) for n, r, lows in rows for low in lows for k in range(request[r])
            )


def optimum_by_position(data: ModelData) -> int:
    """Return what the best plan costs whose units keep positions side by side.

    Running jobs have the lowest positions of their nodes, the one that ends last the lowest.
    """
    taken: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    for n in range(data.node_count):
        for r in range(data.type_count):
            low = 0
            for k in sorted(
                range(len(data.allocated_until)), key=lambda k: -data.allocated_until[k]
            ):
                if data.allocated_on[k] == n:
                    for position in range(low, low + int(data.allocated[k, r])):
                        taken.setdefault((n, r, position), []).append(
                            (0, int(data.allocated_until[k]))
                        )
                    low += int(data.allocated[k, r])
            for m, begin, end in zip(*(data.outages or ()), strict=True):
                for position in range(int(data.capacity[n, r]) if int(m) == n else 0):
                    times = (int(begin), int(end))
                    taken.setdefault((n, r, position), []).append(times)
    run_times = data.run_times.tolist()
    choices = [list(dict.fromkeys(_slots(data, job))) for job in range(data.job_count)]

    def earliest(job: int, slots: Slots) -> int:
        start = 0
        busy = sorted(times for slot in slots for times in taken.get(slot, ()))
        moved = True
        while moved:
            moved = False
            for begin, end in busy:
                if begin < start + run_times[job] and start < end:
                    start, moved = end, True
        return start

    def ways(job: int) -> list[tuple[int, object]]:
        return [(earliest(job, slots), slots) for slots in choices[job]]

    def take(job: int, what: object, start: int, sign: int) -> None:
        assert isinstance(what, frozenset)
        for slot in what:
            times = (start, start + run_times[job])
            if sign > 0:
                taken.setdefault(slot, []).append(times)
            else:
                taken[slot].remove(times)

    return _least(data, ways, take)


def optimum_of(formulation: Formulation, data: ModelData) -> int:
    """Return what the best plan costs by what a formulation says of nodes."""
    if formulation.fit == "exact":
        return optimum(data)
    if formulation.fit == "restriction":
        return optimum_by_position(data)
    return optimum_of_shared(data, nodes_now=formulation.binds == "now")
