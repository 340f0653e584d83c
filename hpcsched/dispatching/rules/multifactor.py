"""Queue order of Slurm's multifactor priority plugin.

Source: slurm.schedmd.com/priority_multifactor.html, .../classic_fair_share.html and
.../fair_tree.html (SchedMD), which define the factors; the code is our own.
"""

from collections.abc import Iterable, Sequence
from math import nan
from typing import Any, NamedTuple, Self

import numpy as np

from hpcsched._core import Multifactor
from hpcsched.dispatching.problem import DispatchingProblem, RunningJob, WaitingJob
from hpcsched.dispatching.rules.multifactor_params import MultifactorParams
from hpcsched.registration import Context, builtin
from hpcsched.system.system import IntArray, Request, System
from hpcsched.workload.job import Job
from hpcsched.workload.job_batches import JobColumns
from hpcsched.workload.site_partitions import Partitions
from hpcsched.workload.site_policies import NO_POLICIES, PARENT, Account, SitePolicies

_CORE = "core"
"""Resource type in which Slurm counts usage."""

_FIELDS = (
    "user", "group", "application", "queue", "partition", "queue_name", "partition_name",
)  # fmt: skip
"""Fields of a job on which its constant factors depend."""

_ROOT = ""
"""Name of the root of the tree of accounts."""


class Association(NamedTuple):
    """A user in an account.

    Attributes
    ----------
    user
        Number of the user; None stands for all users of unknown number together.
    """

    account: str
    user: int | None


_Constants = tuple[int, int, float, float, float]
"""User, account, shares, and factors of partition and queue, of jobs with the same `_FIELDS`."""


class AccountTree:
    """Tree of accounts, with the users in each; without accounts all users are at the root.

    Attributes
    ----------
    parents, shares
        Number of the parent, and shares, of each account with shares of its own, parents first; the
        root is the first. Children of an account with `parent` as its shares are children of its
        parent.
    undeclared
        Number of the account of other users, if the scenario does not declare it; else -1.
    """

    def __init__(self, policies: SitePolicies) -> None:
        self._policies = policies
        self._accounts = dict(policies.accounts)
        self._numbers = {_ROOT: 0}
        self.parents, self.shares, self.undeclared = [0], [1.0], -1
        if not policies.accounts:
            return
        self._accounts.setdefault(policies.other_account, Account())
        for name in self._accounts:
            self._add(name)
        if policies.other_account not in policies.accounts:
            self.undeclared = self._numbers[policies.other_account]

    def _add(self, name: str) -> int:
        """Number an account and those above it; return the number."""
        number = self._numbers.get(name)
        if number is None:
            account = self._accounts[name]
            number = 0 if account.parent is None else self._add(account.parent)
            if account.shares != PARENT:
                self.parents.append(number)
                self.shares.append(float(account.shares))
                number = len(self.parents) - 1
            self._numbers[name] = number
        return number

    def association(self, job: Job) -> Association:
        """Return the user and the account to which a job's usage is charged."""
        return Association(self._policies.account_of(job) if self._accounts else _ROOT, job.user)

    def declared(self) -> Iterable[tuple[Association, float]]:
        """Yield the declared users with their usage before the first job, in core-seconds."""
        for name, account in self._accounts.items():
            for user in account.users:
                yield Association(name, user), account.usage.get(user, 0.0)

    def account_number(self, association: Association) -> int:
        """Return the number of the account below which a user is."""
        return self._numbers[association.account]

    def user_shares(self, association: Association) -> float:
        """Return the shares of a user among its siblings; NaN: those of the account."""
        name, user = association
        shares = 1.0 if user is None or not name else self._accounts[name].users.get(user, 1.0)
        return nan if shares == PARENT else float(shares)


