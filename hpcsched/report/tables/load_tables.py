"""Tables over time: queue length, resource use and decision times."""

from hpcsched.metrics.over_time import over_time, spanning, time_mean, time_quantile
from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.figures.decision_times import by_queue_length
from hpcsched.report.figures.load_series import nodes_down_over_time, shared_resources_over_time
from hpcsched.report.figures.usage import used_over_time
from hpcsched.report.tables.report_table import Cell, Table
from hpcsched.report.tables.table_parts import RANK_NOTE, plain
from hpcsched.scenario.resolved import read_system


def load(compared: ComparedStudy) -> Table:
    """Return the distribution of the load over time.

    Returns
    -------
    Table
        Mean, percentiles and maximum of queue length, utilisation by resource type, shared
        resources and nodes out of service, for each run.
    """
    rows: list[tuple[Cell, ...]] = []
    for one in compared.study.runs:
        jobs = compared.jobs[one.name]
        series = [("queue_length", "jobs", 1.0, over_time(jobs.submits, jobs.starts))]
        system = read_system(one.run.scenario_path)
        for name, total in zip(system.resource_types, system.totals, strict=True):
            if total:
                used = used_over_time(one, name)
                series.append((f"utilization of {name}", "%", 100 / total, used))
        series += [
            (f"drawn from {resource}", "own unit", 1.0, drawn)
            for resource, drawn, _ in shared_resources_over_time(one)
        ]
        down = nodes_down_over_time(one)
        if len(down.levels):
            series.append(("out of service", "nodes", 1.0, down))
        span = (min(jobs.submits, default=0), max(jobs.ends, default=0))
        for what, unit, scale, values in series:
            whole = spanning(values, *span)
            figures = (
                time_mean(whole),
                *(time_quantile(whole, percent) for percent in (50, 90)),
                float(whole.levels.max()) if len(whole.levels) else None,
            )
            rows.append(
                (one.name, what, unit, *(None if f is None else scale * f for f in figures))
            )
    return Table(
        "load",
        "Queue length and utilization over time",
        plain("run", "quantity", "unit", "mean", "p50", "p90", "max"),
        tuple(rows),
        (
            "Population: every second from the first submission to the last end, and all jobs"
            " that ran.",
            "The queue is of jobs submitted and not started. In use is what running jobs asked"
            " for, of the whole capacity, nodes out of service included.",
            "p50 and p90: the least value that is not exceeded for 50 % and 90 % of the time.",
        ),
    )  # fmt: skip


def decision_time(compared: ComparedStudy) -> Table:
    """Return the decision times by queue length.

    Returns
    -------
    Table
        Number of rounds, mean, percentiles and maximum in real seconds, for each run and bin of
        queue lengths.
    """
    rows: list[tuple[Cell, ...]] = [
        (one.name, *bin_)
        for one in compared.study.runs
        for bin_ in by_queue_length(one)
    ]  # fmt: skip
    return Table(
        "decision-time",
        "Decision time by queue length",
        (
            *plain("run"),
            ("queue_from", "jobs"),
            ("queue_to", "jobs"),
            *plain("rounds"),
            *((name, "real s") for name in ("mean", "p50", "p90", "max")),
        ),
        tuple(rows),
        (
            "Population: all dispatching rounds, by the number of jobs in the queue before the"
            " round; each bin is twice as wide as the one before it.",
            "Real seconds, measured: they differ from machine to machine.",
            RANK_NOTE,
        ),
    )
