"""Part of a synthetic workload, and its density."""

from collections.abc import Iterable, Iterator, Sequence

from pydantic import Field

from hpcsched.parameters import Duration, Params, PositiveDuration
from hpcsched.workload.job import Job, TracedJob
from hpcsched.workload.synthetic.campaigns import Campaign
from hpcsched.workload.synthetic.draws import Draws


class WindowParams(Params):
    """Parameters of a part of a synthetic workload.

    The window is cut out first; its density is changed afterwards.
    """

    jobs: int = Field(ge=1, description="Maximum number of jobs of the window; all by default.")
    load: float = Field(
        1.0,
        gt=0,
        description="Factor of the original load: times between submissions are divided"
        " by it, so the span shrinks as the load grows.",
    )
    start: Duration = Field(
        0,
        description="Begin of the window since the workload's beginning, in seconds or with a"
        " unit, before `load` is applied; submit times count from there.",
    )
    duration: PositiveDuration | None = Field(
        None,
        description="Length of the window, before `load` is applied; to the end if not given.",
    )

    @property
    def expected_jobs(self) -> int | None:
        """Number of jobs, if known beforehand."""
        return self.jobs if self.start == 0 and self.duration is None else None

    def comments(self, computer: str, source: str, began: int, time_zone: str) -> Sequence[str]:
        """Return header comments of the trace."""
        return (
            f"Computer: {computer}",
            f"Note: made up by hpcsched's {source}; no real log is behind it",
            f"UnixStartTime: {began + self.start}",
            f"TimeZoneString: {time_zone}",
        )


def jobs_within(
    params: WindowParams, draws: Draws, submissions: Iterable[tuple[int, Campaign]]
) -> Iterator[TracedJob]:
    """Yield the jobs of a window.

    Jobs are numbered from 1 at the beginning of the workload, and are the same in every window:
    those before it are drawn as well.

    Parameters
    ----------
    submissions
        Submit times in seconds, ascending, with the campaigns of the jobs.
    """
    start, left = params.start, params.jobs
    end = None if params.duration is None else start + params.duration
    for number, (time, campaign) in enumerate(submissions, 1):
        if end is not None and time >= end:
            return
        # Drawn before the test of the window: later jobs must not depend on its begin.
        run_time, name = campaign.run_time(draws), campaign.name()
        if time >= start:
            submit_time = int((time - start) / params.load)
            yield TracedJob(Job(number, submit_time, *campaign.asked, name=name), run_time)
            left -= 1
            if not left:
                return
