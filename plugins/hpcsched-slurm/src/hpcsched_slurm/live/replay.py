"""Simulation of a live run with the same dispatcher, and differences of start times."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import pyarrow.compute as pc

from hpcsched.errors import Finding, InputError, Place
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.files import JOBS
from hpcsched.runs.runner import run
from hpcsched.scenario.document import Setting, read_document
from hpcsched.scenario.key_path import parse_key_path
from hpcsched.scenario.loading import check_document


class StartDifferences(NamedTuple):
    """Differences of start times between a live run and its simulation.

    Attributes
    ----------
    seconds
        Start live − start simulated, by job number.
    not_drawn
        Names of shared resources from which nothing is drawn in the simulation, as a run does not
        record the draws of its jobs.
    """

    live: Path
    simulated: Path
    seconds: dict[int, int]
    not_drawn: tuple[str, ...] = ()

    @property
    def median_absolute(self) -> float:
        """Median of the absolute differences, in seconds."""
        return float(median(map(abs, self.seconds.values())))


def replay_live(
    scenario: Path,
    live: Path,
    out: Path | None = None,
    *,
    latency: int,
    overrides: Sequence[str] = (),
    force: bool = False,
) -> StartDifferences:
    """Simulate the jobs of a live run with the dispatcher of a scenario; compare start times.

    Parameters
    ----------
    out
        Run directory of the simulation; `runs/NAME-replayed` by default.
    latency
        Seconds that the cluster takes from an arrival or an end to the start that answers it.

    Raises
    ------
    InputError
        If the run cannot be read or no job ended.
    """
    document = read_document(scenario)
    declared = check_document(document, scenario, overrides).scenario
    directory = RunDirectory.open(live)
    if declared.live is None:
        message = "it has no 'live:', with which a live run is compared"
        raise InputError(Finding("not-live", message, Place(str(scenario))))
    first = pc.min(directory.rounds.read("now")["now"]).as_py()
    # What waited before the first round waits here too: all nodes are closed until then.
    maintenance = [{"name": "before", "start": 0, "duration": first}]
    trace = {"source": "run", "path": str((live / JOBS).absolute()), "noticed_after": latency}
    values: dict[str, Any] = {
        "trace": trace,
        **({"outages": {"maintenance": maintenance}} if first else {}),
        # The nodes of a unit matter here, and aggregated units have none.
        "simulation.aggregate_nodes": False,
        "live": None,
        # Run times are those on the cluster, also of jobs that it killed; and the time that it
        # takes to answer is in `noticed_after` already.
        "simulation.kill_at_requested_time": False,
        "simulation.dispatch_latency": None,
    }
    place = Place(f"the replay of {live}")
    settings = [Setting(parse_key_path(key), value, place) for key, value in values.items()]
    simulated = check_document(document, scenario, [*overrides, *settings]).scenario
    result = run(simulated, out or Path("runs") / f"{declared.name}-replayed", force=force)
    # Only jobs that both have are compared: a job may be cancelled on the cluster, or not have
    # ended.
    before = _starts(directory)
    after = _starts(result.directory)
    seconds = {job_id: start - after[job_id] for job_id, start in before.items() if job_id in after}
    if not seconds:
        raise InputError(Finding("no-jobs", "no job of it has ended", Place(str(live))))
    shared = tuple(one.name for one in simulated.system.shared_resources)
    return StartDifferences(live, result.directory.path, seconds, shared)


def difference_lines(found: StartDifferences) -> Iterator[str]:
    """Yield the result of a comparison, in a few lines."""
    ordered: Sequence[int] = sorted(map(abs, found.seconds.values()))
    yield f"{len(ordered)} jobs, live and simulated"
    yield f"  median difference of start times  {found.median_absolute:g} s"
    yield f"  ninth decile                      {ordered[int(0.9 * (len(ordered) - 1))]} s"
    yield f"  largest                           {ordered[-1]} s"
    later = sum(found.seconds.values()) / len(ordered)
    yield f"  mean, live later than simulated   {later:.2f} s"
    if found.not_drawn:
        yield f"  nothing is drawn from {', '.join(found.not_drawn)} in the simulation"


def _starts(directory: RunDirectory) -> dict[int, int]:
    table = directory.jobs.read("job_id", "start_time")
    return dict(zip(table["job_id"].to_pylist(), table["start_time"].to_pylist(), strict=True))
