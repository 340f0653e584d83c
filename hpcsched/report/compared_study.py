"""A study with the jobs of its runs, and the baseline of the comparison."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property

from hpcsched.report.run_choice import pick_run
from hpcsched.report.studied_runs import StudiedRun, Study
from hpcsched.report.tables.job_times import JobTimes, read_job_times


class ComparedStudy:
    """The runs of a study with their jobs, each read once, and the baseline of the comparison.

    Parameters
    ----------
    baseline
        A configuration or its label, of which the first run is meant, or a run as `pick_run` takes
        it; None is the first run.

    Attributes
    ----------
    baseline
        The configuration of that run; its runs are compared with those of the same trace and seed.

    Raises
    ------
    InputError
        No run is called so, or several are.
    """

    def __init__(self, study: Study, baseline: str | None = None) -> None:
        self.study = study
        of_label = {label: name for name, label in study.configuration_labels.items()}
        if baseline is not None and baseline not in study.configurations:
            baseline = of_label.get(baseline, baseline)
        of_configuration = [one for one in study.runs if baseline in (None, one.configuration)]
        first = of_configuration[0] if of_configuration else pick_run(str(baseline), study.runs)
        self.baseline_run = first
        self.baseline = first.configuration

    @property
    def baseline_label(self) -> str:
        """Label of the baseline's configuration."""
        return self.study.configuration_labels[self.baseline]

    @cached_property
    def jobs(self) -> Mapping[str, JobTimes]:
        """The jobs of each run, by the run's name."""
        return {one.name: read_job_times(one) for one in self.study.runs}

    def pairs(self) -> Iterator[tuple[StudiedRun, StudiedRun]]:
        """Yield runs of other configurations, each with the baseline's of the same trace and seed.

        If both configurations have a single run of a trace, their seeds may differ. A run without a
        counterpart is left out.

        Returns
        -------
        Iterator
            Pairs of a run and the baseline's run.
        """
        by_case: dict[tuple[str, str], list[StudiedRun]] = defaultdict(list)
        for one in self.study.runs:
            by_case[one.configuration, one.group].append(one)
        for one in self.study.runs:
            if one.configuration == self.baseline:
                continue
            others = by_case[self.baseline, one.group]
            same = [other for other in others if other.seed == one.seed]
            # Deterministic dispatchers are often run once, under whatever seed.
            alone = len(others) == len(by_case[one.configuration, one.group]) == 1
            for other in same or (others if alone else ()):
                yield one, other
