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
from functools import cached_property
from importlib.util import find_spec
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from hpcsched.errors import Finding, HpcschedError, InputError, PluginError
from hpcsched.metrics.column_sums import no_less
from hpcsched.plugins import manager
from hpcsched.report.compared_study import QUANTITIES, JobTimes
from hpcsched.report.job_breakdown import JobAttributes, job_classes
from hpcsched.report.tables.report_table import Cell, Table, shown
from hpcsched.runs.assembly import assemble
from hpcsched.runs.replaying import Workload, read_workload, replay
from hpcsched.runs.summary import DEFAULT_TAU
from hpcsched.runs.tables import ArrowTable
from hpcsched.scenario import Scenario
from hpcsched.scenario.system import build_partitions
from hpcsched.studies import whatif_study
from hpcsched.studies.cell import make_cells
from hpcsched.studies.study_files import Limit, SearchRange, TunedScenario
from hpcsched.whole_files import file_error, write_text
from hpcsched.workload.job_batches import joined_columns
from hpcsched.workload.trace_calendar import calendar_of

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
            raise file_error("damaged-file", self._path, message) from error
        if first != self._about:
            message = (
                "it has the trials of another search: the scenario, the tuning file, a file that"
                " they read, or a version has changed; use another --out, or remove it"
            )
            raise file_error("other-search", self._path, message)
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

    outcome: whatif_study.JobOutcomes
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
        return self._window(scenario, self._first, later=False)

    def later(self, scenario: Scenario) -> Window:
        """Return the later window of a replay of all jobs."""
        return self._window(scenario, self._whole, later=True)

    def _window(self, scenario: Scenario, workload: Workload, *, later: bool) -> Window:
        jobs: pa.Table = replay(scenario, workload).jobs
        if later:
            jobs = jobs.filter(pa.array(jobs["submit_time"].to_numpy() > self.split))
        objective = assemble(scenario).objective.measure(ArrowTable(jobs))
        jobs = jobs.sort_by("job_id")
        partitions = build_partitions(scenario.partitions)
        metric = scenario.metrics.parameters("mean_bounded_slowdown")
        times = JobTimes.of(jobs, int(getattr(metric, "tau", DEFAULT_TAU)))
        attributes = JobAttributes.of(jobs, partitions, workload.comments)
        return Window(whatif_study.JobOutcomes(times, attributes), objective)


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
        classes = job_classes(limit.by, base.outcome.attributes)
        pairs = whatif_study.class_differences(base.outcome, trial.outcome, limit.quantity, classes)
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
    trained
        The scenario's own objective in the training window.
    later, found
        The later window under the scenario as it is, and under the best trial.
    best
        The trial with the lowest objective of those that keep all constraints, if its objective is
        below the scenario's own; else None.
    """

    tuned: TunedScenario
    windows: Windows
    trials: Sequence[Trial]
    trained: float | None
    later: Window
    best: Trial | None = None
    found: Window | None = None

    @cached_property
    def excesses(self) -> tuple[float, ...]:
        """By how much the best trial exceeds each constraint in the later window."""
        limits = () if self.found is None else self.tuned.space.constraints
        return tuple(excesses(self.later, self.found or self.later, limits))

    @cached_property
    def differences(self) -> Mapping[str, whatif_study.Difference]:
        """Differences of the later window's jobs from the scenario as it is, by quantity."""
        return (
            {}
            if self.found is None
            else whatif_study.differences(self.later.outcome, self.found.outcome)
        )


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
    study = TuningStudy(tuned, windows, done, trained.objective, windows.later(base))
    best = best_trial(done, trained.objective)
    if best is None:
        return study
    return replace(study, best=best, found=windows.later(tuned.with_values(best.values)))


def best_trial(trials: Sequence[Trial], to_beat: float | None) -> Trial | None:
    """Return the first trial with the lowest objective that keeps all constraints.

    Parameters
    ----------
    to_beat
        Objective that it must be below; None if there is none.
    """
    best = None
    for trial in trials:
        if trial.keeps_constraints and (to_beat is None or not no_less(_rank(trial), to_beat)):
            best, to_beat = trial, trial.objective
    return best


def _rank(trial: Trial) -> float:
    return float("inf") if trial.objective is None else trial.objective


