"""Statistics of recorded wait times by class of jobs: the papers' expected waits (ewt)."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from hpcsched.workload.job import Job, TracedJob, WaitClass


@dataclass(slots=True)
class WaitClassStatistics:
    """Recorded wait times of one class of jobs.

    Attributes
    ----------
    total
        Sum of their wait times, in seconds.
    name
        Name of the queue or partition; None if the trace has no names.
    """

    jobs: int = 0
    total: int = 0
    name: str | None = None

    @property
    def mean(self) -> int:
        """Mean wait in whole seconds, rounded, at least 1, as an expected wait must be."""
        # Rounds half up in integers, so that equal logs give equal parameters on any machine.
        return max(1, (2 * self.total + self.jobs) // (2 * self.jobs))


@dataclass(slots=True)
class WaitStatistics:
    """Recorded wait times of a trace, in total and by class.

    Source: Galleguillos, thesis 2020, section 5.3: ewt_Q is the mean of the waits of the jobs that
    were submitted to the queue Q.

    Attributes
    ----------
    by
        Criterion of the classes; jobs without a queue or partition are in no class. Classes by size
        span a factor of two.
    without_wait
        Number of jobs without a recorded wait; they are counted nowhere else.
    classes
        Statistics by number of the queue or partition, or by the smallest size of the class.
    """

    by: WaitClass
    jobs: int = 0
    without_wait: int = 0
    all: WaitClassStatistics = field(default_factory=WaitClassStatistics)
    classes: dict[int, WaitClassStatistics] = field(
        default_factory=lambda: defaultdict(WaitClassStatistics)
    )

    def add(self, job: Job, wait: int | None) -> None:
        """Count a job.

        Parameters
        ----------
        wait
            Recorded wait, in seconds; None if the log has none.
        """
        self.jobs += 1
        if wait is None:
            self.without_wait += 1
            return
        waits = [self.all]
        number = self.by.number(job)
        if self.by is WaitClass.UNITS:
            # Powers of two: class 4 has the jobs of 4 to 7 units.
            waits.append(self.classes[1 << (number.bit_length() - 1)])
        elif getattr(job, self.by) is not None:
            own = self.classes[number]
            own.name = getattr(job, f"{self.by}_name")
            waits.append(own)
        for one in waits:
            one.jobs += 1
            one.total += wait


def collect_wait_statistics(
    jobs: Iterable[TracedJob], waits: dict[int, int], by: WaitClass
) -> WaitStatistics:
    """Return the statistics of the recorded waits of jobs, by class.

    Parameters
    ----------
    waits
        Recorded waits by job number, in seconds; the iterator `jobs` fills it in.
    """
    statistics = WaitStatistics(by)
    for job, _ in jobs:
        statistics.add(job, waits.pop(job.job_id, None))
    return statistics


def expected_waits(statistics: WaitStatistics) -> Mapping[str, object]:
    """Return the mean waits in the form of the parameter `expected_wait` of a dispatcher."""
    by_class = {number: statistics.classes[number].mean for number in sorted(statistics.classes)}
    return {"other": statistics.all.mean, f"by_{statistics.by}": by_class}
