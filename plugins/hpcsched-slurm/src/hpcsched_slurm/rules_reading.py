"""Reading of a cluster's rules: partitions and licences often, accounting now and then."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from hpcsched import InputError
from hpcsched.system.cluster import UnavailableError
from hpcsched.system.limits import Association, Qos, TimeUsage
from hpcsched.system.policies import TIME_LIMITS, Policies
from hpcsched_slurm.job_rules import NO_CLUSTER_RULES, Rules
from hpcsched_slurm.licenses import read_licenses
from hpcsched_slurm.partition_limits import read_partitions
from hpcsched_slurm.policy_reading import Record, read_associations, read_qos
from hpcsched_slurm.time_limits import read_time_usage
from hpcsched_slurm.versions import FAULTS

RULES_EVERY = 10.0
"""Seconds between two readings of partitions and licences."""
POLICIES_EVERY = 60.0
"""Seconds between two readings of QOS and associations."""
USAGE_EVERY = 10.0
"""Seconds between two readings of the usage of limits over time, where there are such limits."""
_LIMITS = frozenset({"limits", "safe", "all"})
_SAFE = frozenset({"safe", "all"})


class RuleCalls(Protocol):
    """Calls of Slurm that tell of its rules."""

    def partitions(self) -> list[Mapping[str, str]]:
        """Return all partitions as pairs of `scontrol show partitions`."""

    def lists_subaccounts(self) -> bool:
        """Return whether `AllowAccounts` and the like include the accounts below those listed."""

    def licenses(self) -> list[Mapping[str, Any]]:
        """Return all licences."""

    def qos(self) -> Sequence[Record]:
        """Return all QOS of the accounting."""

    def associations(self) -> Sequence[Record]:
        """Return all associations of the accounting."""

    def enforced(self) -> frozenset[str] | None:
        """Return the words of `AccountingStorageEnforce`, in lower case; None: unknown."""

    def time_usage(self) -> str:
        """Return the output of `scontrol --oneliner show assoc_mgr` on QOS and associations."""


class _Accounting(NamedTuple):
    """QOS and associations, sentences about them, and whether they are enforced safely."""

    qos: Sequence[Qos]
    associations: Sequence[Association]
    warnings: tuple[str, ...]
    safe: bool

    def policies(self, usage: TimeUsage | None) -> Policies:
        """Return the policies with the usage of limits over time; None if it is unknown."""
        known = self.qos, self.associations, self.warnings
        return Policies(*known, usage=usage, safe=self.safe)


class RulesReader:
    """Rules of a cluster, read again when they are old; unreadable ones stay as they were."""

    def __init__(self, calls: RuleCalls, *, limits: bool) -> None:
        self._calls, self._limits = calls, limits
        self._rules = NO_CLUSTER_RULES
        self._read = self._policies_read = self._usage_read = float("-inf")
        self._accounting: _Accounting | None = None
        self._usage: TimeUsage | None = None
        # Whether there were limits over time when they could be read last.
        self._limited = False
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
            self._read_usage(now)
        elif self._limited and now - self._usage_read >= USAGE_EVERY:
            self._read_usage(now)
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
        partitions = read_partitions(self._calls.partitions())
        return self._rules._replace(
            partitions=partitions, subaccounts=self._calls.lists_subaccounts()
        )

    def _read_licenses(self) -> Rules:
        return self._rules._replace(licenses=read_licenses(self._calls.licenses()))

    def _read_policies(self) -> Rules:
        enforced = self._calls.enforced()
        if enforced is not None and _LIMITS.isdisjoint(enforced):
            self._accounting = None
            return self._rules._replace(policies=None)
        qos, no_qos = read_qos(self._calls.qos())
        associations, no_associations = read_associations(self._calls.associations())
        safe = enforced is not None and not _SAFE.isdisjoint(enforced)
        self._accounting = _Accounting(qos, associations, (*no_qos, *no_associations), safe)
        return self._rules._replace(policies=self._accounting.policies(self._usage))

    def _read_usage(self, now: float) -> None:
        if self._accounting is None:
            return
        self._usage_read = now
        what = f"the usage that counts against {', '.join(TIME_LIMITS)}"
        try:
            self._usage = read_time_usage(self._calls.time_usage(), now)
        except (InputError, UnavailableError, *FAULTS) as error:
            # Former usage would be wrong: jobs have ended since.
            self._usage = None
            self._troubles[what] = (
                f"{what} cannot be read, and these limits are left to Slurm: {error}"
            )
        else:
            self._limited = self._usage.limited
            self._troubles.pop(what, None)
        self._rules = self._rules._replace(policies=self._accounting.policies(self._usage))
