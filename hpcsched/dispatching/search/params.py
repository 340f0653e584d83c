"""The parameters of the dispatcher that searches orders."""

from typing import Annotated, Any

from pydantic import Field

from hpcsched.parameters import Listed, Params, PositiveDuration, Selects


class OrderSearchParams(Params):
    """How the order of the queue is searched."""

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
    carry: bool = Field(
        False, description="Whether the search also begins with the best order of the round before."
    )
    bias: float = Field(
        2,
        ge=1,
        description="By how much more often the search moves jobs from the front of the order; 1:"
        " from anywhere alike.",
    )
    patience: PositiveDuration | None = Field(
        None,
        description="Planned waits far ahead count for less, by this time constant, as jobs that"
        " are yet to come will change them; null: they count in full.",
    )
    level: float = Field(
        0.8,
        ge=0,
        description="Around which share of the ratio so far plans are judged, for an objective that"
        " is a ratio of sums (psf).",
    )
    queue_length: int = Field(
        1000, ge=1, description="How many jobs to plan at most, the first by priority."
    )
    priority: Annotated[Any, Selects("queue_order")] = Field(
        "slowdown", description="Which jobs come first where there are more."
    )
    spare_nodes: float | None = Field(
        1.5,
        ge=1,
        description="Nodes are left out of plans beyond this multiple of what the jobs ask for,"
        " those that are free soonest first; null: none are.",
    )
    allocator: Annotated[Any, Selects("allocator")] = Field(
        "best_fit", description="Decides on which nodes a job is placed where plans only count."
    )
