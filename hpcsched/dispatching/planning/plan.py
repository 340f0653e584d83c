"""A plan: when each job of a model starts, and on which nodes."""

from typing import NamedTuple

import numpy as np

from hpcsched.dispatching.planning.model_data import ModelData
from hpcsched.system.system import IntArray


class Plan(NamedTuple):
    """Starts in steps from now, `[J]`, and units of each job on each node, `[J, N]`.

    A plan that says nothing of the nodes of a job has no units of it.
    """

    starts: IntArray
    placed: IntArray


def fault_of(plan: Plan, data: ModelData, *, only_now: bool = False) -> str | None:
    """Return what is wrong with a plan, in words; None if it can be carried out.

    With `only_now`, room is asked about for the jobs that start now alone. Written to be plain
    rather than fast, and to share nothing with what makes plans.
    """
    starts, placed = plan
    if starts.shape != (data.job_count,) or placed.shape != data.room.shape:
        return "it is not about the jobs and nodes asked about"
    if (starts < 0).any():
        return "a job starts in the past"
    if (placed < 0).any() or (placed > data.room).any():
        return "a node is given units that it cannot hold"
    jobs = [i for i in range(data.job_count) if starts[i] == 0 or not only_now]
    for i in jobs:
        if placed[i].sum() != data.units[i]:
            return f"{placed[i].sum()} units of a job of {data.units[i]} are placed"
    # What is held can only grow where a job starts or a node is closed.
    outages = data.outages
    closings = set() if outages is None else set(outages.begins.tolist())
    for time in {int(starts[i]) for i in jobs} | closings:
        used = np.zeros_like(data.capacity)
        held = data.held_until > time
        np.add.at(used, data.held_on[held], data.held[held])
        if outages is not None:
            closed = outages.nodes[(outages.begins <= time) & (time < outages.ends)]
            used[closed] += data.capacity[closed]
        for i in jobs:
            if starts[i] <= time < starts[i] + data.run_times[i]:
                used += placed[i][:, np.newaxis] * data.requests[i]
        if (used > data.capacity).any():
            return "a node is given more than it has"
    return None if data.pools is None else data.pools.fault_of(starts, data.run_times, jobs)
