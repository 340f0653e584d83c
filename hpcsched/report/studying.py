"""Comparisons, figures and pages of runs, for the commands and for notebooks."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import pyarrow as pa

from hpcsched.arrow_arrays import arrow_array, computed, python_array
from hpcsched.errors import Finding, InputError
from hpcsched.metrics.metric import Column, RunTables
from hpcsched.plugins.manager import registry
from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.job_breakdown import (
    ClassName,
    JobBreakdown,
    Schedule,
    breakdown_table,
    breakdown_values,
    breakdowns,
    class_kinds,
    read_schedule,
)
from hpcsched.report.studied_runs import Study, open_study
from hpcsched.report.tables.report_table import Table
from hpcsched.report.tables.run_comparison import (
    Comparison,
    Figures,
    LogColumn,
    compare_runs,
    comparison_content,
    comparison_table,
    values_table,
)
from hpcsched.runs.assembly import Assembly, assemble_again
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.manifest import ON_A_CLUSTER
from hpcsched.runs.resource_records import down_amounts
from hpcsched.runs.run_result import RunResult
from hpcsched.runs.summary import measured
from hpcsched.runs.tables import ArrowTable
from hpcsched.scenario.models import RULE, without_waits
from hpcsched.whole_files import check_target, file_error, make_folder, write_text
from hpcsched.workload.trace_source import recorded_waits

if TYPE_CHECKING:
    from hpcsched.report.figures.chart_parts import Chart
    from hpcsched.report.page.page import StudyPage


RECORDED = "recorded"
"""Name of the column of the log's own schedule."""


def recorded_schedule(compared: ComparedStudy) -> tuple[Schedule, LogColumn]:
    """Return the log's own schedule of the jobs of the baseline, and its column of a comparison.

    A job starts when the log says that it did, and runs as long as the log says. Nothing is
    replayed: neither nodes nor limits of the scenario matter. The runs are of one trace.
    """
    one = compared.baseline_run
    if len(compared.study.groups) > 1:
        traces = ", ".join(compared.study.groups)
        message = f"the schedule of one log is compared; the runs are of several: {traces}"
        raise file_error("several-traces", one.run.path, message)
    parts = _assembled(one.run)
    ran = read_schedule(one, parts.objective)
    job_ids = ran.jobs["job_id"].to_numpy()
    starts, run_times = _recorded(parts, job_ids.tolist())
    known = starts >= 0
    if not known.any():
        message = f"the log records the start of none of the {len(known)} jobs that ran"
        raise file_error("no-recorded-starts", one.run.path, message)
    # A run may be called `recorded` itself.
    taken = {name for pair in compared.study.run_labels.items() for name in pair}
    files = one.run.manifest.trace_files
    schedule = ran.only(known)
    schedule = replace(
        schedule,
        name=f"{RECORDED} (log)" if RECORDED in taken else RECORDED,
        source=Path(files[0].path) if files else Path(),
        jobs=_with_times(schedule.jobs, starts[known], run_times[known]),
    )
    # Runs with other jobs get figures of the common ones, which alone can be compared.
    same_jobs = {}
    for other in compared.study.runs:
        jobs = read_schedule(other, parts.objective).jobs
        common = np.isin(jobs["job_id"].to_numpy(), job_ids[known])
        if len(common) != known.sum() or not common.all():
            same_jobs[other.name] = _figures(parts, computed("filter", jobs, arrow_array(common)))
    column = LogColumn(
        schedule.name,
        schedule.source,
        _figures(parts, schedule.jobs),
        same_jobs,
        len(known),
        int((~known).sum()),
    )
    return replace(schedule, note=column.in_words()), column


def _assembled(run: RunDirectory) -> Assembly:
    """Return the parts of a run's scenario, once its log is known to be a schedule of its jobs."""
    if ON_A_CLUSTER in run.manifest.not_reproducible_because:
        raise file_error("live-run", run.path, "it was made on a real cluster: there is no log")
    parts = assemble_again(run)
    for _, message in without_waits(parts.scenario, registry(), "the recorded schedule"):
        raise file_error(RULE, run.path, message)
    return parts


def _recorded(parts: Assembly, job_ids: Sequence[int]) -> tuple[Column, Column]:
    """Return the recorded start and the run time of jobs, `[J]`; -1 for a start that is missing."""
    waits = recorded_waits(parts.source)
    place = {job_id: k for k, job_id in enumerate(job_ids)}
    starts = np.full(len(place), -1, dtype=np.int64)
    run_times = np.zeros(len(place), dtype=np.int64)
    for job, run_time in parts.source.jobs():
        # A job's wait is there once the job has been read.
        wait = None if waits is None else waits.get(job.job_id)
        k = place.get(job.job_id)
        if k is not None and wait is not None:
            starts[k], run_times[k] = job.submit_time + wait, run_time
    return starts, run_times


