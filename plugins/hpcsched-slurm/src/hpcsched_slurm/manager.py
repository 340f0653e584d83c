"""The workload manager `slurm`."""

import time
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from hpcsched import InputError
from hpcsched.system.cluster import ClusterJob, ClusterState, UnavailableError
from hpcsched_slurm.params import SlurmParams
from hpcsched_slurm.reading import cluster_of
from hpcsched_slurm.reading_jobs import Terms
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