@builtin(
    "queue_order",
    "multifactor",
    MultifactorParams,
    summary="highest priority first, by age, size, fair share, partition and quality of service",
)
class MultifactorOrder:
    """Queue order by priority, the highest first; ties stay in order of arrival.

    The priority is a weighted sum of factors:

    - `age`: wait so far / `max_age`, at most 1. A job that a limit of its partition holds back ages
      as others do;
    - `size`: demand as a share of the system, or 1 less that;
    - `fair_share`: 2^(−U / S), with U the user's share of all usage, and S that of all shares (the
      classic formula). 1 for a user without usage, but 0 for one with a share of 0;
    - `partition`: the priority of the job's partition / the largest; 0 without a partition;
    - `qos`: the priority of the job's QOS / the largest; 0 without one.

    All shares are those of the users with a started job and of those in the queue. Users of unknown
    number count as one user.

    With a tree of accounts, `fair_share` is the rank of the user in the tree by Slurm's Fair Tree /
    the number of users, or the classic formula along the tree. Users are those that an account
    names, those with a started job, and those in the queue.

    Attributes
    ----------
    core
        Users with their usage so far, and the formula.
    users
        Number of each user in the core.
    """

    @classmethod
    def build(cls, params: MultifactorParams, context: Context) -> Self:
        """Create the order for the scenario's system and partitions."""
        return cls(params, context.system, context.partitions, context.policies)

    def __init__(
        self,
        params: MultifactorParams,
        system: System,
        partitions: Partitions,
        policies: SitePolicies = NO_POLICIES,
    ) -> None:
        self.params = params
        self._partitions = partitions
        self._full_demand = system.full_demand
        self._policies = policies
        self.tree = AccountTree(policies)
        self.users: dict[Association, int] = {}
        self._known: dict[tuple[object, ...], _Constants] = {}
        self.core = Multifactor(
            age_weight=params.weights.age,
            fair_share_weight=params.weights.fair_share,
            max_age=params.max_age,
            half_life=params.half_life,
            fair_tree=bool(policies.accounts) and params.fair_share != "classic",
            parents=self.tree.parents,
            shares=self.tree.shares,
            undeclared=self.tree.undeclared,
        )
        # The demand of a core, or of a unit of the first resource type without cores; without a
        # total no job has a demand.
        types = system.resource_types
        total = system.totals[types.index(_CORE) if _CORE in types else 0]
        scale = system.full_demand / total if total else 0.0
        for association, usage in self.tree.declared():
            self.core.declare(
                self._user(association),
                self.tree.account_number(association),
                self.tree.user_shares(association),
                usage * scale,
            )

    def job_started(self, job: RunningJob) -> None:
        """Record the start of a job."""
        self.core.note_start(self.keys([job.waiting])[0], job.start_time)

    def job_ended(self, job: RunningJob, end_time: int) -> None:
        """Record the end of a job.

        Parameters
        ----------
        end_time
            Its end, in seconds; ends come in ascending order.
        """
        self.core.note_end(self.keys([job.waiting])[0], job.start_time, end_time)

    def sort(self, problem: DispatchingProblem) -> Sequence[WaitingJob]:
        """Return the queue by priority, the highest first."""
        queue, running = problem.queue, problem.running
        submit_times = [job.submit_time for job in queue]
        starts = np.array([job.start_time for job in running], dtype=np.int64)
        keys = self.keys(queue), self.keys([job.waiting for job in running])
        found = self.core.priorities(problem.now, submit_times, *keys, starts)
        ranked = zip(found, queue, strict=True)
        return [job for _, job in sorted(ranked, key=lambda one: -one[0])]

    def column_keys(self, columns: JobColumns, demand: IntArray) -> IntArray:
        """Return the keys of jobs for the core, `[B, 7]`, from their demands, `[B]`."""
        fields = zip(*(columns.details.column(name).to_pylist() for name in _FIELDS), strict=True)
        return self._key_rows([self._constants_of(values) for values in fields], demand)

    def keys(self, jobs: Sequence[WaitingJob]) -> IntArray:
        """Return the keys of jobs for the core, `[J, 7]`; see `hpcsched._core.Multifactor`."""
        fields = (tuple(getattr(waiting.job, name) for name in _FIELDS) for waiting in jobs)
        constants = [self._constants_of(values) for values in fields]
        return self._key_rows(constants, [job.demand for job in jobs])

    def _key_rows(
        self, constants: Sequence[_Constants], demand: Sequence[int] | IntArray
    ) -> IntArray:
        weights = self.params.weights
        keys = np.empty((len(constants), 7), dtype=np.int64)
        if constants:
            users, accounts, shares, partition, qos = zip(*constants, strict=True)
            keys[:, 0], keys[:, 1] = users, accounts
            reals = keys[:, 2:].view(np.float64)
            reals[:, 0], reals[:, 1] = shares, np.array(demand, dtype=np.float64)
            size = np.minimum(1.0, reals[:, 1] / float(self._full_demand))
            reals[:, 2] = weights.size * (1.0 - size if self.params.favor_small else size)
            reals[:, 3] = weights.partition * np.array(partition)
            reals[:, 4] = weights.qos * np.array(qos)
        return keys

    def _constants_of(self, values: tuple[object, ...]) -> _Constants:
        found = self._known.get(values)
        if found is None:
            fields: dict[str, Any] = dict(zip(_FIELDS, values, strict=True))
            job = Job(0, 0, Request(0, ()), 0, **fields)
            association, partition = self.tree.association(job), self._partitions.of(job)
            priority = 0 if partition is None else partition.priority
            qos = self._policies.priority_of(job)
            found = self._known[values] = (
                self._user(association),
                self.tree.account_number(association),
                self.tree.user_shares(association),
                priority / self._partitions.largest_priority if priority else 0.0,
                qos / self._policies.largest_priority if qos else 0.0,
            )
        return found

    def _user(self, association: Association) -> int:
        return self.users.setdefault(association, len(self.users))
