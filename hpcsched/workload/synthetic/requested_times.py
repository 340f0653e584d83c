"""Model of the requested times of a log's jobs, given their run times.

Run times are classed as in `log_histogram`. A job is near its requested time, far below it, or
above it, with the frequencies in the log. Near it are jobs that ended at it or were about to: many
of them share few run times, so for them the requested time is drawn, and the run time follows.
"""

from bisect import bisect_left

from hpcsched.workload.synthetic.counts import Ascending, Counts
from hpcsched.workload.synthetic.draws import Draws
from hpcsched.workload.synthetic.log_histogram import LogHistogram, bin_of

NEAR = 0.1
"""Slack of jobs near their requested time, at most this share of it: the width of a bin."""
COMMON = 0.001
"""Share of jobs from which on a requested time is a common one."""
MOSTLY = 0.8
"""Share of jobs with a common requested time from which on new ones are common too."""


class RequestedTimeCounter:
    """Frequencies of requested times by class of run times."""

    def __init__(self) -> None:
        self.classes: dict[int, _Tally] = {}
        self.times: Counts[int] = Counts()
        self.jobs = 0

    def add(self, run_time: int, requested_time: int) -> None:
        """Count a job.

        Parameters
        ----------
        run_time
            Its run time in seconds.
        requested_time
            Its requested time in seconds.
        """
        self.jobs += 1
        self.times.add(requested_time)
        self.classes.setdefault(bin_of(run_time), _Tally()).add(run_time, requested_time)

    def common(self) -> list[int]:
        """Return the common requested times, ascending; none if they cover too few jobs."""
        counts = self.times.counts
        common = sorted(time for time, n in counts.items() if n >= COMMON * self.jobs)
        covered = sum(counts[time] for time in common)
        return common if covered >= MOSTLY * self.jobs else []


class _Tally:
    def __init__(self) -> None:
        self.near: Counts[int] = Counts()
        self.slacks = LogHistogram()
        self.far: Counts[int] = Counts()
        self.above: Counts[int] = Counts()

    def add(self, run_time: int, requested_time: int) -> None:
        slack = requested_time - run_time
        if slack < 0:
            self.above.add(requested_time)
        elif slack > NEAR * requested_time:
            self.far.add(requested_time)
        elif self.near.add(requested_time):
            self.slacks.add(slack / requested_time if slack else 0.0)


class RequestedTimes:
    """Distribution of requested times, fitted to a tally of at least one job."""

    def __init__(self, tally: RequestedTimeCounter) -> None:
        self._bins = sorted(tally.classes)
        self._classes = [_Class(tally.classes[k]) for k in self._bins]
        self._common = tally.common()

    def draw(self, draws: Draws, run_time: int) -> tuple[int, int]:
        """Draw the requested time of a job.

        Parameters
        ----------
        run_time
            Run time in seconds.

        Returns
        -------
        tuple
            Run time and requested time. A run time near the requested time changes by at most the
            width of a bin.
        """
        k = bisect_left(self._bins, bin_of(run_time))
        return self._classes[min(k, len(self._classes) - 1)].draw(draws, run_time)

    def common(self, requested_time: int, least: int) -> int:
        """Return the nearest common requested time, or the time itself without one.

        Parameters
        ----------
        requested_time
            Seconds.
        least
            Smallest result among the common ones, in seconds.
        """
        k = bisect_left(self._common, requested_time)
        near = [time for time in self._common[max(k - 1, 0) : k + 1] if time >= least]
        return min(near, key=lambda time: abs(time - requested_time), default=requested_time)


class _Class:
    def __init__(self, tally: _Tally) -> None:
        self._near = Ascending(tally.near.counts)
        self._slacks = tally.slacks.resampled() if self._near.total else None
        self._far, self._above = Ascending(tally.far.counts), Ascending(tally.above.counts)

    def draw(self, draws: Draws, run_time: int) -> tuple[int, int]:
        """Draw run time and requested time; always takes four uniform numbers."""
        near, far, above = self._near.total, self._far.total, self._above.total
        point, place = draws.uniform() * (near + far + above), draws.uniform()
        if self._slacks is not None and point < near:
            requested_time = self._near.at(place) or run_time
            slack = self._slacks.draw(draws)
            return int(requested_time * (1 - slack) + 0.5), requested_time
        # Unused draws, so that every job takes four numbers in each branch.
        draws.uniform(), draws.uniform()
        if point < near + far:
            least = int(run_time / (1 - NEAR)) + 1
            return run_time, self._far.at(place, least=least) or least
        return run_time, self._above.at(place, most=run_time - 1) or run_time
