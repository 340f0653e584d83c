"""Parameters of the queue order `multifactor`."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from hpcsched.parameters import Params, PositiveDuration

Number = Annotated[int, Field(strict=False)]
"""Number of a user or queue as a key; keys of a scenario are texts."""

Queue = Annotated[Annotated[int, Field(strict=False)] | str, Field(union_mode="left_to_right")]
"""Number of a queue, or else its name."""

NotNegative = Annotated[float, Field(ge=0, le=10**15)]


_WEEK = 7 * 86_400
"""Slurm's default for both times, in seconds."""


class Weights(Params):
    """Weights of the factors; each factor is between 0 and 1.

    The defaults are those of the example in Slurm's documentation; there, `qos` is 0.
    """

    age: NotNegative = Field(1000, description="Weight of the wait time.")
    size: NotNegative = Field(1000, description="Weight of the requested share of the system.")
    fair_share: NotNegative = Field(
        10000, description="Weight of low usage in relation to the user's share."
    )
    partition: NotNegative = Field(1000, description="Weight of the partition's priority.")
    qos: NotNegative = Field(1000, description="Weight of the queue's priority under `qos`.")


class MultifactorParams(Params):
    """Parameters of the queue order `multifactor`."""

    weights: Weights = Field(Weights(), description="Weights of the factors.")
    max_age: PositiveDuration = Field(
        _WEEK,
        description="Wait at which the age factor reaches 1, in seconds or with a unit.",
    )
    favor_small: bool = Field(
        False, description="Whether the size factor favours small jobs instead of large ones."
    )
    half_life: PositiveDuration | None = Field(
        _WEEK,
        description="Half-life of usage, in seconds or with a unit; null: no decay.",
    )
    shares: Mapping[Number, NotNegative] = Field(
        default_factory=dict,
        description="Share of the system by user number, in relation to the others'; 1 for users"
        " not named.",
    )
    qos: Mapping[Queue, NotNegative] = Field(
        default_factory=dict,
        description="Priority by queue number, or by name where the trace has names, in relation"
        " to the largest; 0 for queues not named.",
    )
