"""An example of a plugin for hpcsched: a dispatcher and a predictor, registered by hooks."""

from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import Field

from hpcsched.parameters import Duration, Params, Selects
from hpcsched.plugin.registry import Context, Plugin
from hpcsched.plugin.spec import hookimpl
from hpcsched_example.lottery import Lottery
from hpcsched_example.user_mean import UserMean


class LotteryParams(Params):
    """How tickets are given out, and how jobs are placed."""

    ticket_every: Annotated[Duration, Field(ge=1)] = Field(
        3600, description="Wait time for one more ticket."
    )
    allocator: Annotated[Any, Selects("allocator")] = Field(
        "first_fit", description="Decides on which nodes a job is placed."
    )


class UserMeanParams(Params):
    """How much is remembered of a user."""

    history: int = Field(5, ge=1, description="How many of the user's last jobs are looked at.")


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
