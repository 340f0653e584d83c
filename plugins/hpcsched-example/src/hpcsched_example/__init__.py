"""An example of a plugin for hpcsched: a dispatcher, a predictor, an observer and an allocator."""

from collections.abc import Iterable
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from hpcsched import Context, Duration, Params, Plugin, Selects, hookimpl
from hpcsched_example.lottery import Lottery
from hpcsched_example.temperature import NAME, Coolest, Temperature
from hpcsched_example.user_mean import UserMean


class LotteryParams(Params):
    """How tickets are given out, and how jobs are placed."""

    ticket_every: Annotated[Duration, Field(ge=1)] = Field(
        3600, description="Wait time for one more ticket."
    )
    allocator: Annotated[Any, Selects("allocator")] = Field(
        "first-fit", description="Decides on which nodes a job is placed."
    )


class UserMeanParams(Params):
    """How much is remembered of a user."""

    history: int = Field(5, ge=1, description="How many of the user's last jobs are looked at.")


class TemperatureParams(Params):
    """How warm nodes become, and how soon."""

    idle: float = Field(30.0, description="The temperature of a node that is idle for long, in °C.")
    busy: float = Field(75.0, description="That of a node which is busy for long, in °C.")
    warming: Annotated[Duration, Field(ge=1)] = Field(
        600, description="In which time a node comes nearer to the one or the other by a factor e."
    )

    @model_validator(mode="after")
    def _warms_up(self) -> Self:
        if self.busy <= self.idle:
            raise ValueError(f"busy is above idle, found {self.busy} and {self.idle}")
        return self


@hookimpl
def hpcsched_dispatchers() -> Iterable[Plugin]:
    """Return `lottery`."""

    def make(params: LotteryParams, context: Context) -> Lottery:
        allocator = context.make("allocator", params.allocator)
        return Lottery(params.ticket_every, allocator, context.seed)

    yield Plugin("lottery", "random order, weighted by wait time", make, LotteryParams)


@hookimpl
def hpcsched_predictors() -> Iterable[Plugin]:
    """Return `user-mean`."""
    summary = "mean of the user's last run times"
    yield Plugin("user-mean", summary, lambda params, _: UserMean(params.history), UserMeanParams)


@hookimpl
def hpcsched_observers() -> Iterable[Plugin]:
    """Return `temperature`."""

    def make(params: TemperatureParams, context: Context) -> Temperature:
        return Temperature(context.system.node_count, params.idle, params.busy, params.warming)

    summary = "models the temperature of each node, and tells dispatchers"
    yield Plugin(NAME, summary, make, TemperatureParams)


@hookimpl
def hpcsched_allocators() -> Iterable[Plugin]:
    """Return `coolest`."""
    summary = "the coolest nodes with room, where the observer `temperature` tells of them"
    yield Plugin("coolest", summary, lambda _params, _context: Coolest())
