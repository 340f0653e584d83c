"""The tables of a comparison by name, apart from the table of metrics."""

from collections.abc import Callable, Mapping

from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.figures.process_usage import cpu_memory
from hpcsched.report.tables.job_tables import classes, distribution, paired
from hpcsched.report.tables.load_tables import decision_time, load
from hpcsched.report.tables.metric_tables import ranks, replicas
from hpcsched.report.tables.report_table import Table

TABLES: Mapping[str, Callable[[ComparedStudy], Table]] = {
    "distribution": distribution,
    "classes": classes,
    "paired": paired,
    "replicas": replicas,
    "ranks": ranks,
    "load": load,
    "decision-time": decision_time,
    "cpu-memory": cpu_memory,
}
"""The tables by name, in the order in which they are shown."""
