"""Queue order of Slurm's multifactor priority plugin.

Source: slurm.schedmd.com/priority_multifactor.html, .../classic_fair_share.html and
.../fair_tree.html (SchedMD), which define the factors; the code is our own.
"""

from collections.abc import Iterator, Sequence
from math import fsum
from typing import NamedTuple, Self

from hpcsched.context import Context
from hpcsched.dispatching.problem import DispatchingProblem, RunningJob, WaitingJob
from hpcsched.dispatching.rules.multifactor_accounts import AccountTree, Association
from hpcsched.dispatching.rules.multifactor_params import MultifactorParams, review_accounts
from hpcsched.dispatching.rules.multifactor_trees import classic, fair_tree
from hpcsched.dispatching.rules.multifactor_usage import DecayedUsage, User, user_of
from hpcsched.registration import builtin
from hpcsched.system.system import System
from hpcsched.workload.job import Job
from hpcsched.workload.site_partitions import Partitions

_CORE = "core"
"""Resource type in which Slurm counts usage."""


class Moment(NamedTuple):
    """Part of a dispatching problem that the order depends on.

    Attributes
    ----------
    now
        Simulated time, in seconds.
    """

    now: int
    queue: Sequence[WaitingJob]
    running: Sequence[RunningJob]


class Factors(NamedTuple):
    """Priority factors of a job, each between 0 and 1.

    Attributes
    ----------
    age
        Wait so far over the maximum age.
    size
        Demand as a share of the system, or 1 less that.
    fair_share
        1 for a user without usage, towards 0 with usage beyond the share.
    """

    age: float
    size: float
    fair_share: float
    partition: float
    qos: float


