"""The state file: how far a run that goes on has come, for others to read.

`state.json` is written by the running simulation, whole or not at all, about once a second of real
time, and goes away when the run comes to its end.
"""

from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from hpcsched.errors import InputError
from hpcsched.results.files import STATE, problem, read_json, write_text
from hpcsched.results.run_process import RunProcess

STATE_FORMAT = 1
"""The version of the state file's layout; readers refuse any other."""

Phase = Literal["preparing", "replaying", "summarizing"]
"""What a run does: whatever comes before the first round, the replay, the figures at its end."""


class DecisionTimes(BaseModel):
    """Real seconds that dispatching rounds took; None before the first round."""

    model_config = ConfigDict(frozen=True)

    mean: float | None
    last: float | None
    longest: float | None


class ResourceState(BaseModel):
    """A resource type: its capacity, and what is free of it, in amounts as declared.

    Free is what is in service and held by no running job.

    `utilization_last_day` is the share of the capacity that jobs held over the last simulated day,
    or since the first submission if that was later; None where no time has passed.
    """

    model_config = ConfigDict(frozen=True)

    capacity: int
    free: int
    utilization_last_day: float | None


class PoolState(BaseModel):
    """A pool: what it offers, and what running jobs draw from it, which may be more for a while."""

    model_config = ConfigDict(frozen=True)

    capacity: int
    drawn: int


class NodesState(BaseModel):
    """How many nodes there are, and how many of them are out of service, for whatever reason."""

    model_config = ConfigDict(frozen=True)

    count: int
    down: int


class RunState(BaseModel):
    """The content of `state.json`.

    `written` is a wall-clock instant (ISO 8601, UTC), `elapsed` real seconds since the run began,
    `now` the simulated second that the replay has come to. Of the jobs submitted by then, `waiting`
    and `running` are in the system and `ended` have left it, rejected ones included.
    `progress` goes from 0 to 1: of the jobs that the scenario asks for, where it says how many, and
    else of the trace, as far as it has been read; None where that is not known.
    `solver` has the rounds that asked a solver, by its status.
    `pools` and `nodes` are there where the scenario has pools, or outages.
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
    pools: dict[str, PoolState] = {}
    solver: dict[str, int] = {}
    nodes: NodesState | None = None

    def age(self) -> float:
        """Return how many real seconds ago the state was written, by the clock of this machine."""
        return (datetime.now(UTC) - datetime.fromisoformat(self.written)).total_seconds()


def write_state(folder: Path, state: RunState) -> None:
    """Write the state file of a run directory; raises InputError where it cannot be written."""
    write_text(folder / STATE, state.model_dump_json(indent=2) + "\n")


def read_state(folder: Path) -> RunState | None:
    """Return the state of the run in a directory, or None if there is no state file.

    Raises InputError where the file is damaged or of a format that is not known here.
    """
    path = folder / STATE
    try:
        content = read_json(path)
    except InputError:
        if not path.exists():  # a run that ends takes it away, perhaps at this moment
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
    """Remove the state file of a run that has come to its end, if there is one."""
    (folder / STATE).unlink(missing_ok=True)


def instant() -> str:
    """Return the present instant, for `written`."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _first(error: Exception) -> str:
    if not isinstance(error, ValidationError):
        return f"written: {error}"
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
