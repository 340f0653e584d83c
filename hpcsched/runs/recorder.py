"""The writer of the Parquet files of a run."""

from functools import partial
from pathlib import Path

import pyarrow as pa

from hpcsched.runs.column_tables import table_of_jobs, table_of_rounds
from hpcsched.runs.columns import jobs_schema, rounds_schema
from hpcsched.runs.files import JOBS, ROUNDS
from hpcsched.runs.record_file import RecordFile
from hpcsched.runs.tables import RunRecords
from hpcsched.simulation.observer import Observer
from hpcsched.simulation.records import JobRecord, RoundRecord
from hpcsched.system.system import System


class RunRecorder(Observer):
    """Writer of `jobs.parquet` and `rounds.parquet`; `close` it after the run.

    A replay appends tables. To a live run it is an observer, and to records made by hand.

    Memory holds one row group of each, and what the summary needs. Equal runs give equal bytes in
    `jobs.parquet`.

    Attributes
    ----------
    records
        The rows that are in the files, for the summary.

    Raises
    ------
    InputError
        If a file cannot be written.
    """

    def __init__(self, folder: Path, system: System) -> None:
        self.records = RunRecords(folder)
        self._jobs: RecordFile[JobRecord] = RecordFile(
            folder / JOBS,
            jobs_schema(system),
            partial(table_of_jobs, system),
            ["state", "rejected_by"],
            self.records.add_jobs,
        )
        self._rounds: RecordFile[RoundRecord] = RecordFile(
            folder / ROUNDS,
            rounds_schema(system),
            partial(table_of_rounds, system),
            keep=self.records.add_rounds,
        )

    def job_ended(self, record: JobRecord) -> None:
        """Record a job that has left the system."""
        self._jobs.add(record)

    def round_ended(self, record: RoundRecord) -> None:
        """Record a dispatching round."""
        self._rounds.add(record)

    def replayed(self, jobs: pa.Table, rounds: pa.Table) -> None:
        """Record tables of jobs that have left and of rounds, with the columns of the files."""
        self._jobs.add_table(jobs)
        self._rounds.add_table(rounds)

    def close(self) -> None:
        """Write the remaining rows and finish the files."""
        try:
            self._jobs.close()
        finally:
            self._rounds.close()
