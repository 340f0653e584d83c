"""The parameters of the predictor."""

from pydantic import Field

from hpcsched import Params


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
