"""What a scenario says of the order `multifactor`."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from hpcsched.parameters import Params, PositiveDuration

Number = Annotated[int, Field(strict=False)]
"""A user's or queue's number as a key: keys of a scenario are texts."""

Queue = Annotated[Annotated[int, Field(strict=False)] | str, Field(union_mode="left_to_right")]
"""A queue's number, or else its name."""

NotNegative = Annotated[float, Field(ge=0, le=10**15)]


_WEEK = 7 * 86_400
"""Slurm's defaults for both times, in seconds."""


class Weights(Params):
    """How much each factor counts. A factor is between 0 and 1, so a weight is what it can add.

    The defaults are those of the example in Slurm's documentation; there, `qos` is 0.
    """

    age: NotNegative = Field(1000, description="Of how long the job has waited.")
    size: NotNegative = Field(1000, description="Of how much of the system the job asks for.")
    fair_share: NotNegative = Field(
        10000, description="Of how little the user has used, for the share that is due."
    )
    partition: NotNegative = Field(1000, description="Of the priority of the job's partition.")
    qos: NotNegative = Field(1000, description="Of the priority of the job's queue under `qos`.")


class MultifactorParams(Params):
    """How the order `multifactor` weighs what."""

    weights: Weights = Field(Weights(), description="How much each factor counts.")
    max_age: PositiveDuration = Field(
        _WEEK,
        description="After so long a wait, in seconds or with a unit, the factor of age is 1.",
    )
    favor_small: bool = Field(
        False, description="Whether small jobs come first by size, not large ones."
    )
    half_life: PositiveDuration | None = Field(
        _WEEK,
        description="After so long, in seconds or with a unit, usage counts half; null: it always"
        " counts in full.",
    )
    shares: Mapping[Number, NotNegative] = Field(
        default_factory=dict,
        description="How large a share of the system users are to have, by number of user, in"
        " relation to the others'; 1 for those not named.",
    )
    qos: Mapping[Queue, NotNegative] = Field(
        default_factory=dict,
        description="Priorities of queues, by number of queue, or by name where the trace has"
        " names, in relation to the largest; 0 for those not named.",
    )
