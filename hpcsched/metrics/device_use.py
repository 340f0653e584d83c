"""Use of devices such as GPUs: what is allocated, and what is free but of no use to usual jobs."""

from collections import Counter
from typing import ClassVar, NamedTuple

import numpy as np
import pyarrow as pa

from hpcsched.arrow_arrays import computed, numpy_array
from hpcsched.metrics.column_sums import FloatColumn
from hpcsched.metrics.metric import Column, RunTables
from hpcsched.registration import NEEDS_DEVICES, builtin
from hpcsched.system.space import units_on_idle
from hpcsched.system.system import NOT_SCORED, IntArray, Request, System

USUAL = 0.95
"""Part of all jobs that the usual requests make up."""

COLUMNS = (
    *("submit_time", "start_time", "end_time", "unit_request", "node_groups", "allowed_nodes"),
    *("exclusive", "nodes", "node_units", "devices"),
)
"""Columns of `jobs.parquet` that are read."""


class DeviceUse(NamedTuple):
    """Devices over time, in shares of all; each value lasts until the next instant.

    Attributes
    ----------
    instants
        Submissions, starts and ends, in seconds, ascending, `[K]`.
    allocated
        Amount in use by jobs from each instant on, `[K]`.
    fragmented
        Amount that is free, but that a usual request cannot use, on average over these, `[K]`.
    last_arrival
        Index of the last submission.
    """

    instants: Column
    allocated: FloatColumn
    fragmented: FloatColumn
    last_arrival: int


