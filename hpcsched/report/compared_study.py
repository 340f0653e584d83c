"""A study with what is read of its runs, and the baseline that others are compared with."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property

from hpcsched.errors import Finding, InputError
from hpcsched.report.studied_runs import StudiedRun, Study
from hpcsched.report.tables.job_times import JobTimes, read_job_times


class ComparedStudy:
    """The runs of a study beside those of a baseline; what it reads of a run it reads once.

    `baseline` is a contender: what others are compared with. Raises InputError where it is none.
    """

    def __init__(self, study: Study, baseline: str | None = None) -> None:
        self.study = study
        self.baseline = study.contenders[0] if baseline is None else baseline
        if self.baseline not in study.contenders:
            there = ", ".join(study.contenders)
            message = f"{self.baseline!r} is none of what is compared; there are: {there}"
            raise InputError(Finding("unknown-baseline", message))

    @cached_property
    def jobs(self) -> Mapping[str, JobTimes]:
        """The jobs of each run, by the run's name."""
        return {one.name: read_job_times(one) for one in self.study.runs}

    def pairs(self) -> Iterator[tuple[StudiedRun, StudiedRun]]:
        """Yield each run that is not of the baseline, and the baseline's of its trace and seed.

        Where either has but one run of the trace, seeds need not be the same. A run for which there
        is none is left out.
        """
        by_case: dict[tuple[str, str], list[StudiedRun]] = defaultdict(list)
        for one in self.study.runs:
            by_case[one.contender, one.group].append(one)
        for one in self.study.runs:
            if one.contender == self.baseline:
                continue
            others = by_case[self.baseline, one.group]
            same = [other for other in others if other.seed == one.seed]
            alone = len(others) == len(by_case[one.contender, one.group]) == 1
            for other in same or (others if alone else ()):
                yield one, other
