"""The status of a run: in progress, ended, or without its process."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict

from hpcsched.errors import InputError
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.files import STATE, STATES, read_model
from hpcsched.runs.folder_lock import holder_of
from hpcsched.runs.manifest import Manifest, read_manifest
from hpcsched.runs.solver_rounds import SolverRounds, in_words, solver_rounds, what_to_do
from hpcsched.whole_files import file_error, write_text

STATE_FORMAT = 2
"""Version of the state file's layout; readers refuse any other."""

Phase = Literal["preparing", "replaying", "summarizing"]
"""Phase of a run: before the first round, the replay, or the metrics at its end."""


class ResourceState(BaseModel):
    """Capacity and use of a resource type, in amounts as declared."""

    model_config = ConfigDict(frozen=True)

    capacity: int | float
    used: int | float


class RunState(BaseModel):
    """The content of `state.json`.

    Attributes
    ----------
    written
        Wall-clock time of writing.
    elapsed
        Real seconds since the run began.
    now
        Simulated second of the replay; None before the first round.
    progress
        Share of the jobs that have left the system, from 0 to 1; None if unknown (see
        `share_done`).
    submitted, waiting, running, ended
        Numbers of jobs; those that have ended include rejected ones.
    decision_time
        Mean of the rounds, in real seconds; None before the first.
    solver
        Number of rounds that asked a solver, by its status.
    """

    model_config = ConfigDict(frozen=True)

    format: int
    scenario: str
    phase: Phase
    pid: int
    host: str
    written: AwareDatetime
    elapsed: float
    now: int | None
    progress: float | None
    submitted: int
    waiting: int
    running: int
    ended: int
    rounds: int
    decision_time: float | None
    resources: dict[str, ResourceState]
    solver: dict[str, int]


def write_state(folder: Path, state: RunState) -> None:
    """Write the state file of a run directory."""
    write_text(folder / STATE, state.model_dump_json(indent=2) + "\n")


def read_state(folder: Path) -> RunState | None:
    """Return the state of the run in a directory; None without a state file."""
    try:
        return read_model(folder / STATE, RunState, STATE_FORMAT)
    except InputError as error:
        # A run writes it and takes it away at any moment: whether it is there now says nothing.
        if isinstance(error.__cause__, FileNotFoundError):
            return None
        raise


def remove_state(folder: Path) -> None:
    """Remove the state file of a run, if there is one."""
    (folder / STATE).unlink(missing_ok=True)


Verdict = Literal["running", "complete", "interrupted", "failed", "gone"]
"""Status of a run in a word.

`gone`: its process ended without a final status, as when it is killed; its files are no run.
"""

_SAID = {
    "running": "running",
    "complete": "complete",
    "interrupted": "interrupted; what was done until then is there",
    "failed": "failed; what was done until then is there",
    "gone": "its process is gone: it was killed, and has to be run again",
}


@dataclass(frozen=True)
class RunStatus:
    """The status of a run.

    Attributes
    ----------
    state
        Last state of a run that has not ended; None if it has, or wrote none.
    """

    verdict: Verdict
    directory: Path
    manifest: Manifest
    state: RunState | None = None
    jobs: dict[str, Any] | None = None
    solver: SolverRounds | None = None


def status_of(folder: Path) -> RunStatus:
    """Return the status of the run in a directory."""
    if not folder.is_dir():
        raise file_error("not-a-run", folder, "it is not a directory")
    # The manifest before the state: a run removes its state after it has marked the manifest.
    manifest = read_manifest(folder)
    if manifest.status == "running":
        state, holder = read_state(folder), holder_of(folder)
        # It may have come to its end since the manifest was read.
        manifest = read_manifest(folder)
        if manifest.status == "running":
            verdict: Verdict = "gone" if holder is None else "running"
            solver = None if state is None else solver_rounds(state.solver)
            return RunStatus(verdict, folder, manifest, state, solver=solver)
    try:
        run = RunDirectory.open(folder)
        return RunStatus(
            manifest.status, folder, manifest, jobs=run.summary["jobs"], solver=run.solver_rounds
        )
    except InputError:
        return RunStatus(manifest.status, folder, manifest)


def status_text(status: RunStatus) -> str:
    """Return a status as lines of text: the verdict, then the details."""
    rows = list(_rows(status))
    width = max(len(name) for name, _ in rows)
    lines = [f"{status.manifest.scenario}: {_SAID[status.verdict]}"]
    return "\n".join([*lines, *(f"  {name:{width}}  {text}" for name, text in rows)])


def status_content(status: RunStatus) -> dict[str, Any]:
    """Return a status for JSON: `state` as in `state.json`, `jobs` as in `summary.json`."""
    return {
        "status": status.verdict,
        "scenario": status.manifest.scenario,
        "directory": str(status.directory),
        "started": status.manifest.started,
        "finished": status.manifest.finished,
        "error": status.manifest.error,
        "state": status.state and status.state.model_dump(mode="json"),
        "jobs": status.jobs,
        "solver": status.solver and asdict(status.solver),
    }


def _rows(status: RunStatus) -> Iterator[tuple[str, str]]:
    manifest, jobs, solver = status.manifest, status.jobs, status.solver
    yield "started", manifest.started
    if manifest.finished is not None:
        yield "finished", manifest.finished
    if manifest.error is not None:
        yield "error", "; ".join(manifest.error.splitlines())
    if status.state is not None:
        yield from _state_rows(status.state)
    if jobs is not None:
        shown = ("submitted", *STATES, "waiting", "running")
        yield "jobs", ", ".join(f"{jobs[name]:,} {name}" for name in shown if jobs.get(name))
    if solver is not None and solver.asked:
        yield "solver", in_words(solver)
        if solver.too_many:
            yield "warning", what_to_do([solver])


def _state_rows(state: RunState) -> Iterator[tuple[str, str]]:
    yield "process", f"{state.pid} on {state.host}"
    yield "as of", f"{_clock((datetime.now(UTC) - state.written).total_seconds())} ago"
    yield "doing", f"{state.phase}, for {_clock(state.elapsed)}"
    if state.progress:
        left = state.elapsed * (1 - state.progress) / state.progress
        yield "progress", f"{state.progress:.1%}, about {_clock(left)} left"
    if state.now is not None:
        yield "simulated time", f"{_clock(state.now)} ({state.now:,} s)"
    yield (
        "jobs",
        f"{state.waiting:,} waiting, {state.running:,} running, {state.ended:,} ended,"
        f" of {state.submitted:,} submitted",
    )
    if state.decision_time is not None:
        yield "decisions", f"{state.rounds:,} rounds: mean {1000 * state.decision_time:,.3g} ms"
    for name, of in state.resources.items():
        share = f" ({of.used / of.capacity:.1%})" if of.capacity else ""
        yield name, f"{of.used:,} of {of.capacity:,} in use{share}"


def _clock(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))
