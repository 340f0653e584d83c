"""Which part of a made-up workload is used, and how dense it is."""

from collections.abc import Iterable, Iterator, Sequence

from pydantic import Field

from hpcsched.parameters import Duration, Params, PositiveDuration
from hpcsched.workload.job import Job, TracedJob
from hpcsched.workload.synthetic.campaigns import Campaign
from hpcsched.workload.synthetic.draws import Draws


class WindowParams(Params):
    """Which part of the workload to use, and how dense it is.

    The window is cut out first; what is in it is made denser or thinner afterwards.
    """

    jobs: int = Field(ge=1, description="Stop after so many jobs of the window; all by default.")
    load: float = Field(
        1.0,
        gt=0,
        description="How many times as dense as the original: times between submissions are divided"
        " by it, so the span shrinks as the load grows.",
    )
    start: Duration = Field(
        0,
        description="Where the window begins, in seconds or with a unit since the workload's"
        " beginning, before `load` is applied; submit times count from there.",
    )
    duration: PositiveDuration | None = Field(
        None,
        description="How long the window is, before `load` is applied; to the end if not given.",
    )

    @property
    def expected_jobs(self) -> int | None:
        """How many jobs there are, if that is known beforehand."""
        return self.jobs if self.start == 0 and self.duration is None else None

    def comments(self, computer: str, source: str, began: int, time_zone: str) -> Sequence[str]:
        """Return what heads the trace; `began` is when the whole workload did, in Unix time."""
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

    They are numbered from 1 at the beginning of the workload, and are the same in every window:
    those before it are drawn as well.
    """
    start, left = params.start, params.jobs
    end = None if params.duration is None else start + params.duration
    for number, (time, campaign) in enumerate(submissions, 1):
        if end is not None and time >= end:
            return
        run_time, name = campaign.run_time(draws), campaign.name()
        if time >= start:
            submit_time = int((time - start) / params.load)
            yield TracedJob(Job(number, submit_time, *campaign.asked, name=name), run_time)
            left -= 1
            if not left:
                return
