"""Transform `sample-users`: the jobs of a share of the users."""

from collections.abc import Iterator
from typing import Literal, Self

from pydantic import Field

from hpcsched.context import Context
from hpcsched.parameters import Params
from hpcsched.registration import KEEPS_REQUESTS, KEEPS_WAITS, builtin
from hpcsched.workload.job import TracedJob
from hpcsched.workload.transform import TransformAccount
from hpcsched.workload.transforms.own_draws import own_share


class SampleUsersParams(Params):
    """Parameters of `sample-users`: share of the users, and seed."""

    share: float = Field(
        gt=0,
        le=1,
        description="Share of users to keep; each user is drawn on its own.",
    )
    without_user: Literal["keep", "skip"] = Field(
        "keep", description="Policy for jobs without a user."
    )
    seed: int = Field(
        0,
        ge=0,
        description="Seed of the draw, beside the scenario's.",
    )


@builtin(
    "transform",
    "sample-users",
    SampleUsersParams,
    summary="the jobs of a share of the users",
    capabilities={KEEPS_REQUESTS, KEEPS_WAITS},
)
class SampleUsers:
    """Transform that passes on all jobs of some users; the others' count as `not_sampled`.

    The selection of a user depends on the user's number and the seeds alone. A larger share keeps
    the same users, and more. Memory: one answer for each user.
    """

    @classmethod
    def build(cls, params: SampleUsersParams, context: Context) -> Self:
        """Make the transform for the scenario's seed."""
        return cls(params, context)

    def __init__(self, params: SampleUsersParams, context: Context) -> None:
        self._params = params
        self._seed = context.seed

    def apply(self, jobs: Iterator[TracedJob], account: TransformAccount) -> Iterator[TracedJob]:
        """Yield the jobs of the selected users."""
        keeps: dict[int | None, bool] = {None: self._params.without_user == "keep"}
        for traced in jobs:
            user = traced.job.user
            keep = keeps.get(user)
            if keep is None:
                # One number per user, compared with the share: larger shares include smaller ones.
                drawn = own_share(self._seed, self._params.seed, user or 0)
                keep = keeps[user] = drawn < self._params.share
            if keep:
                yield traced
            else:
                account.skip("not_sampled")
