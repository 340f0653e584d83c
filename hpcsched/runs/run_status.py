"""The status of a run: in progress, ended, or without its process."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from hpcsched.errors import InputError
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.files import STATE, STATES, read_json
from hpcsched.runs.folder_lock import RunProcess, is_alive
from hpcsched.runs.manifest import Manifest, read_manifest
from hpcsched.runs.solver_rounds import SolverRounds, in_words, solver_rounds, what_to_do
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
    """Write the state file of a run directory."""
    write_text(folder / STATE, state.model_dump_json(indent=2) + "\n")


def read_state(folder: Path) -> RunState | None:
    """Return the state of the run in a directory.

    Returns
    -------
    RunState or None
        None without a state file.
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
    """Return the status of the run in a directory."""
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


DOING = {
    "preparing": "preparing",
    "replaying": "replaying",
    "summarizing": "replay over, working out the figures",
}


PREFIXES = ("Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
"""Binary prefixes of amounts: 2¹⁰, 2²⁰ and so on."""


def state_rows(state: RunState) -> Iterator[tuple[str, str]]:
    """Yield a state as pairs of a label and a text."""
    yield "doing", f"{DOING[state.phase]}, for {duration(state.elapsed)}"
    if state.progress is not None:
        yield "progress", f"{state.progress:.1%}{_rest(state)}"
    if state.now is not None:
        yield "simulated time", f"{state.date or simulated(state.now)} ({state.now:,} s)"
    yield (
        "jobs",
        f"{state.waiting:,} waiting, {state.running:,} running, {state.ended:,} ended,"
        f" of {state.submitted:,} submitted",
    )
    times = state.decision_time
    if times.mean is not None and times.last is not None and times.longest is not None:
        yield (
            "decisions",
            f"{state.rounds:,} rounds: mean {real(times.mean)}, last {real(times.last)},"
            f" longest {real(times.longest)}",
        )
    yield from solver_rows(solver_rounds(state.solver))
    for name, resource in state.resources.items():
        yield name, _resource(resource)
    for name, shared in state.shared_resources.items():
        drawn, offered = amount(shared.drawn), amount(shared.capacity)
        yield name, f"{drawn} drawn, of {offered} offered ({_drawn(shared)})"
    if state.nodes is not None:
        yield "nodes", f"{state.nodes.down:,} of {state.nodes.count:,} out of service"


def state_line(state: RunState) -> str:
    """Return a state as one line."""
    parts = [DOING[state.phase]]
    if state.progress is not None:
        parts.append(f"{state.progress:.1%}{_rest(state)}")
    if state.now is not None:
        parts.append(f"at {state.date or simulated(state.now)}")
    parts.append(f"{state.waiting:,} waiting, {state.running:,} running, {state.ended:,} ended")
    free = (f"{name} {_free(resource)}" for name, resource in state.resources.items())
    parts.append(f"free: {', '.join(free)}")
    if state.shared_resources:
        drawn = (f"{name} {_drawn(shared)}" for name, shared in state.shared_resources.items())
        parts.append(f"drawn: {', '.join(drawn)}")
    if state.nodes is not None:
        parts.append(f"{state.nodes.down:,} nodes out of service")
    times = state.decision_time
    if times.mean is not None and times.last is not None:
        parts.append(f"decisions: mean {real(times.mean)}, last {real(times.last)}")
    called = solver_rounds(state.solver)
    if called.unsolved:
        parts.append(in_words(called))
    return f"{state.scenario}: {'; '.join(parts)}"


def solver_rows(rounds: SolverRounds) -> Iterator[tuple[str, str]]:
    """Yield the rounds that asked a solver, and advice if too many had no plan."""
    if rounds.asked:
        yield "solver", in_words(rounds)
    if rounds.too_many:
        yield "warning", what_to_do([rounds])


def simulated(seconds: int) -> str:
    """Return a simulated time as days and time of day since the trace's origin.

    Examples
    --------
    >>> simulated(90_061)
    'day 1 01:01:01'
    """
    days, rest = divmod(seconds, 86_400)
    return f"day {days:,} {rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"


def duration(seconds: float) -> str:
    """Return real seconds in a suitable unit.

    Examples
    --------
    >>> duration(5), duration(65), duration(3660)
    ('5.0 s', '1 min 5 s', '1 h 1 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{seconds:.1f} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole // 60 % 60} min"


def real(seconds: float) -> str:
    """Return a decision time in milliseconds, or in seconds from one second on.

    Examples
    --------
    >>> real(0.0012), real(2)
    ('1.2 ms', '2.00 s')
    """
    return f"{seconds * 1000:,.3g} ms" if seconds < 1 else f"{seconds:,.2f} s"


def amount(value: int) -> str:
    """Return an amount; from a million on it is taken for bytes, with a binary prefix.

    Examples
    --------
    >>> amount(512)
    '512'
    """
    if value < 2**23:
        return f"{value:,}"
    power = min((value.bit_length() - 1) // 10, len(PREFIXES))
    return f"{value / 2 ** (10 * power):,.4g} {PREFIXES[power - 1]}"


def _rest(state: RunState) -> str:
    return "" if state.remaining is None else f", about {duration(state.remaining)} left"


def _resource(resource: ResourceState) -> str:
    free, capacity = amount(resource.free), amount(resource.capacity)
    text = f"{free} of {capacity} free ({_free(resource)})"
    share = resource.utilization_last_day
    if share is None:
        return text
    return f"{text}, {share:.1%} used over the last simulated day"


def _free(resource: ResourceState) -> str:
    return f"{resource.free / resource.capacity:.1%}" if resource.capacity else "none"


def _drawn(resource: SharedResourceState) -> str:
    return f"{resource.drawn / resource.capacity:.1%}" if resource.capacity else "none is offered"
