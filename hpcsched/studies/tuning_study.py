"""A tuning study: the search on the training window, and the judgement on the later one.

The search is by a tree-structured Parzen estimator of Optuna: J. Bergstra, R. Bardenet, Y. Bengio
and B. Kégl, Algorithms for hyper-parameter optimization, NeurIPS 2011; T. Akiba et al., Optuna: a
next-generation hyperparameter optimization framework, KDD 2019.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from hpcsched.errors import Finding, HpcschedError, InputError, PluginError
from hpcsched.metrics.column_sums import no_less
from hpcsched.plugins import manager
from hpcsched.report.job_breakdown import job_classes
from hpcsched.runs.assembly import assemble
from hpcsched.runs.replaying import Replay, Workload, read_workload, replay
from hpcsched.runs.tables import ArrowTable
from hpcsched.scenario import Scenario
from hpcsched.studies.cell import make_cell
from hpcsched.studies.job_differences import (
    COMPARED,
    Difference,
    ReplayOutcome,
    class_differences,
    difference,
    outcome_in,
    outcome_table,
    paired_jobs,
)
from hpcsched.studies.tuning import Limit, SearchRange, TunedScenario
from hpcsched.whole_files import problem, write_text
from hpcsched.workload.job_batches import joined_columns
from hpcsched.workload.trace_calendar import NO_DATES, Calendar, calendar_of

if TYPE_CHECKING:
    import optuna


class Trial(NamedTuple):
    """A trial of a search.

    Attributes
    ----------
    values
        Values by key path.
    objective
        Objective over the jobs of the training window; None if the replay failed or no job ran.
    excesses
        By how much each constraint is exceeded; at most 0 if it is kept.
    message
        Why the replay failed, if it did.
    """

    number: int
    values: Mapping[str, Any]
    objective: float | None
    excesses: tuple[float, ...] = ()
    message: str = ""

    @property
    def keeps_constraints(self) -> bool:
        """True if the replay did not fail, and no constraint is exceeded."""
        return self.objective is not None and all(excess <= 0 for excess in self.excesses)


class TrialLog:
    """File with a line for each trial, below a line that describes the search.

    Parameters
    ----------
    path
        The file, which may not exist yet.
    about
        Whatever the outcomes of trials depend on.
    """

    def __init__(self, path: Path, about: Mapping[str, Any]) -> None:
        self._path = path
        self._about = json.loads(json.dumps(about))
        self.trials: list[Trial] = []
        if path.exists():
            self.trials = self._read()

    def add(self, trials: Sequence[Trial]) -> None:
        """Add trials, all of them or none."""
        self.trials += trials
        lines = [self._about, *(trial._asdict() for trial in self.trials)]
        write_text(self._path, "".join(f"{json.dumps(line)}\n" for line in lines))

    def _read(self) -> list[Trial]:
        try:
            first, *lines = map(json.loads, self._path.read_text(encoding="utf-8").splitlines())
            trials = [Trial(**{**line, "excesses": tuple(line["excesses"])}) for line in lines]
        except (OSError, ValueError, TypeError, KeyError) as error:
            message = f"it is damaged: {error}; remove it to begin anew"
            raise problem("damaged-file", self._path, message) from error
        if first != self._about:
            message = (
                "it has the trials of another search: the scenario, the tuning file, a file that"
                " they read, or a version has changed; use another --out, or remove it"
            )
            raise problem("other-search", self._path, message)
        return trials


BATCH = 4
"""Number of trials that are chosen before their outcomes are known, on any machine."""


Evaluate = Callable[[int, Mapping[str, Any]], Trial]
"""Returns the trial of a number and values."""


def search(
    space: Mapping[str, SearchRange], trials: int, seed: int, log: TrialLog, evaluate: Evaluate
) -> Iterator[Trial]:
    """Yield trials until there are enough of them; those in the log count, and are not yielded.

    Equal seeds give equal trials, on any number of processors, and whether or not the search was
    stopped in between.

    Parameters
    ----------
    space
        Ranges by key path.
    """
    if find_spec("optuna") is None:
        raise PluginError("tune: the package optuna is not installed; pip install 'hpcsched[tune]'")
    import optuna  # noqa: PLC0415 (an optional package, which takes its time)

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    ranges = {path: _distribution(range_) for path, range_ in space.items()}
    with ThreadPoolExecutor(os.cpu_count() or 1) as threads:
        while len(log.trials) < trials:
            first = len(log.trials)
            # A study of its own for each batch: its draws depend on the log alone, and so not on
            # whether an earlier process has written it.
            study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=_seed(seed, first)))
            study.add_trials([_frozen(space, trial, ranges) for trial in log.trials])
            asked = [study.ask(ranges) for _ in range(min(BATCH, trials - first))]
            values = [_values(space, one.params) for one in asked]
            ended = list(threads.map(evaluate, range(first, first + len(asked)), values))
            log.add(ended)
            yield from ended


def _values(space: Mapping[str, SearchRange], params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the sampler's choice, with values of lists in place of their numbers."""
    return {
        path: range_.values[params[path]] if range_.values else params[path]
        for path, range_ in space.items()
    }


