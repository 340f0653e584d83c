"""Parameters of the queue order `multifactor`."""

from typing import Annotated, Literal

from pydantic import Field

from hpcsched.parameters import Params, PositiveDuration

NotNegative = Annotated[float, Field(ge=0, le=10**15)]

_WEEK = 7 * 86_400
"""Slurm's default for both times, in seconds."""


class Weights(Params):
    """Weights of the factors; each factor is between 0 and 1.

    The defaults are those of the example in Slurm's documentation; there, `qos` is 0.
    """

    age: NotNegative = 1000
    """Weight of the wait time."""
    size: NotNegative = 1000
    """Weight of the requested share of the system."""
    fair_share: NotNegative = 10000
    """Weight of low usage in relation to the user's share."""
    partition: NotNegative = 1000
    """Weight of the partition's priority."""
    qos: NotNegative = 1000
    """Weight of the priority of the job's QOS."""


FairShare = Literal["classic", "fair-tree"]
"""Name of a fair-share algorithm."""


class MultifactorParams(Params):
    """Parameters of the queue order `multifactor`."""

    weights: Weights = Field(Weights())
    """Weights of the factors."""
    max_age: PositiveDuration = _WEEK
    """Wait at which the age factor reaches 1, in seconds or with a unit."""
    favor_small: bool = False
    """Whether the size factor favours small jobs instead of large ones."""
    half_life: PositiveDuration | None = _WEEK
    """Half-life of usage, in seconds or with a unit; null: no decay."""
    fair_share: FairShare | None = None
    """Fair-share algorithm; if not given, `fair-tree` where the scenario has accounts, and
    `classic` without."""
