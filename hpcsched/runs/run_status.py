"""The status of a run: in progress, ended, or without its process."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from hpcsched.errors import InputError
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.files import STATES
from hpcsched.runs.manifest import Manifest, read_manifest
from hpcsched.runs.run_process import is_alive
from hpcsched.runs.run_state import RunState, read_state
from hpcsched.runs.solver_rounds import SolverRounds, solver_rounds
from hpcsched.runs.state_rendering import duration, solver_rows, state_rows
from hpcsched.whole_files import problem

Verdict = Literal["running", "complete", "interrupted", "failed", "gone", "unknown"]
"""Status of a run in a word.

`gone`: its process ended without a final status, as when it is killed; its files are no run.
`unknown`: it has not ended, and has no state file.
"""

SAID = {
    "running": "running",
    "complete": "complete",
    "interrupted": "interrupted; what was done until then is there",
    "failed": "failed; what was done until then is there",
    "gone": "its process is gone: it was killed, and has to be run again",
    "unknown": "it has not ended, and has left no state: it just began, or was killed",
}


@dataclass(frozen=True)
class RunStatus:
    """The status of a run.

    Attributes
    ----------
    state
        Last state of a run that has not ended; None if it has, or wrote none.
    age
        Real seconds since the state was written.
    process_alive
        Whether the process exists; None on another machine, or without a state.
    """

    verdict: Verdict
    directory: Path
    manifest: Manifest
    state: RunState | None = None
    age: float | None = None
    process_alive: bool | None = None
    jobs: dict[str, Any] | None = None
    solver: SolverRounds | None = None


def status_of(folder: Path) -> RunStatus:
    """Return the status of the run in a directory.

    Raises
    ------
    InputError
        The directory holds no run, or a file is damaged.
    """
    if not folder.is_dir():
        raise problem("not-a-run", folder, "it is not a directory")
    # The manifest before the state: a run removes its state after it has marked the manifest.
    manifest = read_manifest(folder)
    if manifest.status == "running":
        state = read_state(folder)
        if state is not None:
            alive = is_alive(state.process)
            if alive is not False:
                return _of_state("running", folder, manifest, state, alive)
        # It may have come to its end since the manifest was read.
        manifest = read_manifest(folder)
        if manifest.status == "running":
            if state is None:
                return RunStatus("unknown", folder, manifest)
            return _of_state("gone", folder, manifest, state, alive=False)
    jobs, solver = _ended(folder)
    return RunStatus(manifest.status, folder, manifest, jobs=jobs, solver=solver)


def status_text(status: RunStatus) -> str:
    """Return a status as lines of text: the verdict, then the details."""
    rows = list(_rows(status))
    width = max((len(name) for name, _ in rows), default=0)
    lines = [f"{status.manifest.scenario}: {SAID[status.verdict]}"]
    return "\n".join([*lines, *(f"  {name:{width}}  {text}" for name, text in rows)])


def status_content(status: RunStatus) -> dict[str, Any]:
    """Return a status for JSON.

    Returns
    -------
    dict
        `status` (a verdict), `scenario`, `directory`, `started`, `finished`, `process_alive`,
        `error`, `seconds_since_written`, `state` (as in `state.json`), `jobs` (as in
        `summary.json`) and `solver`: the rounds that `asked` a solver, and those `without_plan` by
        status. Unknown values are null.
    """
    return {
        "status": status.verdict,
        "scenario": status.manifest.scenario,
        "directory": str(status.directory),
        "started": status.manifest.started,
        "finished": status.manifest.finished,
        "error": status.manifest.error,
        "process_alive": status.process_alive,
        "seconds_since_written": status.age,
        "state": status.state.model_dump(mode="json") if status.state else None,
        "jobs": status.jobs,
        "solver": None if status.solver is None else asdict(status.solver),
    }


def _rows(status: RunStatus) -> Iterator[tuple[str, str]]:
    manifest, state, jobs = status.manifest, status.state, status.jobs
    yield "started", manifest.started
    if manifest.finished is not None:
        yield "finished", manifest.finished
    if manifest.error is not None:
        yield "error", "; ".join(manifest.error.splitlines())
    if state is not None and status.age is not None:
        yield "process", f"{state.process.pid} on {state.process.host}{_there(status)}"
        yield "as of", f"{duration(status.age)} ago"
        yield from state_rows(state)
    if jobs is not None:
        shown = ("submitted", *STATES, "waiting", "running")
        yield "jobs", ", ".join(f"{jobs[name]:,} {name}" for name in shown if jobs.get(name))
        if status.solver is not None:
            yield from solver_rows(status.solver)


def _there(status: RunStatus) -> str:
    if status.process_alive is None:
        return ", another machine: whether it is still there cannot be seen from here"
    return "" if status.process_alive else ", gone"


def _of_state(
    verdict: Verdict, folder: Path, manifest: Manifest, state: RunState, alive: bool | None
) -> RunStatus:
    """Return the status of a run with a state and without a summary."""
    solver = solver_rounds(state.solver)
    return RunStatus(verdict, folder, manifest, state, state.age(), alive, solver=solver)


def _ended(folder: Path) -> tuple[dict[str, Any] | None, SolverRounds | None]:
    """Return the account of an ended run; None where its summary cannot be read."""
    try:
        run = RunDirectory.open(folder)
        return run.summary["jobs"], run.solver_rounds
    except InputError:
        return None, None