def _distribution(range_: SearchRange) -> "optuna.distributions.BaseDistribution":
    import optuna  # noqa: PLC0415

    # Numbers of values, as a value may be a mapping, such as a plugin with its parameters.
    if range_.values:
        return optuna.distributions.CategoricalDistribution(range(len(range_.values)))
    assert range_.low is not None
    assert range_.high is not None
    if range_.is_whole:
        low, high = int(range_.low), int(range_.high)
        return optuna.distributions.IntDistribution(low, high, log=range_.log)
    return optuna.distributions.FloatDistribution(range_.low, range_.high, log=range_.log)


def _frozen(
    space: Mapping[str, SearchRange],
    trial: Trial,
    ranges: Mapping[str, "optuna.distributions.BaseDistribution"],
) -> "optuna.trial.FrozenTrial":
    import optuna  # noqa: PLC0415

    params = {
        path: range_.values.index(trial.values[path]) if range_.values else trial.values[path]
        for path, range_ in space.items()
    }
    failed = trial.objective is None
    return optuna.trial.create_trial(
        state=optuna.trial.TrialState.FAIL if failed else optuna.trial.TrialState.COMPLETE,
        value=trial.objective,
        params=params,
        distributions=dict(ranges),
        constraints={str(k): excess for k, excess in enumerate(trial.excesses)},
    )


def _seed(seed: int, first: int) -> int:
    digest = hashlib.sha256(f"{seed}/trial/{first}".encode()).digest()
    return int.from_bytes(digest[:4])


TOLERATED = {"wait_time": 60.0, "bounded_slowdown": 0.1}
"""Increase of a class's mean that no constraint minds, by quantity: seconds, and 1."""


class Window(NamedTuple):
    """Jobs of a window as a replay has them.

    Attributes
    ----------
    objective
        The scenario's objective over these jobs; None if none ran.
    """

    outcome: ReplayOutcome
    objective: float | None


class Windows:
    """A workload with a training window, its first jobs, and a later window, the others.

    Parameters
    ----------
    share
        Share of the jobs in the training window. Jobs submitted at the same second as its last one
        are in it too.

    Attributes
    ----------
    split
        Submit time of the last job of the training window, in seconds.
    """

    def __init__(self, workload: Workload, share: float) -> None:
        self._whole = workload
        columns = joined_columns(workload.columns) if workload.columns else None
        submits = [] if columns is None else columns.submit_time.tolist()
        wanted = int(len(submits) * share)
        if wanted:
            wanted = int(np.searchsorted(submits, submits[wanted - 1], side="right"))
        self.counts = wanted, len(submits) - wanted
        if not all(self.counts) or columns is None:
            message = (
                f"expected jobs to search on and later jobs; of {len(submits)} jobs"
                f" {self.counts[0]} are searched on"
            )
            raise InputError(Finding("no-jobs", message, key="train"))
        self.split = int(submits[wanted - 1])
        self.calendar = calendar_of(workload.comments, submits[0])
        first = columns.take(np.arange(wanted))
        batches = None if workload.batches is None else (first,)
        self._first = replace(workload, batches=batches, records=workload.records[:wanted])

    def trained(self, scenario: Scenario) -> Window:
        """Return the training window, replayed without the later jobs."""
        return self._window(scenario, self._first, replay(scenario, self._first), later=False)

    def later(self, scenario: Scenario) -> Window:
        """Return the later window of a replay of all jobs."""
        return self._window(scenario, self._whole, replay(scenario, self._whole), later=True)

    def _window(
        self, scenario: Scenario, workload: Workload, done: Replay, *, later: bool
    ) -> Window:
        jobs: pa.Table = done.jobs
        if later:
            jobs = jobs.filter(pa.array(jobs["submit_time"].to_numpy() > self.split))
        objective = assemble(scenario).objective.measure(ArrowTable(jobs))
        table = outcome_table(scenario, done, workload, jobs=jobs)
        return Window(outcome_in(table), objective)


