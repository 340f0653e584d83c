"""An example of a package that adds to hpcsched: plugins of several kinds, and a command."""

from collections.abc import Iterable
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from hpcsched import (
    Command,
    Context,
    CpParams,
    Dispatcher,
    Duration,
    Params,
    Plugin,
    Selects,
    cp_dispatcher,
    hookimpl,
)
from hpcsched_example.lottery import Lottery
from hpcsched_example.temperature import NAME, Coolest, Temperature
from hpcsched_example.user_mean import UserMean


class LotteryParams(Params):
    """Parameters of `lottery`."""

    ticket_every: Annotated[Duration, Field(ge=1)] = Field(
        3600, description="Wait time for one more ticket."
    )
    allocator: Annotated[Any, Selects("allocator")] = Field(
        "first-fit", description="Allocator, which chooses the nodes of a job."
    )


class UserMeanParams(Params):
    """Parameters of `user-mean`."""

    history: int = Field(5, ge=1, description="Number of the user's last jobs in the mean.")


class TemperatureParams(Params):
    """Parameters of `temperature`."""

    idle: float = Field(30.0, description="Temperature of a node that is idle for long, in °C.")
    busy: float = Field(75.0, description="Temperature of a node that is busy for long, in °C.")
    warming: Annotated[Duration, Field(ge=1)] = Field(
        600, description="Time constant of warming and cooling."
    )

    @model_validator(mode="after")
    def _warms_up(self) -> Self:
        if self.busy <= self.idle:
            raise ValueError(f"expected busy above idle, found {self.busy} and {self.idle}")
        return self


@hookimpl
def hpcsched_dispatchers() -> Iterable[Plugin]:
    """Return `lottery`, and `headroom`, which plans with a formulation of its own."""

    def make(params: LotteryParams, context: Context) -> Lottery:
        allocator = context.make("allocator", params.allocator)
        return Lottery(params.ticket_every, allocator, context.seed)

    def make_headroom(params: CpParams, context: Context) -> Dispatcher:
        # Here, not above: CPMpy takes time to import.
        from hpcsched_example.headroom import HEADROOM  # noqa: PLC0415

        return cp_dispatcher(HEADROOM, params, context)

    yield Plugin("lottery", "random order, weighted by wait time", make, LotteryParams)
    yield Plugin("headroom", "CP: a quarter of the machine is kept free", make_headroom, CpParams)


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

    summary = "models the temperature of each node, as additional data for dispatchers"
    yield Plugin(NAME, summary, make, TemperatureParams)


@hookimpl
def hpcsched_allocators() -> Iterable[Plugin]:
    """Return `coolest`."""
    summary = "the coolest nodes with room, by the observer `temperature`"
    yield Plugin("coolest", summary, lambda _params, _context: Coolest())


@hookimpl
def hpcsched_commands() -> Iterable[Command]:
    """Return `hpcsched longest-waits`, whose module is imported when somebody names it."""
    yield Command("longest-waits", "hpcsched_example.longest_waits:longest_waits")
