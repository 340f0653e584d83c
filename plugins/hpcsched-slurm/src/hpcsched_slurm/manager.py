"""The workload manager `slurm`, and the state of a cluster from its answers."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from hpcsched import InputError
from hpcsched.system.cluster import ClusterJob, ClusterState, UnavailableError
from hpcsched_slurm.job_rules import NO_CLUSTER_RULES, Rules, node_limits
from hpcsched_slurm.params import SlurmParams
from hpcsched_slurm.reading_jobs import RUNNING, JobReader, Terms
from hpcsched_slurm.reading_nodes import read_nodes
from hpcsched_slurm.reservations import NO_RESERVATIONS, Reservations, read_reservations
from hpcsched_slurm.rules_reading import RuleCalls, RulesReader

RESERVATIONS_EVERY = 10.0
"""Seconds between two readings of the reservations."""


class Calls(RuleCalls, Protocol):
    """Questions and orders to Slurm, by slurmrestd or by commands."""

    def jobs(self) -> list[Mapping[str, Any]]:
        """Return all jobs that Slurm still knows."""

    def nodes(self) -> list[Mapping[str, Any]]:
        """Return all nodes."""

    def reservations(self) -> list[Mapping[str, Any]]:
        """Return all reservations."""

    def place(self, key: str, nodes: str) -> None:
        """Bind a job to nodes, none if the text is empty, and let it start."""

    def hold(self, key: str) -> None:
        """Hold a job, bound to no node."""


class Slurm:
    """A cluster that Slurm runs."""

    def __init__(self, calls: Calls, terms: Terms, *, limits: bool = True) -> None:
        self._calls = calls
        self._rules = RulesReader(calls, limits=limits)
        self._terms = terms
        self._reservations = NO_RESERVATIONS
        self._reservations_read = float("-inf")

    def read(self) -> ClusterState:
        """Return the cluster; raises UnavailableError where Slurm does not answer as expected."""
        jobs, nodes, now = self._calls.jobs(), self._calls.nodes(), time.time()
        if now - self._reservations_read >= RESERVATIONS_EVERY:
            self._reservations_read, self._reservations = now, self._read_reservations()
        accounts = any(job.get("account") for job in jobs)
        rules, troubles = self._rules.read(now, accounts=accounts)
        try:
            state = cluster_of(jobs, nodes, self._terms, now, self._reservations, rules=rules)
        except ValueError as error:
            raise UnavailableError(f"what Slurm says is not understood: {error}") from error
        return state._replace(warnings=(*state.warnings, *troubles))

    def _read_reservations(self) -> Reservations:
        try:
            return read_reservations(self._calls.reservations())
        except (InputError, UnavailableError) as error:
            # Slurm itself refuses starts that would reach into a reservation.
            told = f"the reservations cannot be read, and are left to Slurm: {error}"
            return Reservations((), (told,))

    def start(self, job: ClusterJob, nodes: Sequence[str]) -> None:
        """Have a held job start on nodes; on any that Slurm chooses if none is named.

        Raises RefusedError where Slurm does not, UnavailableError where it does not answer.
        """
        self._calls.place(job.key, ",".join(nodes))

    def hold(self, job: ClusterJob) -> None:
        """Take back a job; raises as `start` does."""
        self._calls.hold(job.key)


def make_slurm(params: SlurmParams) -> Slurm:
    """Return a cluster as parameters say; raises InputError where it cannot be reached so."""
    terms = Terms(params.mark, params.no_limit)
    return Slurm(calls_of(params), terms, limits=params.limits)


def calls_of(params: SlurmParams) -> Calls:
    """Return the way to Slurm: slurmrestd if it is given, else the commands.

    Raises
    ------
    InputError
        If there is no token for slurmrestd, or no configuration for the commands.
    """
    if params.rest is not None:
        from hpcsched_slurm.rest import Rest  # noqa: PLC0415 (one of the two ways)

        return Rest(params)
    from hpcsched_slurm.commands import Commands, check_config  # noqa: PLC0415 (the other)

    check_config(params)
    return Commands(params)


def cluster_of(
    jobs: Iterable[Mapping[str, Any]],
    nodes: Iterable[Mapping[str, Any]],
    terms: Terms,
    now: float,
    reservations: Reservations = NO_RESERVATIONS,
    *,
    rules: Rules = NO_CLUSTER_RULES,
) -> ClusterState:
    """Return the cluster; its warnings name nodes and jobs that are not understood.

    Parameters
    ----------
    now
        The present instant, in seconds since 1970.

    Raises
    ------
    ValueError
        If no node is understood.
    """
    found_nodes = read_nodes(nodes, reservations.outages, now)
    reader = JobReader(found_nodes.known, terms, now, rules)
    found: list[ClusterJob] = []
    running_tasks: dict[int, int] = {}
    for job in jobs:
        array = job.get("array_job_id")
        if array and isinstance(array, int) and str(job.get("job_state")) in RUNNING:
            running_tasks[array] = running_tasks.get(array, 0) + 1
        found += reader.read(job)
    within = tuple(_within_limits(found, reader.most_tasks, running_tasks))
    told = (
        f"jobs such as {key} are not understood, and left to Slurm: {fault}"
        for fault, key in reader.faults.items()
    )
    warnings = (*found_nodes.warnings, *reservations.warnings, *rules.warnings, *told)
    return ClusterState(
        found_nodes.cluster,
        within,
        warnings,
        reservations.outages,
        rules.licenses.present,
        node_limits(rules),
    )


def _within_limits(
    jobs: Iterable[ClusterJob], most: Mapping[int, int], running: Mapping[int, int]
) -> Iterator[ClusterJob]:
    """Yield jobs, those tasks blocked that an array's own limit does not let run now."""
    room = {array: limit - running.get(array, 0) for array, limit in most.items()}
    listed = list(jobs)
    waiting = [
        job for job in listed if job.phase == "waiting" and "_" in job.key and _array(job) in room
    ]
    # Tasks that were released to nodes are next, wherever they are listed.
    waiting.sort(key=lambda job: job.held or not job.wanted)
    over: set[str] = set()
    for job in waiting:
        room[_array(job)] -= 1
        if room[_array(job)] < 0:
            over.add(job.key)
    for job in listed:
        if job.key in over:
            yield job._replace(phase="blocked", held=False, why="JobArrayTaskLimit")
        else:
            yield job


def _array(job: ClusterJob) -> int:
    return int(job.key.partition("_")[0])