def excesses(base: Window, trial: Window, limits: Sequence[Limit]) -> Iterator[float]:
    """Yield for each constraint by how much the class that fares worst exceeds it.

    Returns
    -------
    Iterator
        Largest mean of a class less the largest one allowed, in seconds for wait times; at most 0
        if the constraint is kept. Allowed is the base's mean and `percent` of it, or `TOLERATED`
        more if that is more.
    """
    for limit in limits:
        worst = -np.inf
        classes = job_classes(limit.by, base.outcome.job_attributes)
        pairs = class_differences(base.outcome, trial.outcome, limit.quantity, classes)
        for _, one in pairs:
            if one.jobs >= limit.least_jobs and one.base is not None and one.mean is not None:
                allowed = max(one.base * limit.percent / 100, TOLERATED[limit.quantity])
                worst = max(worst, one.mean - allowed)
        yield float(worst) if np.isfinite(worst) else 0.0


TRIALS = "trials.jsonl"


@dataclass(frozen=True)
class TuningStudy:
    """Outcome of a search.

    Attributes
    ----------
    trials
        All trials, by number.
    split
        Submit time of the last job of the training window, in seconds.
    best
        The trial with the lowest objective of those that keep all constraints, if its objective is
        below the scenario's own; else None.
    later_excesses
        By how much it exceeds each constraint in the later window.
    differences
        Differences of the later window's jobs from the scenario as it is, by quantity.
    """

    tuned: TunedScenario
    trials: Sequence[Trial]
    jobs: tuple[int, int]
    split: int
    trained: float | None
    later: float | None
    best: Trial | None = None
    best_later: float | None = None
    later_excesses: tuple[float, ...] = ()
    differences: Mapping[str, Difference] | None = None
    calendar: Calendar = NO_DATES


def tune(
    tuned: TunedScenario,
    folder: Path,
    *,
    trials: int | None = None,
    ended: Callable[[Trial], None] = lambda _: None,
) -> TuningStudy:
    """Search the parameters of a scenario, and judge the best on later jobs."""
    base, space = tuned.base, tuned.space
    windows = Windows(read_workload(base), space.train)
    trained = windows.trained(base)

    def evaluate(number: int, values: Mapping[str, Any]) -> Trial:
        try:
            window = windows.trained(tuned.with_values(values))
        except HpcschedError as error:
            return Trial(number, values, None, message=str(error))
        over = tuple(excesses(trained, window, space.constraints))
        return Trial(number, values, window.objective, over)

    log = TrialLog(folder / TRIALS, _about(tuned))
    wanted = trials or space.trials
    for trial in search(space.parameters, wanted, base.seed, log, evaluate):
        ended(trial)
    done = log.trials[:wanted]
    later = windows.later(base)
    common = (tuned, done, windows.counts, windows.split, trained.objective, later.objective)
    best = best_trial(done, trained.objective)
    if best is None:
        return TuningStudy(*common, calendar=windows.calendar)
    found = windows.later(tuned.with_values(best.values))
    over = tuple(excesses(later, found, space.constraints))
    differences = _differences(later, found)
    return TuningStudy(*common, best, found.objective, over, differences, windows.calendar)


def best_trial(trials: Sequence[Trial], to_beat: float | None) -> Trial | None:
    """Return the first trial with the lowest objective that keeps all constraints.

    Parameters
    ----------
    to_beat
        Objective that it must be below; None if there is none.
    """
    best = None
    for trial in trials:
        if trial.keeps_constraints and (to_beat is None or not no_less(_value(trial), to_beat)):
            best, to_beat = trial, trial.objective
    return best


def _value(trial: Trial) -> float:
    return float("inf") if trial.objective is None else trial.objective


def _differences(base: Window, other: Window) -> dict[str, Difference]:
    pairs = {name: paired_jobs(base.outcome, other.outcome, name) for name in COMPARED}
    return {name: difference(one.base, one.variant) for name, one in pairs.items()}


def _about(tuned: TunedScenario) -> dict[str, Any]:
    """Return the inputs of all trials, without their number."""
    cell = make_cell({}, 1, tuned.base, manager.registry())
    space = tuned.space.model_dump(mode="json", exclude={"name", "description", "trials"})
    return {"scenario": cell.address, "space": space}
