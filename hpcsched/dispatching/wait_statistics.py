"""The mean wait times that a log records, by classes of jobs: the papers' expected waits (ewt)."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from hpcsched.workload.job import Job, TracedJob
from hpcsched.workload.wait_classes import WaitClass


@dataclass(slots=True)
class WaitClassStatistics:
    """The recorded waits of a class of jobs: how many there are, and their sum in seconds."""

    jobs: int = 0
    total: int = 0
    name: str | None = None

    @property
    def mean(self) -> int:
        """The mean, in whole seconds, at least 1: what an expected wait must be."""
        return max(1, (2 * self.total + self.jobs) // (2 * self.jobs))


@dataclass(slots=True)
class WaitStatistics:
    """The recorded waits of a trace, of all its jobs and by class.

    Source: Galleguillos, thesis 2020, section 5.3: ewt_Q is the mean of the waits of the jobs that
    were submitted to the queue Q.

    Attributes
    ----------
    by
        What tells jobs apart; those without a queue or partition are in no class. Classes of sizes
        go from one power of two to the next.
    jobs, without_wait
        How many jobs there are, and of how many no wait is recorded; these count nowhere else.
    """

    by: WaitClass
    jobs: int = 0
    without_wait: int = 0
    all: WaitClassStatistics = field(default_factory=WaitClassStatistics)
    classes: dict[int, WaitClassStatistics] = field(
        default_factory=lambda: defaultdict(WaitClassStatistics)
    )

    def add(self, job: Job, wait: int | None) -> None:
        """Count a job and its recorded wait in seconds, if there is one."""
        self.jobs += 1
        if wait is None:
            self.without_wait += 1
            return
        waits = [self.all]
        number = self.by.number(job)
        if self.by is WaitClass.UNITS:
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
    """Return the recorded waits of jobs by class; `waits` is filled in as `jobs` are read."""
    tally = WaitStatistics(by)
    for job, _ in jobs:
        tally.add(job, waits.pop(job.job_id, None))
    return tally


def expected_waits(tally: WaitStatistics) -> Mapping[str, object]:
    """Return the mean waits as the key `expected_wait` of a dispatcher has them."""
    by_class = {number: tally.classes[number].mean for number in sorted(tally.classes)}
    return {"other": tally.all.mean, f"by_{tally.by}": by_class}
