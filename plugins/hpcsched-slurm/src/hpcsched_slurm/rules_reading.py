"""Reading of a cluster's rules: partitions and licences often, accounting now and then."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from hpcsched import InputError
from hpcsched.system.cluster import UnavailableError
from hpcsched_slurm.job_rules import NO_CLUSTER_RULES, Rules
from hpcsched_slurm.licenses import read_licenses
from hpcsched_slurm.partition_limits import read_partitions
from hpcsched_slurm.policies import Policies
from hpcsched_slurm.policy_reading import Record, read_associations, read_qos
from hpcsched_slurm.versions import FAULTS

RULES_EVERY = 10.0
"""Seconds between two readings of partitions and licences."""
POLICIES_EVERY = 60.0
"""Seconds between two readings of QOS and associations."""


class RuleCalls(Protocol):
    """Calls of Slurm that tell of its rules."""

    def partitions(self) -> list[Mapping[str, str]]:
        """Return all partitions as pairs of `scontrol show partitions`."""

    def licenses(self) -> list[Mapping[str, Any]]:
        """Return all licences."""

    def qos(self) -> Sequence[Record]:
        """Return all QOS of the accounting."""

    def associations(self) -> Sequence[Record]:
        """Return all associations of the accounting."""

    def enforces_limits(self) -> bool | None:
        """Return whether Slurm enforces limits of the accounting; None: unknown."""


class RulesReader:
    """Rules of a cluster, read again when they are old; what cannot be read stays as it was.

    Parameters
    ----------
    calls
        Calls of Slurm.
    limits
        Whether limits of QOS and associations are read.
    """

    def __init__(self, calls: RuleCalls, *, limits: bool) -> None:
        self._calls, self._limits = calls, limits
        self._rules = NO_CLUSTER_RULES
        self._read = self._policies_read = float("-inf")
        self._troubles: dict[str, str] = {}

    def read(self, now: float, *, accounts: bool) -> tuple[Rules, tuple[str, ...]]:
        """Return the rules, and sentences about those that cannot be read.

        Parameters
        ----------
        now
            The present instant, in seconds since 1970.
        accounts
            Whether a job names an account: without one, there is no accounting to be asked.
        """
        if now - self._read >= RULES_EVERY:
            self._read = now
            self._take("the limits of partitions", self._read_partitions)
            self._take("licences", self._read_licenses)
        if accounts and self._limits and now - self._policies_read >= POLICIES_EVERY:
            self._policies_read = now
            self._take("the limits of QOS and associations", self._read_policies)
        return self._rules, tuple(self._troubles.values())

    def _take(self, what: str, read: Callable[[], Rules]) -> None:
        try:
            self._rules = read()
        except (InputError, UnavailableError, *FAULTS) as error:
            # Slurm itself refuses starts that break a rule.
            self._troubles[what] = f"{what} cannot be read, and are left to Slurm: {error}"
        else:
            self._troubles.pop(what, None)

    def _read_partitions(self) -> Rules:
        return self._rules._replace(partitions=read_partitions(self._calls.partitions()))

    def _read_licenses(self) -> Rules:
        return self._rules._replace(licenses=read_licenses(self._calls.licenses()))

    def _read_policies(self) -> Rules:
        if self._calls.enforces_limits() is False:
            return self._rules._replace(policies=None)
        qos, no_qos = read_qos(self._calls.qos())
        associations, no_associations = read_associations(self._calls.associations())
        policies = Policies(qos, associations, (*no_qos, *no_associations))
        return self._rules._replace(policies=policies)
