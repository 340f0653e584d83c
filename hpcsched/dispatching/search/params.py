"""The parameters of the dispatcher that searches orders."""

from typing import Annotated, Any

from pydantic import Field

from hpcsched.parameters import Listed, Params, PositiveDuration, Selects


class PursuitParams(Params):
    """Parameters of the surrogate objective, which plans minimise in view of jobs yet to come."""

    patience: PositiveDuration | None = Field(
        None,
        description="Planned waits far ahead count for less, by this time constant; null: they"
        " count in full.",
    )
    shortest: PositiveDuration = Field(
        1, description="Jobs that run for less weigh no more than if they ran for so long."
    )
    growth: float = Field(
        0, ge=0, description="Waits weigh more with a job's area, by this power of it."
    )
    level: float = Field(
        1,
        ge=0,
        description="Around which share of the ratio so far plans are judged, for an objective that"
        " is a ratio of sums (psf).",
    )
    carry: bool = Field(
        False, description="Whether the search also begins with the best order of the round before."
    )
    bias: float = Field(
        1,
        ge=1,
        description="By how much more often the search moves jobs from the front of the order; 1:"
        " from anywhere alike.",
    )


class OrderSearchParams(Params):
    """Parameters of the search for the best order of the queue."""

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
    pursuit: PursuitParams | None = Field(
        None,
        description="How the objective is pursued in view of jobs that are yet to come; null: as"
        " suits the objective, {}: plainly.",
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
