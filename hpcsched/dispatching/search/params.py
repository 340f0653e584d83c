"""The parameters of the dispatcher that searches orders."""

from typing import Annotated, Any

from pydantic import Field

from hpcsched.parameters import Params, PositiveDuration, Selects


class SurrogateParams(Params):
    """Parameters of the surrogate objective, which plans minimise in view of jobs yet to come."""

    discount_time_constant: PositiveDuration | None = None
    """Time constant of the discount on planned waits: long waits count less; null: no discount."""
    area_exponent: float = Field(0, ge=0)
    """Exponent of a job's area in the weight of its wait."""
    hold: float = Field(0, ge=0)
    """A job is held while what it costs the others, its area times the weight that waits, is more
    than so many times its own weight times its response time so far; 0: none is."""
    dinkelbach_parameter: float = Field(1, ge=0)
    """For an objective that is a ratio of sums (psf), the Dinkelbach parameter as a share of the
    ratio so far."""
    warm_start: bool = False
    """Warm start: the search also begins with the best order of the last round."""
    front_bias: float = Field(1, ge=1)
    """Preference of the search for moves of jobs from the front of the order; 1: none."""


class OrderSearchParams(Params):
    """Parameters of the search for the best order of the queue."""

    budget: int = Field(500_000, ge=0)
    """Work of a round's search, in visited segments of plans; 0: the best list plan is used as it
    is."""
    surrogate_objective: SurrogateParams | None = None
    """Parameters of the surrogate objective, which allows for later arrivals; null: as suits the
    objective; {}: the objective itself."""
    queue_length: int = Field(200, ge=1)
    """Maximum number of jobs whose order is searched, the first by area over weight in the
    objective; the others follow in that order."""
    allocator: Annotated[Any, Selects("allocator")] = "best-fit"
    """Allocator, which chooses the nodes of a job."""
