"""Factors of the order `multifactor`, read from what it tells the core."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from pydantic import TypeAdapter

from hpcsched.dispatching.problem import RunningJob, WaitingJob
from hpcsched.dispatching.rules.multifactor import Association, MultifactorOrder
from hpcsched.dispatching.rules.multifactor_params import MultifactorParams
from hpcsched.scenario.policy_declarations import DeclaredAccounts, DeclaredQos, build_policies
from hpcsched.system.system import System
from hpcsched.workload.site_partitions import NO_PARTITIONS, Partitions
from hpcsched.workload.site_policies import SitePolicies


def policies_of(given: dict[str, Any]) -> SitePolicies:
    """Return the QOS and accounts of a scenario, given as priorities and declarations."""
    qos = {name: {"priority": priority} for name, priority in given.pop("qos", {}).items()}
    accounts = given.pop("accounts", {})
    declared = (
        TypeAdapter(DeclaredQos).validate_python(qos),
        TypeAdapter(DeclaredAccounts).validate_python(accounts),
    )
    return build_policies(*declared)


def order_of(
    given: dict[str, Any], system: System, partitions: Partitions = NO_PARTITIONS
) -> MultifactorOrder:
    """Return the order of parameters, with `qos` and `accounts` of a scenario beside them."""
    given = dict(given)
    policies = policies_of(given)
    return MultifactorOrder(MultifactorParams.model_validate(given), system, partitions, policies)


Keys = np.ndarray[tuple[int, int], np.dtype[np.int64]]


class Factors(NamedTuple):
    """Priority factors of a job, each between 0 and 1."""

    age: float
    size: float
    fair_share: float
    partition: float
    qos: float


def _running(order: MultifactorOrder, running: Sequence[RunningJob]) -> tuple[Keys, Keys]:
    starts = np.array([job.start_time for job in running], dtype=np.int64)
    return order.keys([job.waiting for job in running]), starts


def priorities_of(
    order: MultifactorOrder, now: int, queue: Sequence[WaitingJob], running: Sequence[RunningJob]
) -> dict[int, float]:
    """Return the priority of each queued job."""
    submitted = [job.submit_time for job in queue]
    found = order.core.priorities(now, submitted, order.keys(queue), *_running(order, running))
    return {job.job_id: value for job, value in zip(queue, found, strict=True)}


def factors_of(
    order: MultifactorOrder,
    now: int,
    queue: Sequence[WaitingJob],
    running: Sequence[RunningJob] = (),
) -> dict[int, Factors]:
    """Return the factors of each queued job; all weights must be above 0."""
    keys, weights = order.keys(queue), order.params.weights
    shares = order.core.fair_shares(now, keys, *_running(order, running))
    reals = keys[:, 2:].view(np.float64)
    found = {}
    for job, user, (_, _, size, partition, qos) in zip(queue, keys[:, 0], reals, strict=True):
        age = min(1.0, (now - job.submit_time) / order.params.max_age)
        sizes = size / weights.size, shares[user]
        of_job = Factors(age, *sizes, partition / weights.partition, qos / weights.qos)
        found[job.job_id] = of_job
    return found


def shares_of(
    order: MultifactorOrder, now: int, queue: Sequence[WaitingJob] = ()
) -> dict[Association, float]:
    """Return the fair-share factor of each user."""
    found = order.core.fair_shares(now, order.keys(queue), *_running(order, ()))
    return {user: found[number] for user, number in order.users.items() if number < len(found)}


def used_by(
    order: MultifactorOrder, now: int, running: Sequence[RunningJob]
) -> dict[Association, float]:
    """Return the usage of each user, as demand × seconds."""
    found = order.core.usage(now, *_running(order, running))
    return {user: found[number] for user, number in order.users.items() if number < len(found)}
