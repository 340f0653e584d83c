"""Slack-based backfilling (Talby and Feitelson 1999)."""

from hpcsched._core import Rule
from hpcsched.context import Context
from hpcsched.dispatching.allocator import Allocator
from hpcsched.dispatching.rules.conservative import COMPRESSIONS, Compression, Conservative
from hpcsched.dispatching.rules.core_rounds import CoreRounds
from hpcsched.dispatching.rules.rule_params import SlackParams
from hpcsched.registration import builtin


class SlackBased(Conservative):
    """Conservative backfilling with slack: promised starts may slip a little.

    A job's latest start is its first promise and its slack: `least_slack` seconds, and `share`
    times the promised wait. A job that would have to wait because of reservations is started
    nevertheless if these can be moved, one after the other, to other times that are not past any
    latest start. Slack is counted from the first promise, so that small delays do not add up.
    Without slack a reservation may still be pushed back as far as the first promise, if it has been
    moved to an earlier time since.

    Source: D. Talby and D. G. Feitelson, Supporting priorities and improving utilization of the IBM
    SP scheduler using slack-based backfilling, IPPS/SPDP 1999. There slack follows from priorities
    and the mean wait, and the cheapest of many schedules is sought; here both are simpler.

    Parameters
    ----------
    share
        Slack as a share of the promised wait.
    least_slack
        Slack of every job beside that, in seconds.
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
        self.rounds = CoreRounds(
            Rule.SLACK,
            allocator,
            carried=self._carried,
            compression=COMPRESSIONS[compression],
            slack_share=float(share),
            least_slack=least_slack,
        )


@builtin(
    "dispatcher",
    "slack",
    SlackParams,
    summary="as conservative, but promised starts may slip a little",
)
def make_slack(params: SlackParams, context: Context) -> SlackBased:
    """Create `slack` from its parameters."""
    allocator = context.make("allocator", params.allocator)
    return SlackBased(allocator, params.share, params.least_slack, params.compression)
