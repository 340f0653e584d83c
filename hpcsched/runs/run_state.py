"""The state file: the progress of a run for other processes to read.

`state.json` is written by the running simulation, whole or not at all, about once a second of real
time, and is removed at the end of the run.
"""

from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from hpcsched.errors import InputError
from hpcsched.runs.files import STATE, read_json
from hpcsched.runs.folder_lock import RunProcess
from hpcsched.whole_files import problem, write_text

STATE_FORMAT = 1
"""Version of the state file's layout; readers refuse any other."""

Phase = Literal["preparing", "replaying", "summarizing"]
"""Phase of a run: before the first round, the replay, or the metrics at its end."""


class DecisionTimes(BaseModel):
    """Decision times of rounds, in real seconds; None before the first round."""

    model_config = ConfigDict(frozen=True)

    mean: float | None
    last: float | None
    longest: float | None


class ResourceState(BaseModel):
    """Capacity and use of a resource type, in amounts as declared.

    Attributes
    ----------
    free
        Amount in service that no running job has.
    utilization_last_day
        Share of the capacity allocated over the last simulated day, or since the first submission
        if that was later; None if no time has passed.
    """

    model_config = ConfigDict(frozen=True)

    capacity: int
    free: int
    utilization_last_day: float | None


class SharedResourceState(BaseModel):
    """Capacity and use of a shared resource.

    Attributes
    ----------
    drawn
        Amount in use by running jobs; it may exceed the capacity for a while.
    """

    model_config = ConfigDict(frozen=True)

    capacity: int
    drawn: int


class NodesState(BaseModel):
    """Number of nodes, and of those out of service.

    Attributes
    ----------
    down
        Number of nodes out of service, for any reason.
    """

    model_config = ConfigDict(frozen=True)

    count: int
    down: int


class RunState(BaseModel):
    """The content of `state.json`.

    Attributes
    ----------
    written
        Wall-clock time of writing (ISO 8601, UTC).
    elapsed
        Real seconds since the run began.
    now
        Simulated second of the replay; None before the first round.
    progress
        Share of the jobs that have left the system, from 0 to 1; the number of all jobs is
        estimated until the trace has been read. None if unknown.
    remaining
        Estimated real seconds until the end of the replay; None if unknown.
    submitted, waiting, running, ended
        Numbers of jobs; those that have ended include rejected ones.
    resources
        Capacity and use by resource type.
    shared_resources, nodes
        Shared resources, and nodes out of service, if the scenario has any.
    date
        Date and time of `now` by the clock of the log; None where the log has none.
    """

    model_config = ConfigDict(frozen=True)

    format: int
    scenario: str
    phase: Phase
    process: RunProcess
    written: str
    elapsed: float
    now: int | None
    progress: float | None
    submitted: int
    waiting: int
    running: int
    ended: int
    rounds: int
    decision_time: DecisionTimes
    resources: dict[str, ResourceState]
    shared_resources: dict[str, SharedResourceState] = {}
    solver: dict[str, int] = {}
    nodes: NodesState | None = None
    date: str | None = None
    remaining: float | None = None

    def age(self) -> float:
        """Return the real seconds since the state was written, by this machine's clock."""
        return (datetime.now(UTC) - datetime.fromisoformat(self.written)).total_seconds()


def write_state(folder: Path, state: RunState) -> None:
    """Write the state file of a run directory.

    Raises
    ------
    InputError
        It cannot be written.
    """
    write_text(folder / STATE, state.model_dump_json(indent=2) + "\n")


def read_state(folder: Path) -> RunState | None:
    """Return the state of the run in a directory.

    Returns
    -------
    RunState or None
        None without a state file.

    Raises
    ------
    InputError
        The file is damaged, or of an unknown format.
    """
    path = folder / STATE
    try:
        content = read_json(path)
    except InputError as error:
        # A run writes it and takes it away at any moment: whether it is there now says nothing.
        if isinstance(error.__cause__, FileNotFoundError):
            return None
        raise
    found = content.get("format")
    if found != STATE_FORMAT:
        message = f"it has format {found!r}; this version of hpcsched reads format {STATE_FORMAT}"
        raise problem("unknown-format", path, message)
    try:
        state = RunState.model_validate(content)
        state.age()
    except (ValidationError, ValueError, TypeError) as error:
        raise problem("damaged-file", path, f"it is damaged: {_first(error)}") from error
    return state


def remove_state(folder: Path) -> None:
    """Remove the state file of a run, if there is one."""
    (folder / STATE).unlink(missing_ok=True)


def instant() -> str:
    """Return the present wall-clock time (ISO 8601, UTC)."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _first(error: Exception) -> str:
    if not isinstance(error, ValidationError):
        return f"written: {error}"
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
