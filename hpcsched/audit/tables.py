"""Check of the columns of a run's tables, before anything reads them."""

from hpcsched.runs.columns import (
    interruptions_schema,
    jobs_schema,
    outages_schema,
    reasons_schema,
    rounds_schema,
    usage_schema,
)
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.files import INTERRUPTIONS, JOBS, OUTAGES, REASONS, ROUNDS, USAGE
from hpcsched.runs.tables import ParquetTable
from hpcsched.system.system import System


def expect_columns(run: RunDirectory, system: System) -> None:
    """Check that each table of a run has the columns that a run writes.

    `shared_resources.parquet` is left to the check of shared resources, which knows its columns.

    Raises
    ------
    InputError
        If a table has other columns.
    """
    expected = {
        JOBS: jobs_schema(system),
        ROUNDS: rounds_schema(system),
        OUTAGES: outages_schema(),
        INTERRUPTIONS: interruptions_schema(),
        REASONS: reasons_schema(),
        USAGE: usage_schema(),
    }
    for name, columns in expected.items():
        if (run.path / name).is_file():
            ParquetTable(run.path / name).check_columns(columns)
