"""A finished run: its tables and metrics, its audit, and explanations."""

from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from hpcsched.runs.directory import RunDirectory

if TYPE_CHECKING:
    from hpcsched.audit.violations import AuditReport
    from hpcsched.explain.explanation import Explanation


@dataclass(frozen=True)
class RunResult:
    """A finished run."""

    directory: RunDirectory

    @property
    def summary(self) -> dict[str, Any]:
        """Content of `summary.json`."""
        return self.directory.summary

    @cached_property
    def jobs(self) -> pa.Table:
        """All jobs that have left the system, as an Arrow table with the columns of `jobs.parquet`.

        pandas (`to_pandas(types_mapper=pandas.ArrowDtype)`),
        polars (`polars.from_arrow`) and DuckDB work on its memory without copying it, so that none
        of them is chosen for the user. Raises InputError where the file is damaged.
        """
        return self.directory.all_jobs.whole()

    @cached_property
    def rounds(self) -> pa.Table:
        """All dispatching rounds, as an Arrow table with the columns of `rounds.parquet`."""
        return self.directory.rounds.whole()

    @property
    def metrics(self) -> dict[str, float | None]:
        """Metrics by name; None where a run has no value."""
        metrics: dict[str, float | None] = self.summary["metrics"]
        return metrics

    @property
    def objective(self) -> float | None:
        """Value of the scenario's objective."""
        value: float | None = self.summary["objective"]["value"]
        return value

    def verify(self) -> "AuditReport":
        """Return the audit of the run against its trace, system and records.

        Raises
        ------
        InputError
            The scenario is not valid here, or the trace cannot be read.
        """
        from hpcsched.audit.auditing import audit_directory  # noqa: PLC0415 (it calls this module)

        return audit_directory(self.directory)

    def explain(self, job_id: int) -> "Explanation":
        """Return why a job started when it did; `str` gives it in sentences.

        Raises
        ------
        InputError
            The run recorded no reasons (observer `reasons`), or has no such job.
        """
        from hpcsched.explain.explanation import explain_run  # noqa: PLC0415 (a replay needs none of it)

        return explain_run(self.directory, job_id)

    def __repr__(self) -> str:
        """Return the scenario, the status, the number of jobs and the folder, on one line."""
        manifest, jobs = self.directory.manifest, self.summary["jobs"]["submitted"]
        what = f"{manifest.scenario}: {manifest.status}, jobs submitted: {jobs}"
        return f"RunResult({what}, objective: {self.objective}, in {self.directory.path})"

    def _repr_html_(self) -> str:
        """Return the account of jobs and the metrics, for notebooks."""
        from hpcsched.report.tables.run_account import account_lines  # noqa: PLC0415 (as above)

        lines = "\n".join(account_lines(self.summary))
        return f"<pre>{escape(self.directory.manifest.scenario)}: {escape(lines)}</pre>"


def open_run(directory: Path | str) -> RunResult:
    """Return the finished run in a directory.

    Raises
    ------
    InputError
        If it is no finished run.
    """
    return RunResult(RunDirectory.open(Path(directory)))
