"""Run directories: creation, and access to a finished run."""

import logging
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hpcsched.errors import FORCE, InputError
from hpcsched.runs.files import (
    JOBS,
    KNOWN,
    MANIFEST,
    OPTIONAL,
    REASONS,
    ROUNDS,
    SCENARIO,
    SUMMARY,
    TIMING,
    read_json,
)
from hpcsched.runs.folder_lock import LOCK, FolderLock, HeldError
from hpcsched.runs.manifest import ON_A_CLUSTER, Manifest, read_manifest
from hpcsched.runs.solver_rounds import SolverRounds, solver_rounds
from hpcsched.whole_files import cannot_write, file_error, unfinished_of
from hpcsched.workload.trace_calendar import Calendar, calendar_of

if TYPE_CHECKING:
    from hpcsched.runs.tables import ParquetTable

_log = logging.getLogger(__name__)


def create(folder: Path, *, force: bool = False) -> FolderLock:
    """Create an empty run directory.

    Parameters
    ----------
    folder
        The directory; one that holds files is refused, unless they are of a run that was killed
        or failed. A warning tells of such a run.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not _is_empty(folder) and not _holds_a_run(folder):
            message = "it is not empty and holds no run; it is left as it is"
            raise file_error("not-empty", folder, message)
        with ExitStack() as stack:
            lock = stack.enter_context(FolderLock(folder).acquire())
            if not _is_empty(folder):
                _make_room(folder, force)
            stack.pop_all()
    except HeldError as held:
        message = f"another run is being written there, by {held}; write this one elsewhere"
        raise file_error("in-use", folder, message) from None
    except FileExistsError:
        raise file_error("cannot-write", folder, "it is a file, not a directory") from None
    except (OSError, ValueError) as error:  # a ValueError: the path holds U+0000
        raise cannot_write(folder, error) from error
    return lock


def _is_empty(folder: Path) -> bool:
    """Return True if a folder is empty, but for the files of a process that was killed early."""
    left = {LOCK, unfinished_of(folder / MANIFEST).name}
    return {path.name for path in folder.iterdir()} <= left


def _holds_a_run(folder: Path) -> bool:
    try:
        return "hpcsched" in read_json(folder / MANIFEST).get("versions", ())
    except InputError:
        return False


def _make_room(folder: Path, force: bool) -> None:
    if not force:
        # The lock is ours, so that the process of a run in progress is gone. A real cluster does
        # not do its part again.
        manifest = read_manifest(folder)
        how = {"running": "was killed", "failed": "failed"}.get(manifest.status)
        if how is None or ON_A_CLUSTER in manifest.not_reproducible_because:
            message = f"it is not empty; {FORCE} replaces the run in it"
            raise file_error("not-empty", folder, message)
        _log.warning("%s: replacing the run in it, which %s", folder, how)
    for name in (*KNOWN, *OPTIONAL):
        (folder / name).unlink(missing_ok=True)
        unfinished_of(folder / name).unlink(missing_ok=True)


def _table(path: Path, *, ran_only: bool = False) -> "ParquetTable":
    # It imports pyarrow, which takes longer than all else that tells the status of a run.
    from hpcsched.runs.tables import ParquetTable  # noqa: PLC0415

    return ParquetTable(path, ran_only=ran_only)


@dataclass(frozen=True)
class RunDirectory:
    """A finished run; a damaged file raises InputError when it is first used."""

    path: Path
    manifest: Manifest

    @classmethod
    def open(cls, path: Path) -> "RunDirectory":
        """Open a run directory."""
        if not path.is_dir():
            raise file_error("not-a-run", path, "it is not a directory")
        manifest = read_manifest(path)
        if manifest.status == "running":
            message = (
                f"the run of {manifest.started} is still going on, or was killed;"
                " `hpcsched status` tells which"
            )
            raise file_error("not-finished", path, message)
        # Only what was written has a hash: a summary that was lost later is a missing file.
        if manifest.status != "complete" and SUMMARY not in manifest.files:
            how = "was interrupted" if manifest.status == "interrupted" else "failed"
            # One line an error: findings of an input come in several.
            error = "" if manifest.error is None else ": " + "; ".join(manifest.error.splitlines())
            message = f"the run of {manifest.started} {how} before it had results{error}"
            raise file_error("no-results", path, message)
        for name in KNOWN:
            if not (path / name).is_file():
                raise file_error("missing-file", path / name, "it is missing")
        return cls(path, manifest)

    @property
    def partial(self) -> bool:
        """True if the run was interrupted or failed before all jobs had left the system."""
        return self.manifest.status != "complete"

    @property
    def scenario_path(self) -> Path:
        """Path of the resolved scenario."""
        return self.path / SCENARIO

    @cached_property
    def summary(self) -> dict[str, Any]:
        """Content of `summary.json`."""
        path = self.path / SUMMARY
        content = read_json(path)
        for key, kind in (("jobs", dict), ("metrics", dict), ("rounds", dict)):
            if not isinstance(content.get(key), kind):
                raise file_error("damaged-file", path, f"it is damaged: {key!r} is missing")
        return content

    @cached_property
    def calendar(self) -> Calendar:
        """Calendar of the run's trace: dates of simulated times."""
        return calendar_of(self.manifest.trace_comments, self.first_submit_time)

    @cached_property
    def first_submit_time(self) -> int:
        """First submit time, in seconds; 0 without any job."""
        return self.all_jobs.bounds("submit_time")[0] or 0

    @property
    def last_end_time(self) -> int:
        """Last end of a job, in seconds; 0 without any job that ran."""
        return self.all_jobs.bounds("end_time")[1] or 0

    @cached_property
    def solver_rounds(self) -> SolverRounds:
        """Counts of the rounds that asked a solver."""
        statuses = self.summary["rounds"].get("solver", {})
        if not isinstance(statuses, dict) or not all(type(n) is int for n in statuses.values()):
            message = "it is damaged: 'rounds.solver' has no number for each status"
            raise file_error("damaged-file", self.path / SUMMARY, message)
        return solver_rounds(statuses)

    @cached_property
    def timing(self) -> dict[str, Any]:
        """Content of `timing.json`."""
        path = self.path / TIMING
        content = read_json(path)
        if not isinstance(content.get("rounds"), dict):
            raise file_error("damaged-file", path, "it is damaged: 'rounds' is missing")
        return content

    @cached_property
    def jobs(self) -> "ParquetTable":
        """Table of the jobs that ran."""
        return _table(self.path / JOBS, ran_only=True)

    @cached_property
    def all_jobs(self) -> "ParquetTable":
        """Table of the jobs that ran or were rejected."""
        return _table(self.path / JOBS)

    @cached_property
    def rounds(self) -> "ParquetTable":
        """Table of the dispatching rounds."""
        return _table(self.path / ROUNDS)

    @cached_property
    def reasons(self) -> "ParquetTable":
        """Table of the reasons of jobs."""
        path = self.path / REASONS
        if not path.is_file():
            message = (
                "no reasons were recorded: run it with --explain, or with 'observers: [reasons]' in"
                " its scenario"
            )
            raise file_error("no-reasons", self.path, message)
        return _table(path)
