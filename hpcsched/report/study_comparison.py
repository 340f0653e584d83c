"""The comparison of runs: their metrics, by class of jobs too, and the log's own schedule."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from hpcsched.arrow_arrays import python_array
from hpcsched.report.breakdowns import breakdowns
from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.job_breakdown import JobBreakdown
from hpcsched.report.recorded_schedule import NAME, recorded_schedule
from hpcsched.report.studied_runs import Study
from hpcsched.report.tables.breakdown_table import breakdown_table, breakdown_values
from hpcsched.report.tables.comparison_table import (
    comparison_content,
    comparison_table,
    values_table,
)
from hpcsched.report.tables.report_table import Table
from hpcsched.report.tables.run_comparison import Comparison, compare_runs


@dataclass(frozen=True, repr=False)
class StudyComparison:
    """Runs compared, which notebooks show as tables.

    Attributes
    ----------
    study
        The runs, with the baseline of figures and of differences of the same jobs.
    comparison
        Metrics of the runs, and of the log's own schedule if asked for.
    breakdowns
        Metrics by class of jobs, by kind of class such as `user`.
    """

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
        """Return exact values, as `hpcsched compare --format json` writes them.

        Parameters
        ----------
        others
            Tables that are added before those by class.
        """
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
        names = [name for name, _ in table.columns]
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

    def __str__(self) -> str:
        return self.as_text()

    def __repr__(self) -> str:
        return self.as_text()

    def _repr_html_(self) -> str:
        """Return the tables for notebooks."""
        return "".join(table._repr_html_() for table in self.tables)


def compare_study(
    study: Study,
    *,
    baseline: str | None = None,
    kinds: Sequence[str] | None = (),
    recorded: bool = False,
) -> StudyComparison:
    """Compare the runs of a study.

    Parameters
    ----------
    study
        The runs.
    baseline
        As in `ComparedStudy`; with `recorded` also `recorded`, the log's own schedule, unless a run
        is called so.
    kinds
        Kinds of classes of jobs; None: those of which the baseline has two classes or more.
    recorded
        Whether the log's own schedule is the last column.

    Raises
    ------
    InputError
        A file of a run is damaged, no run has the name of the baseline, or the log's own schedule
        is not known.
    """
    names = {name for one in study.runs for name in (one.name, one.configuration)}
    log_is_baseline = recorded and baseline == NAME and NAME not in names
    compared = ComparedStudy(study, None if log_is_baseline else baseline)
    log = recorded_schedule(compared) if recorded else None
    column = None if log is None else log.column
    schedule = None if log is None else log.schedule
    by_class = breakdowns(compared, kinds, schedule, log_is_baseline=log_is_baseline)
    return StudyComparison(
        compared,
        compare_runs(compared, column, log_is_baseline=log_is_baseline),
        {one.kind: one for one in by_class},
    )
