"""Comparisons, figures and pages of runs, for the commands and for notebooks."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from hpcsched.errors import Finding, HpcschedError, InputError
from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.job_classes import ClassName, class_kinds
from hpcsched.report.studied_runs import Study, open_study
from hpcsched.report.study_comparison import StudyComparison, compare_study
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.runner import RunResult
from hpcsched.whole_files import check_target, make_folder, write_text

if TYPE_CHECKING:
    from hpcsched.report.figures.chart_parts import Chart, Figure
    from hpcsched.report.figures.job_categories import By
    from hpcsched.report.page.page import Verdict

Run = RunResult | Path | str
"""A run: as `run` returns it, or the path or name of its directory; also a folder of runs."""

Kind = Literal[
    "boxes",
    "ecdf",
    "survival",
    "bars",
    "load",
    "gantt",
    "decision-time",
    "choices",
    "cpu-time",
    "cpu-memory",
]
"""Kinds of figures, as `hpcsched plot` calls them."""


class StudyPage(NamedTuple):
    """The page of a study.

    Attributes
    ----------
    html
        The page.
    warnings
        Reasons for which runs may not be comparable.
    not_ok
        Names of the runs whose audit does not say `ok`.
    """

    html: str
    warnings: tuple[str, ...]
    not_ok: tuple[str, ...]


def compare(
    *runs: Run | Sequence[Run],
    baseline: str | None = None,
    by: ClassName | Sequence[ClassName] = (),
    recorded: bool = False,
) -> StudyComparison:
    """Compare runs, as `hpcsched compare` does.

    Parameters
    ----------
    runs
        The runs, one by one or as a list.
    baseline
        Name of the run with which the others are compared; the first by default; `recorded` for the
        log's own schedule.
    by
        Classes of jobs for which there are metrics too, such as `user`, or several of them.
    recorded
        Whether the log's own schedule of the same jobs is the last column.

    Returns
    -------
    StudyComparison
        The metrics, as values and as tables; notebooks show the tables.

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
    kind
        Kind of the figure.
    runs
        The runs, one by one or as a list.
    options
        As in `figure_of`.

    Raises
    ------
    InputError
        If there is no such kind, or a run cannot be read or lacks what the figure shows.
    TypeError
        If the kind has no such option.
    """
    kinds = get_args(Kind)
    if kind not in kinds:
        found = repr(kind) if isinstance(kind, str) else f"a value of type {type(kind).__name__}"
        message = f"expected a kind of figure first: {', '.join(kinds)}; found {found}"
        raise InputError(Finding("unknown-figure", message))
    return figure_of(kind, ComparedStudy(_opened(runs)), **options).chart


def study_page(
    found: StudyComparison, *, title: str = "Runs compared", verify: bool = True
) -> StudyPage:
    """Return the page of a comparison with tables, figures and the audit of each run.

    Parameters
    ----------
    found
        The comparison.
    title
        Title of the page.
    verify
        Whether to audit each run, which reads its trace again.

    Raises
    ------
    InputError
        If a run cannot be read.
    """
    # Altair takes its time.
    from hpcsched.report.page.page import NOT_AUDITED, not_ok, write_page  # noqa: PLC0415

    runs = found.study.study.runs
    verdicts = {one.name: _verdict(one.run) if verify else NOT_AUDITED for one in runs}
    page = write_page(
        found.study,
        found.comparison,
        verdicts,
        title=title,
        warnings=found.warnings,
        by_class=list(found.breakdowns.values()),
    )
    return StudyPage(page, found.warnings, tuple(not_ok(verdicts) or ()))


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
    out
        The HTML file.
    runs
        The runs, one by one or as a list.
    baseline, recorded, title, verify
        As in `compare` and `study_page`.
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
    path = Path(out)
    # Before the runs are read and audited, which may take minutes.
    check_target(path, force=force)
    found = compare_study(_opened(runs), baseline=baseline, kinds=_kinds(by), recorded=recorded)
    make_folder(path.parent)
    write_text(path, study_page(found, title=title, verify=verify).html)
    return path


def _opened(runs: Sequence[Run | Sequence[Run]]) -> Study:
    """Open runs that are given one by one or as lists.

    Raises
    ------
    InputError
        There is none, or one cannot be read.
    """
    listed: list[Any] = []
    for given in runs:
        listed += given if isinstance(given, list | tuple) else [given]
    if not listed:
        raise InputError(Finding("no-runs", "expected at least one run, found none"))
    for one in listed:
        if not isinstance(one, RunResult | Path | str):
            message = (
                "expected runs: what hpcsched.run or open_run returns, or the paths of run"
                f" directories; found a value of type {type(one).__name__}"
            )
            raise InputError(Finding("bad-value", message))
    return open_study(
        [one.directory.path if isinstance(one, RunResult) else Path(one) for one in listed]
    )


def _kinds(by: str | Sequence[str] | None) -> list[str] | None:
    """Return kinds of classes by one name or several; None stands for all."""
    return None if by is None else class_kinds([by] if isinstance(by, str) else by)


def _verdict(run: RunDirectory) -> "Verdict":
    """Audit a run; the verdict is `not checked` if it cannot be audited, as without its trace."""
    from hpcsched.audit.auditing import audit_directory  # noqa: PLC0415
    from hpcsched.report.page.page import NOT_AUDITED, OK, Verdict  # noqa: PLC0415
    from hpcsched.report.tables.audit_lines import audit_lines  # noqa: PLC0415

    try:
        found = audit_directory(run)
    except HpcschedError as error:
        return NOT_AUDITED._replace(lines=(str(error),))
    return Verdict(OK if found.ok else "not ok", tuple(audit_lines(found)))


def figure_of(kind: Kind, compared: ComparedStudy, **options: Any) -> "Figure":
    """Return a figure of a study.

    Parameters
    ----------
    kind
        Kind of the figure.
    compared
        The runs.
    options
        `of`, the quantity of `boxes`, `ecdf` and `survival` (`bounded_slowdown`, `wait_time`, …);
        `metric` of `bars`, by default the objective; `resource` of `load`; `resources`, `begin`,
        `end` (seconds, durations or dates), `marks` (pairs of such times) and `by` of `gantt`.

    Raises
    ------
    InputError
        If a run cannot be read, or lacks what the figure shows.
    TypeError
        If the kind has no such option.
    """
    from hpcsched.report.figures import (  # noqa: PLC0415 (altair takes its time)
        choice_figure,
        decision_time_figure,
        distribution_figures,
        gantt_figure,
        load_figure,
        metric_figure,
        process_usage_figures,
    )

    def boxes(of: str = "bounded_slowdown") -> "Figure":
        return distribution_figures.box_figure(compared, of)

    def ecdf(of: str = "bounded_slowdown") -> "Figure":
        return distribution_figures.distribution_figure(compared, of)

    def survival(of: str = "bounded_slowdown") -> "Figure":
        return distribution_figures.survival_figure(compared, of)

    def bars(metric: str | None = None) -> "Figure":
        return metric_figure.metric_figure(compared, metric)

    def load(resource: str | None = None) -> "Figure":
        return load_figure.load_figure(compared, resource)

    def gantt(
        resources: Sequence[str] = (),
        begin: int | str | None = None,
        end: int | str | None = None,
        marks: Sequence[tuple[int | str, int | str]] = (),
        by: "By | None" = None,
    ) -> "Figure":
        return gantt_figure.gantt_figure(compared.study, resources, begin, end, marks=marks, by=by)

    drawings: Mapping[Kind, Callable[..., Figure]] = {
        "boxes": boxes,
        "ecdf": ecdf,
        "survival": survival,
        "bars": bars,
        "load": load,
        "gantt": gantt,
        "decision-time": lambda: decision_time_figure.decision_time_figure(compared),
        "choices": lambda: choice_figure.choice_figure(compared),
        "cpu-time": lambda: process_usage_figures.cpu_time_figure(compared),
        "cpu-memory": lambda: process_usage_figures.cpu_over_time_figure(compared),
    }
    return drawings[kind](**options)
