"""The parameters of the predictor."""

from pydantic import Field

from hpcsched import Params


class LearnedParams(Params):
    """What is predicted, from how much, and how often the forest is grown anew."""

    quantile: float = Field(
        0.5,
        gt=0,
        lt=1,
        description="Which quantile of the run time is predicted: 0.5 has the least absolute error,"
        " and with 0.9 about one job in ten runs longer than predicted.",
    )
    window: int = Field(
        8000, ge=10, description="From how many of the last completed jobs the forest is grown."
    )
    retrain_every: int = Field(
        1000, ge=1, description="After how many completed jobs the forest is grown anew."
    )
    first_training: int = Field(
        200,
        ge=10,
        description="After how many completed jobs it is first grown; `last-two` answers before.",
    )
    trees: int = Field(30, ge=1, description="The number of trees of the forest.")
    leaf_size: int = Field(
        6, ge=1, description="How many of the window's jobs a leaf of a tree holds at least."
    )
    memory: int = Field(
        100_000,
        ge=1,
        description="How many records are remembered of each kind: of users, of their kinds of job,"
        " and of jobs in the system; the one written longest ago is forgotten.",
    )
