"""Slack-based backfilling (Talby and Feitelson 1999)."""

from hpcsched.context import Context
from hpcsched.dispatching.allocator import Allocator
from hpcsched.dispatching.core import codes
from hpcsched.dispatching.rules.conservative import COMPRESSIONS, Compression, Conservative
from hpcsched.dispatching.rules.core_rounds import CoreRounds
from hpcsched.dispatching.rules.rule_params import SlackParams
from hpcsched.registration import builtin


class SlackBased(Conservative):
    """Conservative backfilling whose promises have slack.

    A job's latest start is its first promise and its slack: `least_slack` seconds, and `share`
    times the wait that it was promised. A job that would have to wait for the sake of reservations
    is started nevertheless if these can be moved, one after the other, to other times that are not
    past any latest start. Slack is counted from the first promise, so that small delays do not add
    up. Without slack a reservation may still give way as far as the first promise, where it has
    been moved to an earlier time since.

    Source: D. Talby and D. G. Feitelson, Supporting priorities and improving utilization of the IBM
    SP scheduler using slack-based backfilling, IPPS/SPDP 1999. There slack follows from priorities
    and the mean wait, and the cheapest of many schedules is sought; here both are simpler.
    """

    def __init__(
        self,
        allocator: Allocator,
        share: float,
        least_slack: int,
        compression: Compression = "arrival",
    ) -> None:
        super().__init__(allocator, compression)
        self.share = share
        self.least_slack = least_slack
        self._rounds = CoreRounds(
            codes.SLACK,
            allocator,
            carried=self._carried,
            choices={
                "compression": COMPRESSIONS[compression],
                "slack_share": float(share),
                "least_slack": least_slack,
            },
        )


@builtin(
    "dispatcher",
    "slack",
    SlackParams,
    summary="as conservative, but promised starts may slip a little",
)
def make_slack(params: SlackParams, context: Context) -> SlackBased:
    """Return `slack` with the chosen allocator."""
    allocator = context.make("allocator", params.allocator)
    return SlackBased(allocator, params.share, params.least_slack, params.compression)
