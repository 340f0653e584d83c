"""The parameters of the dispatcher that searches orders."""

from typing import Annotated, Any, ClassVar

from pydantic import Field

from hpcsched.parameters import Listed, Params, PositiveDuration, Selects


class SurrogateParams(Params):
    """Parameters of the surrogate objective, which plans minimise in view of jobs yet to come."""

    former_keys: ClassVar = {
        "patience": "discount_time_constant",
        "shortest": "minimum_run_time",
        "growth": "area_exponent",
        "level": "dinkelbach_parameter",
        "carry": "warm_start",
        "bias": "front_bias",
    }

    discount_time_constant: PositiveDuration | None = Field(
        None,
        description="Time constant by which planned waits are discounted, the longer the more;"
        " null: they count in full.",
    )
    minimum_run_time: PositiveDuration = Field(
        1, description="A job with a shorter run time weighs no more than at this run time."
    )
    area_exponent: float = Field(
        0, ge=0, description="Power of a job's area with which the weight of its wait grows."
    )
    dinkelbach_parameter: float = Field(
        1,
        ge=0,
        description="Share of the ratio so far around which plans are compared, for an objective"
        " that is a ratio of sums (psf).",
    )
    warm_start: bool = Field(
        False, description="Whether the search also begins with the best order of the round before."
    )
    front_bias: float = Field(
        1,
        ge=1,
        description="Preference of the search for moves of jobs from the front of the order; 1:"
        " none.",
    )


class OrderSearchParams(Params):
    """Parameters of the search for the best order of the queue."""

    former_keys: ClassVar = {"pursuit": "surrogate_objective"}

    budget: int = Field(
        500_000,
        ge=0,
        description="When to end a round's search: after looking through so many pieces of plans;"
        " 0: the best of the list plans is carried out.",
    )
    orders: Annotated[tuple[Annotated[Any, Selects("queue_order")], ...], Listed] = Field(
        ("fcfs", "sjf", "saf", "laf", "spf"),
        description="The orders of the list plans that the search begins with, beside one by area"
        " over weight in the objective.",
    )
    surrogate_objective: SurrogateParams | None = Field(
        None,
        description="Parameters of the surrogate objective, in view of jobs that are yet to come;"
        " null: as suits the objective, {}: the objective itself.",
    )
    queue_length: int = Field(
        200, ge=1, description="How many jobs to plan at most, the first by priority."
    )
    fill: bool = Field(
        True, description="Whether jobs beyond those start now where that delays none of them."
    )
    priority: Annotated[Any, Selects("queue_order")] | None = Field(
        None,
        description="Which jobs come first where there are more; null: those of least area over"
        " weight in the objective.",
    )
    spare_nodes: float | None = Field(
        1.5,
        ge=1,
        description="Nodes are left out of plans beyond this multiple of what the jobs ask for, if"
        " queued jobs × nodes are over 4,096; the fullest and those that are free soonest stay."
        " null: none are.",
    )
    allocator: Annotated[Any, Selects("allocator")] = Field(
        "best-fit", description="Decides on which nodes a job is placed where plans only count."
    )
