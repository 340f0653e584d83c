"""Times by the clock, kept apart from the results that are equal in every run."""

from pathlib import Path
from typing import Any

from hpcsched.metrics.column_sums import mean_of_floats
from hpcsched.metrics.metric_tables import Table, whole_column
from hpcsched.metrics.percentiles import nearest_rank
from hpcsched.runs.files import ROUNDS, TIMING, write_json
from hpcsched.runs.tables import ParquetTable


def measured_times(rounds: Table) -> dict[str, Any]:
    """Return mean and 99th percentile (nearest rank) of decision times, in real seconds.

    Both are None without rounds.
    """
    times = whole_column(rounds, "decision_time")
    count = len(times)
    p99 = None
    if count:
        rank = nearest_rank(99, count)
        # A full sort of a million rounds is not needed for one rank.
        times.partition(rank)
        p99 = times[rank].item()
    mean = mean_of_floats(rounds, ("decision_time",), lambda seconds: seconds)
    return {"decision_time_mean": mean, "decision_time_p99": p99}


def write_timing(folder: Path) -> None:
    """Write `timing.json` from the rounds of a run.

    Raises
    ------
    InputError
        If the rounds are damaged or the file cannot be written.
    """
    write_json(folder / TIMING, {"rounds": measured_times(ParquetTable(folder / ROUNDS))})