@builtin(
    "queue_order",
    "multifactor",
    MultifactorParams,
    summary="highest priority first, by age, size, fair share, partition and quality of service",
    review=review_accounts,
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
    - `qos`: the priority of the job's queue / the largest; 0 without a queue.

    All shares are those of the users that have one in the parameters, of the users with a started
    job, and of those in the queue. Users of unknown number count as one user.

    With a tree of accounts, `fair_share` is the rank of the user in the tree by Slurm's Fair Tree /
    the number of users, or the classic formula along the tree. Users are those that an account
    names, those with a started job, and those in the queue.
    """

    @classmethod
    def build(cls, params: MultifactorParams, context: Context) -> Self:
        """Create the order for the scenario's system and partitions."""
        return cls(params, context.system, context.partitions)

    def __init__(self, params: MultifactorParams, system: System, partitions: Partitions) -> None:
        self._params = params
        self._partitions = partitions
        self._usage = DecayedUsage(params.half_life, user_of)
        self._tree = _TreeShares(params, system) if params.accounts else None
        self._follower = self._usage if self._tree is None else self._tree.usage
        self._full_demand = system.full_demand
        self._largest_priority = partitions.largest_priority
        self._largest_qos = max(params.qos.values(), default=0.0)

    def job_started(self, job: RunningJob) -> None:
        """Record the start of a job."""
        self._follower.job_started(job)

    def job_ended(self, job: RunningJob, end_time: int) -> None:
        """Record the end of a job.

        Parameters
        ----------
        end_time
            Its end, in seconds.
        """
        self._follower.job_ended(job, end_time)

    def sort(self, problem: DispatchingProblem | Moment) -> Sequence[WaitingJob]:
        """Return the queue by priority, the highest first."""
        priority = {job: self.priority(factors) for job, factors in self.factors(problem).items()}
        return sorted(problem.queue, key=lambda job: -priority[job.job_id])

    def priority(self, factors: Factors) -> float:
        """Return the weighted sum of factors."""
        # fsum rounds once, so that equal jobs have equal priorities whatever the order of terms.
        weights = self._params.weights
        return fsum(
            (
                weights.age * factors.age,
                weights.size * factors.size,
                weights.fair_share * factors.fair_share,
                weights.partition * factors.partition,
                weights.qos * factors.qos,
            )
        )

    def factors(self, problem: DispatchingProblem | Moment) -> dict[int, Factors]:
        """Return the factors of each queued job."""
        if self._tree is not None:
            return {
                waiting.job_id: self._factors(waiting, problem.now, fair_share)
                for waiting, fair_share in self._tree.of(problem)
            }
        by_user = self._fair_shares(problem)
        return {
            waiting.job_id: self._factors(waiting, problem.now, by_user[waiting.job.user])
            for waiting in problem.queue
        }

    def _factors(self, waiting: WaitingJob, now: int, fair_share: float) -> Factors:
        job, params = waiting.job, self._params
        size = min(1.0, waiting.demand / self._full_demand)
        partition = self._partitions.of(job)
        priority = 0 if partition is None else partition.priority
        qos = self._qos(job)
        return Factors(
            min(1.0, (now - waiting.submit_time) / params.max_age),
            1.0 - size if params.favor_small else size,
            fair_share,
            priority / self._largest_priority if self._largest_priority else 0.0,
            qos / self._largest_qos if self._largest_qos else 0.0,
        )

    def _qos(self, job: Job) -> float:
        """Return the priority of the job's queue: by its number, or else by its name."""
        by_number = None if job.queue is None else self._params.qos.get(job.queue)
        if by_number is not None or job.queue_name is None:
            return by_number or 0.0
        return self._params.qos.get(job.queue_name, 0.0)

    def _fair_shares(self, problem: DispatchingProblem | Moment) -> dict[User, float]:
        """Return the fair-share factor of each user in the queue."""
        usage = self._usage.at(problem.now, problem.running)
        total = fsum(usage.values())
        queued = dict.fromkeys(waiting.job.user for waiting in problem.queue)
        # Running jobs of a problem that is solved by itself were never notified of.
        running = (job.waiting.job.user for job in problem.running)
        known = {*self._params.shares, *self._usage.owners(), *running, *queued}
        shares = fsum(self._share(user) for user in known)
        return {
            user: self._fair_share(usage.get(user, 0.0), total, self._share(user), shares)
            for user in queued
        }

    def _share(self, user: User) -> float:
        return 1.0 if user is None else self._params.shares.get(user, 1.0)

    @staticmethod
    def _fair_share(usage: float, total: float, share: float, shares: float) -> float:
        # A share of 0 would divide by zero; such users come last.
        if not share:
            return 0.0
        return 2.0 ** -((usage / total) * (shares / share)) if usage else 1.0


class _TreeShares:
    """Fair-share factors of jobs with users in a tree of accounts."""

    def __init__(self, params: MultifactorParams, system: System) -> None:
        self._tree = AccountTree(params.accounts, params.other_account)
        self._algorithm = classic if params.fair_share == "classic" else fair_tree
        self.usage: DecayedUsage[Association] = DecayedUsage(
            params.half_life, self._tree.association, _declared_usage(params, system)
        )

    def of(self, problem: DispatchingProblem | Moment) -> Iterator[tuple[WaitingJob, float]]:
        """Yield each queued job with its factor."""
        queued = [self._tree.association(waiting.job) for waiting in problem.queue]
        usage = self.usage.at(problem.now, problem.running)
        factors = self._algorithm(self._tree.with_usage(usage, (*self.usage.owners(), *queued)))
        for waiting, association in zip(problem.queue, queued, strict=True):
            yield waiting, factors[association]


def _declared_usage(params: MultifactorParams, system: System) -> dict[Association, float]:
    """Return the usage before the first job by association, as demand × seconds."""
    types = system.resource_types
    total = system.totals[types.index(_CORE) if _CORE in types else 0]
    # Without a total no job has a demand.
    scale = system.full_demand / total if total else 0.0
    return {
        Association(name, user): amount * scale
        for name, account in params.accounts.items()
        for user, amount in account.usage.items()
        if amount
    }
