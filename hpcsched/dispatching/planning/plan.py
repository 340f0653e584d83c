"""Plans: the start of each job of a model, and its nodes."""

from typing import NamedTuple

import numpy as np

from hpcsched.dispatching.planning.model_data import ModelData
from hpcsched.system.system import IntArray


class Plan(NamedTuple):
    """Starts in steps from now, `[J]`, and units of each job on each node, `[J, N]`.

    A job whose nodes the plan leaves open has no units in `placed`.
    """

    starts: IntArray
    placed: IntArray


def fault_of(plan: Plan, data: ModelData, *, only_now: bool = False) -> str | None:
    """Return the fault of a plan, in words; None if it can be carried out.

    Written to be plain rather than fast, and to share nothing with the code that makes plans.

    Parameters
    ----------
    plan
        The plan to check.
    data
        The model.
    only_now
        Check the nodes of the jobs that start now alone.
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
    # What is allocated can only grow where a job starts or a node is closed.
    outages = data.outages
    closings = set() if outages is None else set(outages.begins.tolist())
    # Hence these instants are enough; every other second is no fuller than the last of them.
    for time in {int(starts[i]) for i in jobs} | closings:
        used = np.zeros_like(data.capacity)
        allocated = data.allocated_until > time
        np.add.at(used, data.allocated_on[allocated], data.allocated[allocated])
        if outages is not None:
            closed = outages.nodes[(outages.begins <= time) & (time < outages.ends)]
            used[closed] += data.capacity[closed]
        for i in jobs:
            if starts[i] <= time < starts[i] + data.run_times[i]:
                used += placed[i][:, np.newaxis] * data.requests[i]
        if (used > data.capacity).any():
            return "a node is given more than it has"
    return (
        None
        if data.shared_resources is None
        else data.shared_resources.fault_of(starts, data.run_times, jobs)
    )
