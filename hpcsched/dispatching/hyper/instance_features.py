"""Features of a dispatching problem, by which a model and a solver are chosen.

Queue length and the ratio of requested to available resources are those of Galleguillos (thesis
2020, section 6.5, figures 6.12 and 6.13), who calls symmetric requests the hard ones.
"""

from typing import NamedTuple

from hpcsched.dispatching.problem import DispatchingProblem

LONG_QUEUE = 30
"""Number of queued jobs beyond which the thesis found one model behind the other."""

SYMMETRIC = 0.5
"""Share of jobs with a request like another one's, from which on a queue is symmetric."""

HETEROGENEOUS = 3
"""Number of requested resource types from which on a queue is heterogeneous."""


class InstanceClass(NamedTuple):
    """Class of dispatching problems that are like one another.

    Attributes
    ----------
    long
        Whether more than `LONG_QUEUE` jobs wait.
    overloaded
        Whether they request more of a resource type than is available.
    heterogeneous
        Whether they request at least `HETEROGENEOUS` resource types.
    symmetric
        Whether at least a share of `SYMMETRIC` of them request what a job before them does.
    """

    long: bool
    overloaded: bool
    heterogeneous: bool
    symmetric: bool


class InstanceFeatures(NamedTuple):
    """Features of a dispatching problem with queued jobs.

    Attributes
    ----------
    jobs
        Number of queued jobs.
    load
        Requested over available amount of the scarcest resource type; infinite where none is left.
    types
        Number of resource types that jobs request.
    symmetry
        Share of jobs that request as many units of the same amounts as a job before them.
    """

    jobs: int
    load: float
    types: int
    symmetry: float

    def __str__(self) -> str:
        return (
            f"{self.jobs} jobs, load {self.load:.3g}, {self.types} resource types,"
            f" symmetry {self.symmetry:.2g}"
        )

    @property
    def instance_class(self) -> InstanceClass:
        """Class of the problem."""
        return InstanceClass(
            self.jobs > LONG_QUEUE,
            self.load > 1,
            self.types >= HETEROGENEOUS,
            self.symmetry >= SYMMETRIC,
        )


def features_of(problem: DispatchingProblem) -> InstanceFeatures:
    """Return the features of a problem; its queue must not be empty."""
    units, requests = problem.units, problem.unit_requests
    requested = units @ requests
    if problem.free_slots is not None:
        # All jobs request the same of a slot, so that slots stand for each of its types.
        slots = sum(end - begin for begin, end in problem.free_slots)
        available = slots * requests[0]
    else:
        available = problem.availability.sum(axis=0)
    asked = requested > 0
    load = max(
        (
            amount / free if free else float("inf")
            for amount, free in zip(
                requested[asked].tolist(), available[asked].tolist(), strict=True
            )
        ),
        default=0.0,
    )
    kinds = {(job.units, job.unit_request) for job in problem.queue}
    jobs = len(problem.queue)
    return InstanceFeatures(jobs, load, int(asked.sum()), (jobs - len(kinds)) / jobs)