def _with_times(jobs: pa.Table, starts: Column, run_times: Column) -> pa.Table:
    """Return jobs with other starts and run times."""
    columns = {"start_time": starts, "end_time": starts + run_times, "run_time": run_times}
    for name, values in columns.items():
        jobs = jobs.set_column(jobs.column_names.index(name), name, arrow_array(values))
    return jobs


class _NoRounds:
    """Rounds of a schedule that no dispatcher made: a metric of them has no value."""

    def batches(self, *columns: str) -> Iterator[tuple[Column, ...]]:
        """Raise LookupError."""
        raise LookupError("the log has no dispatching rounds")


def _figures(parts: Assembly, jobs: pa.Table) -> Figures:
    """Return the metrics and the objective over jobs; None for a metric of rounds."""
    down = down_amounts(parts.outages, parts.system)
    tables = RunTables(ArrowTable(jobs), _NoRounds(), parts.capacity, down)
    failed: dict[str, str] = {}
    found: dict[str | None, float | None] = {
        name: measured("metric", name, chosen.metric, tables, failed)
        for name, chosen in parts.metrics().items()
    }
    name = parts.scenario.objective.plugin_name
    return found | {None: measured("objective", name, parts.objective, tables.jobs, failed)}


@dataclass(frozen=True, repr=False)
class StudyComparison:
    """Runs compared, which notebooks show as tables; metrics by class, by kind such as `user`."""

    study: ComparedStudy
    comparison: Comparison
    breakdowns: Mapping[str, JobBreakdown]

    @property
    def warnings(self) -> tuple[str, ...]:
        """Runs that were left out, and reasons for which runs may not be comparable."""
        return (*self.study.study.warnings, *self.comparison.warnings)

    @property
    def metrics(self) -> Table:
        """Table of formatted metrics, a column for each run."""
        return comparison_table(self.comparison)

    @property
    def tables(self) -> tuple[Table, ...]:
        """Tables of formatted metrics: of all jobs, then by class."""
        return (self.metrics, *map(breakdown_table, self.breakdowns.values()))

    def as_text(self) -> str:
        """Return the tables as aligned text."""
        return "\n\n".join(table.as_text() for table in self.tables)

    def as_markdown(self) -> str:
        """Return the tables as Markdown."""
        return "\n\n".join(table.as_markdown() for table in self.tables)

    def as_latex(self) -> str:
        """Return the tables as `table` environments for LaTeX."""
        return "\n\n".join(table.as_latex() for table in self.tables)

    def content(self, others: Sequence[Table] = ()) -> dict[str, Any]:
        """Return exact values, as `hpcsched compare --format json` writes them."""
        tables = [*others, *map(breakdown_values, self.breakdowns.values())]
        extra = {"tables": {one.name: one.content() for one in tables}} if tables else {}
        return {**comparison_content(self.comparison), **extra}

    @property
    def values(self) -> pa.Table:
        """Exact metrics as an Arrow table with a row for each metric and run.

        The columns are those of `hpcsched compare --format csv`. pandas (`to_pandas()`), polars and
        DuckDB also take the comparison itself as a data frame.
        """
        table = values_table(self.comparison)
        names = table.header
        kinds = {"value": pa.float64(), "percent_of_baseline": pa.float64()}
        return pa.table(
            {
                name: python_array([row[k] for row in table.rows], kinds.get(name, pa.string()))
                for k, name in enumerate(names)
            }
        )

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the values for other libraries, by the PyCapsule interface of Arrow."""
        return self.values.__arrow_c_stream__(requested_schema)

    __str__ = __repr__ = as_text
    _repr_markdown_ = as_markdown


def compare_study(
    study: Study,
    *,
    baseline: str | None = None,
    kinds: Sequence[str] | None = (),
    recorded: bool = False,
) -> StudyComparison:
    """Compare the runs of a study.

    The baseline is as in `ComparedStudy`; with `recorded`, the log's own schedule is the last
    column, and the baseline if that is called so. Kinds None: those with two classes or more.
    """
    names = {name for one in study.runs for name in (one.name, one.configuration)}
    log_is_baseline = recorded and baseline == RECORDED and RECORDED not in names
    compared = ComparedStudy(study, None if log_is_baseline else baseline)
    schedule, column = recorded_schedule(compared) if recorded else (None, None)
    by_class = breakdowns(compared, kinds, schedule, log_is_baseline=log_is_baseline)
    return StudyComparison(
        compared,
        compare_runs(compared, column, log_is_baseline=log_is_baseline),
        {one.kind: one for one in by_class},
    )


Run = RunResult | Path | str
"""A run: as `run` returns it, or the path or name of its directory; also a folder of runs."""

Kind = Literal["boxes", "ecdf", "bars", "load", "gantt", "decision-time", "choices"]
"""Kinds of figures, as `hpcsched plot` calls them."""


def compare(
    *runs: Run | Sequence[Run],
    baseline: str | None = None,
    by: ClassName | Sequence[ClassName] = (),
    recorded: bool = False,
) -> StudyComparison:
    """Compare runs, given one by one or as a list, as `hpcsched compare` does.

    Parameters
    ----------
    baseline
        Name of the run with which the others are compared; the first by default; `recorded` for the
        log's own schedule.
    by
        Classes of jobs for which there are metrics too, such as `user`, or several of them.
    recorded
        Whether the log's own schedule of the same jobs is the last column.

    Raises
    ------
    InputError
        If one of them is no finished run, no run has the name `baseline`, there are no such
        classes, or the log's own schedule is not known.

    Examples
    --------
    ::

        compared = hpcsched.compare("runs/easy", "runs/sjf", by="user")
        compared.breakdowns["user"].classes
    """
    return compare_study(_opened(runs), baseline=baseline, kinds=_kinds(by), recorded=recorded)


def plot(kind: Kind, *runs: Run | Sequence[Run], **options: Any) -> "Chart":
    """Return a figure of runs as an Altair chart.

    Parameters
    ----------
    options
        `of`, the quantity of `boxes` and `ecdf` (`bounded_slowdown`, `wait_time`, …); `metric` of
        `bars`, by default the objective; `resource` of `load` and `gantt`; `begin`, `end`
        (seconds, durations or dates) and `by` of `gantt`.

    Raises
    ------
    InputError
        If there is no such kind, or a run cannot be read or lacks what the figure shows.
    TypeError
        If the kind has no such option.
    """
    kinds = get_args(Kind)
    if kind not in kinds:
        message = f"expected a kind of figure first: {', '.join(kinds)}; found {kind!r}"
        raise InputError(Finding("unknown-figure", message))
    return draw(kind, _opened(runs), **options)


def draw(kind: Kind, study: Study, **options: Any) -> "Chart":
    """Return a figure of a study as an Altair chart, with the options of `plot`."""
    from hpcsched.report.figures.run_figures import FIGURES  # noqa: PLC0415 (altair takes its time)

    return FIGURES[kind](ComparedStudy(study), **options).chart


def write_report(
    out: Path | str,
    *runs: Run | Sequence[Run],
    baseline: str | None = None,
    by: ClassName | Sequence[ClassName] | None = None,
    recorded: bool = False,
    title: str = "Runs compared",
    verify: bool = True,
    force: bool = False,
) -> Path:
    """Write the page of runs that `hpcsched report` writes, and return its path.

    Parameters
    ----------
    baseline, recorded, title, verify
        As in `compare`; whether to audit each run, which reads its trace again.
    by
        Classes of jobs for which there is a table, such as `user`, or several of them; None: all
        that tell jobs apart.
    force
        Whether an existing file may be replaced.

    Raises
    ------
    InputError
        If a run cannot be read, or the file is there or cannot be written.
    """
    if not isinstance(out, Path | str):
        message = f"expected the HTML file first, found a value of type {type(out).__name__}"
        raise InputError(Finding("bad-value", message))
    write_page(
        Path(out),
        _opened(runs),
        baseline=baseline,
        kinds=_kinds(by),
        recorded=recorded,
        title=title,
        verify=verify,
        force=force,
    )
    return Path(out)


def write_page(
    out: Path,
    study: Study,
    *,
    title: str,
    verify: bool,
    force: bool,
    **compared: Any,
) -> "StudyPage":
    """Write the page of a study, compared as `compare_study` does with the same parameters."""
    from hpcsched.report.page.page import study_page  # noqa: PLC0415 (as above)

    # Before the runs are read and audited, which may take minutes.
    check_target(out, force=force)
    page = study_page(compare_study(study, **compared), title=title, verify=verify)
    make_folder(out.parent)
    write_text(out, page.html)
    return page


def _opened(runs: Sequence[Run | Sequence[Run]]) -> Study:
    """Open runs that are given one by one or as lists."""
    listed: list[Any] = []
    for given in runs:
        listed += given if isinstance(given, list | tuple) else [given]
    if not listed:
        raise InputError(Finding("no-runs", "expected at least one run, found none"))
    for one in listed:
        if not isinstance(one, RunResult | Path | str):
            message = f"expected runs: results or paths; found a value of type {type(one).__name__}"
            raise InputError(Finding("bad-value", message))
    return open_study(
        [one.directory.path if isinstance(one, RunResult) else Path(one) for one in listed]
    )


def _kinds(by: str | Sequence[str] | None) -> list[str] | None:
    """Return kinds of classes by one name or several; None stands for all."""
    return None if by is None else class_kinds([by] if isinstance(by, str) else by)