def _about(tuned: TunedScenario) -> dict[str, Any]:
    """Return the inputs of all trials, without their number."""
    cell = next(make_cells({}, [tuned.base.name], tuned.base, manager.registry()))
    space = tuned.space.model_dump(mode="json", exclude={"name", "description", "trials"})
    return {"scenario": cell.address, "space": space}


_MOST = 10
"""Number of trials in the table, the best."""


def trials_table(study: TuningStudy) -> Table:
    """Return the best trials with their values and objective in the training window."""
    paths = list(study.tuned.space.parameters)
    kept = [trial for trial in study.trials if trial.keeps_constraints]
    best = sorted(kept, key=_rank)[:_MOST]
    rows = [
        (trial.number, *(_cell(trial.values[path]) for path in paths), trial.objective)
        for trial in best
    ]
    failed = [trial for trial in study.trials if trial.objective is None]
    exceeded = len(study.trials) - len(kept) - len(failed)
    notes = [
        f"{len(study.trials)} trials: {len(kept)} keep all constraints, {exceeded} do not, and"
        f" {len(failed)} failed.",
        *(f"Trial {trial.number} failed: {trial.message}" for trial in failed[:1]),
    ]
    return Table(
        ("trial", *_short_names(paths), "objective"),
        rows,
        "trials",
        "The best trials, on the training window",
        notes,
    )


def _short_names(paths: Sequence[str]) -> list[str]:
    """Return key paths without the steps that they begin with together."""
    steps = [path.split(".") for path in paths]
    beginnings = zip(*(one[:-1] for one in steps), strict=False)
    shared = len(list(takewhile(lambda one: len(set(one)) == 1, beginnings)))
    return [".".join(one[shared:]) for one in steps]


def later_table(study: TuningStudy) -> Table:
    """Return the differences of the later window's jobs from the scenario as it is."""
    return whatif_study.differences_table(
        "later",
        "The best trial on the later window, which the search has not seen",
        ("quantity", "unit"),
        (((name, QUANTITIES[name].unit or "1"), one) for name, one in study.differences.items()),
        ("The base is the scenario as it is.",),
    )


def verdict_lines(study: TuningStudy) -> Iterator[str]:
    """Yield the findings as sentences."""
    objective = study.tuned.base.objective.plugin_name
    first, later = study.windows.counts
    split = study.windows.calendar.instant(study.windows.split)
    yield (
        f"Searched on the first {first} jobs, up to {split}; judged on the {later} jobs after them."
    )
    if study.best is None or study.found is None:
        yield (
            f"No trial that keeps the constraints has a lower {objective} on the first jobs than"
            f" the scenario as it is, {shown(study.trained)}."
        )
        return
    ours, its = study.later.objective, study.found.objective
    yield (
        f"{objective}, as it is and tuned: {shown(study.trained)} and"
        f" {shown(study.best.objective)} on the first jobs, {shown(ours)} and {shown(its)} on the"
        " later ones."
    )
    limits = zip(study.tuned.space.constraints, study.excesses, strict=True)
    over = [f"{limit.by}, by {excess:.6g}" for limit, excess in limits if excess > 0]
    if over:
        yield f"On the later jobs it exceeds a constraint: {'; '.join(over)}."
    elif study.excesses:
        yield "On the later jobs it keeps the constraints."
    beyond = [name for name, one in study.differences.items() if one.verdict == "lower"]
    if its is not None and ours is not None and no_less(its, ours):
        yield "It is no better on the later jobs: the gain was one of the first jobs alone."
    elif beyond:
        yield f"The gain on the later jobs is beyond noise: {', '.join(beyond)}."
    else:
        yield "The gain on the later jobs is within noise."


def tuning_content(study: TuningStudy) -> dict[str, Any]:
    """Return the study for JSON."""
    best = study.best and {
        "trial": study.best.number,
        "values": dict(study.best.values),
        "training": study.best.objective,
        "later": study.found and study.found.objective,
        "later_excesses": list(study.excesses),
    }
    training, later = study.windows.counts
    return {
        "name": study.tuned.name,
        "scenario": study.tuned.base.name,
        "objective": study.tuned.base.objective.plugin_name,
        "jobs": {"training": training, "later": later},
        "split": study.windows.split,
        "as_it_is": {"training": study.trained, "later": study.later.objective},
        "best": best,
        "verdict": list(verdict_lines(study)),
        "tables": {
            table.name: table.content() for table in (trials_table(study), later_table(study))
        },
    }


def _cell(value: Any) -> Cell:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else str(value)
