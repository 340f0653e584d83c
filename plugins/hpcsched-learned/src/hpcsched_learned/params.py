"""Parameters of the predictor and of the queue order."""

from pydantic import Field

from hpcsched import InputPath, Params

WINDOW = 128
"""Number of jobs that a learned policy sees, as in RLScheduler."""


class LearnedParams(Params):
    """Parameters of `learned`."""

    quantile: float = Field(
        0.5,
        gt=0,
        lt=1,
        description="Predicted quantile of the run time: 0.5 has the least absolute error,"
        " and with 0.9 about one job in ten runs longer than predicted.",
    )
    window: int = Field(
        8000, ge=10, description="Number of last completed jobs from which the forest is grown."
    )
    retrain_every: int = Field(
        1000, ge=1, description="Number of completed jobs after which the forest is grown anew."
    )
    first_training: int = Field(
        200,
        ge=10,
        description="Number of completed jobs before the first forest; `last-two` answers before.",
    )
    trees: int = Field(30, ge=1, description="Number of trees of the forest.")
    leaf_size: int = Field(6, ge=1, description="Least number of jobs in a leaf of a tree.")
    memory: int = Field(
        100_000,
        ge=1,
        description="Largest number of records of each kind: of users, of their kinds of job,"
        " and of jobs in the system; the oldest one is dropped.",
    )


class PolicyParams(Params):
    """Parameters of the queue order `policy`."""

    path: InputPath | None = Field(
        default=None,
        description="File of the policy. Without it jobs are in order of arrival, unless an"
        " environment of hpcsched_learned.gym gives the scores.",
    )
    window: int = Field(
        default=WINDOW, ge=2, description="Number of jobs, the first to arrive, that it sees."
    )