class UsualRequests:
    """The most common requests, which make up 95 % of all jobs.

    Requests are the same if they ask for the same amounts of all resource types but memory, and may
    use the same nodes. Of those that are equally common the larger ones come first.

    Parameters
    ----------
    jobs
        All jobs, of `COLUMNS`, an Arrow table.
    system
        A system with devices.
    """

    def __init__(self, jobs: pa.Table, system: System) -> None:
        assert system.devices is not None
        own = system.resource_types.index(system.devices.resource_type)
        amounts = _amounts(jobs, system)
        amounts[:, [name == NOT_SCORED for name in system.resource_types]] = 0
        columns = (jobs[name].to_pylist() for name in ("node_groups", "allowed_nodes"))
        restrictions = zip(*([one and frozenset(one) for one in of] for of in columns), strict=True)
        counts = Counter(zip(map(tuple, amounts.tolist()), restrictions, strict=True))
        by_count = sorted(counts.items(), key=lambda one: (one[1], one[0][0]), reverse=True)
        covered = np.cumsum([count for _, count in by_count])
        usual = by_count[: int(np.searchsorted(covered, USUAL * len(jobs))) + 1]
        weights = np.array([count for _, count in usual], dtype=np.float64)
        self._shares = weights / weights.sum()
        self._amounts = np.array([key[0] for key, _ in usual], dtype=np.int64)
        self._asked = [system.devices.asked(amount) for amount in self._amounts[:, own].tolist()]
        self._parts = system.devices.parts
        self._eligible = [
            units_on_idle(system, Request(1, key[0], *key[1])) > 0 if asked.number else None
            for (key, _), asked in zip(usual, self._asked, strict=True)
        ]

    def useless(self, node: IntArray, free: IntArray, devices: IntArray) -> FloatColumn:
        """Return the free amount of devices that a usual request cannot use, on average, `[E]`.

        It is all that is free where the request asks for no device or a unit of it does not fit,
        memory apart, and otherwise what is free of devices that have less than it asks of one, or
        outside the places that it may take.

        Parameters
        ----------
        node
            Number of a node, `[E]`.
        free
            Free amounts of the node, `[E, R]`.
        devices
            Free amount of each part of its devices, `[E, D]`.

        Notes
        -----
        Source: Weng et al., USENIX ATC 2023, section 3: F(n, M) of a node n and a workload M.
        """
        whole = devices.sum(axis=1)
        by_part = devices.reshape(len(node), devices.shape[1] // self._parts, self._parts)
        lost = np.zeros(len(node))
        of_each = zip(self._shares, self._amounts, self._asked, self._eligible, strict=True)
        for share, amounts, asked, eligible in of_each:
            if eligible is None:
                lost += share * whole
                continue
            places, usable = np.zeros((2, len(node)), dtype=np.int64)
            for position in asked.positions:
                inside = [part for part in range(self._parts) if position >> part & 1]
                least = by_part[:, :, inside].min(axis=2)
                has_room = least >= asked.amount
                places += has_room.sum(axis=1)
                usable += (least * has_room).sum(axis=1) * len(inside)
            fits = eligible[node] & (free >= amounts).all(axis=1) & (places >= asked.number)
            lost += share * (whole - fits * usable)
        return lost


def device_use(jobs: pa.Table, system: System) -> DeviceUse:
    """Return the use of devices over time.

    Parameters
    ----------
    jobs
        All jobs that have left, at least one, of `COLUMNS`, an Arrow table. Attempts that were lost
        are not in it, and count as free.
    system
        A system with devices.
    """
    usual = UsualRequests(jobs, system)
    whole = int(system.device_capacity.sum())
    nodes = np.arange(system.node_count)
    idle = usual.useless(nodes, system.capacity, system.device_capacity)

    units = _placed_units(jobs, system)
    node = np.tile(units.node, 2)
    time = np.concatenate((units.start, units.end))
    taken = np.concatenate((units.taken, -units.taken))
    order = np.lexsort((time, node))
    node, time = node[order], time[order]
    used = np.cumsum(taken[order], axis=0)
    # Sums begin anew with each node; its units have all left after the last row.
    free = np.concatenate((system.capacity, system.device_capacity), axis=1)[node] - used
    types = len(system.resource_types)
    useless = usual.useless(node, free[:, :types], free[:, types:])
    is_first = np.append(True, node[1:] != node[:-1])[: len(node)]
    before = np.where(is_first, idle[node], np.roll(useless, 1))

    submit = _numbers(jobs, "submit_time")
    instants = np.unique(np.concatenate((submit, time)))
    place = np.searchsorted(instants, time)
    changes = np.zeros((2, len(instants)))
    np.add.at(changes[0], place, taken[order, types:].sum(axis=1))
    np.add.at(changes[1], place, useless - before)
    allocated, fragmented = np.cumsum(changes, axis=1) / whole
    last = int(np.searchsorted(instants, submit.max()))
    return DeviceUse(instants, allocated, fragmented + idle.sum() / whole, last)


def device_figures(run: RunTables, system: System) -> dict[str, float]:
    """Return the figures of devices by metric, ratios of all; empty where places are not known.

    `allocation_ratio` and `fragmentation` are of the instant of the last submission, and
    `mean_fragmentation` is over time from the first one to it, if that takes time.
    """
    if "devices" not in run.known and run.all_jobs is not None:
        jobs = run.all_jobs(*COLUMNS)
        figures: dict[str, float] = {}
        if len(jobs):
            use = device_use(jobs, system)
            last = use.last_arrival
            figures["allocation_ratio"] = float(use.allocated[last])
            figures["fragmentation"] = float(use.fragmented[last])
            seconds = np.diff(use.instants[: last + 1])
            if last:
                mean = np.average(use.fragmented[:last], weights=seconds)
                figures["mean_fragmentation"] = float(mean)
        run.known["devices"] = figures
    return dict(run.known.get("devices", {}))


class _OfDevices:
    """Metric of devices: its name among their figures, and the system that has them."""

    unit = ""
    population = "all jobs that left, until the last submission"
    name: ClassVar[str]

    def __init__(self, system: System) -> None:
        self._system = system

    def measure(self, run: RunTables) -> float | None:
        """Return the figure; None where the places of jobs are not known."""
        return device_figures(run, self._system).get(self.name)


@builtin("metric", "allocation_ratio", capabilities=[NEEDS_DEVICES])
class AllocationRatio(_OfDevices):
    """Metric: share of the devices, such as GPUs, in use when the last job arrives.

    Amount of devices in use once the last job has arrived, over their capacity.
    """

    name = "allocation_ratio"


@builtin(
    "metric",
    "fragmentation",
    summary="share of the devices that is free when the last job arrives, but no use to usual jobs",
    capabilities=[NEEDS_DEVICES],
)
class Fragmentation(_OfDevices):
    """Amount of devices that is free, but that usual requests cannot use, over their capacity.

    It is of the instant after the last arrival, and a mean over the usual requests; see
    `hpcsched.metrics.device_use.UsualRequests`.
    """

    name = "fragmentation"


@builtin("metric", "mean_fragmentation", capabilities=[NEEDS_DEVICES])
class MeanFragmentation(_OfDevices):
    """Metric: fragmentation on average over time, from the first to the last submission."""

    name = "mean_fragmentation"


class _Units(NamedTuple):
    """Placed units: node, start and end, `[U]`, and amounts with those of devices, `[U, R + D]`."""

    node: Column
    start: Column
    end: Column
    taken: IntArray


def _placed_units(jobs: pa.Table, system: System) -> _Units:
    """Return the units of the jobs that ran; of an exclusive job, its nodes."""
    assert system.devices is not None
    jobs = computed("filter", jobs, computed("is_valid", jobs["start_time"]))
    own = system.resource_types.index(system.devices.resource_type)
    of_place = np.repeat(np.arange(len(jobs)), _lengths(jobs, "nodes"))
    place = np.repeat(np.arange(len(of_place)), _flat(jobs, "node_units"))
    job, node = of_place[place], _flat(jobs, "nodes")[place]
    amounts = _amounts(jobs, system)
    bits = np.zeros(len(job), dtype=np.int64)
    bits[_lengths(jobs, "devices")[job] > 0] = _flat(jobs, "devices")
    width = system.device_capacity.shape[1]
    asked, of_job = np.unique(amounts[:, own], return_inverse=True)
    each = [system.devices.asked(one).amount for one in asked.tolist()]
    of_part = np.array(each, dtype=np.int64)[of_job][job]
    devices = (bits[:, np.newaxis] >> np.arange(width) & 1) * of_part[:, np.newaxis]
    taken = np.concatenate((amounts[job], devices), axis=1)
    exclusive = _numbers(jobs, "exclusive")[job]
    capacity = np.concatenate((system.capacity, system.device_capacity), axis=1)
    taken[exclusive] = capacity[node[exclusive]]
    # A node counts once.
    kept = ~exclusive | np.append(True, place[1:] != place[:-1])[: len(place)]
    job = job[kept]
    start, end = _numbers(jobs, "start_time"), _numbers(jobs, "end_time")
    return _Units(node[kept], start[job], end[job], taken[kept])


def _amounts(jobs: pa.Table, system: System) -> IntArray:
    """Return the amounts of a unit of each job, `[J, R]`."""
    asked = jobs["unit_request"].combine_chunks()
    return np.stack([numpy_array(asked.field(name)) for name in system.resource_types], axis=1)


def _numbers(jobs: pa.Table, column: str) -> Column:
    return numpy_array(jobs[column].combine_chunks())


def _lengths(jobs: pa.Table, column: str) -> Column:
    """Return the lengths of lists, 0 where there is none."""
    lengths = computed("list_value_length", jobs[column].combine_chunks())
    return numpy_array(computed("coalesce", lengths, pa.scalar(0, lengths.type)))


def _flat(jobs: pa.Table, column: str) -> Column:
    """Return the numbers of all lists, one behind the other."""
    return numpy_array(computed("list_flatten", jobs[column].combine_chunks())).astype(np.int64)
