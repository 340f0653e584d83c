"""The tables of a comparison by name, apart from the table of metrics."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.figures.process_usage import cpu_memory
from hpcsched.report.tables.job_tables import classes, distribution, paired
from hpcsched.report.tables.load_tables import decision_time, load
from hpcsched.report.tables.metric_tables import ranks, replicas
from hpcsched.report.tables.report_table import Table


def _labelled(table: Callable[[ComparedStudy], Table]) -> Callable[[ComparedStudy], Table]:
    """Return a table of a study with the labels of its runs."""
    return lambda compared: replace(table(compared), labels=compared.study.labels)


TABLES: Mapping[str, Callable[[ComparedStudy], Table]] = {
    "distribution": _labelled(distribution),
    "classes": _labelled(classes),
    "paired": _labelled(paired),
    "replicas": _labelled(replicas),
    "ranks": _labelled(ranks),
    "load": _labelled(load),
    "decision-time": _labelled(decision_time),
    "cpu-memory": _labelled(cpu_memory),
}
"""The tables by name, in the order in which they are shown."""
