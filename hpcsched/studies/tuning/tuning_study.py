"""A tuning study: the search on the training window, and the judgement on the later one."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hpcsched.errors import HpcschedError
from hpcsched.metrics.column_sums import no_less
from hpcsched.plugins import manager
from hpcsched.runs.replaying import read_workload
from hpcsched.studies.experiment.cell import make_cell
from hpcsched.studies.tuning.search import search
from hpcsched.studies.tuning.trial_log import Trial, TrialLog
from hpcsched.studies.tuning.tuned_scenario import TunedScenario
from hpcsched.studies.tuning.windows import Window, Windows, excesses
from hpcsched.studies.whatif.differences import COMPARED, Difference, difference, paired_jobs
from hpcsched.workload.trace_calendar import NO_DATES, Calendar

TRIALS = "trials.jsonl"


@dataclass(frozen=True)
class TuningStudy:
    """Outcome of a search.

    Attributes
    ----------
    tuned
        The scenario and the space.
    trials
        All trials, by number.
    jobs
        Numbers of jobs in the training window and in the later one.
    split
        Submit time of the last job of the training window, in seconds.
    trained, later
        The objective of the scenario as it is, in each window.
    best
        The trial with the lowest objective of those that keep all constraints, if its objective is
        below the scenario's own; else None.
    best_later
        Its objective in the later window.
    later_excesses
        By how much it exceeds each constraint in the later window.
    differences
        Differences of the later window's jobs from the scenario as it is, by quantity.
    calendar
        Calendar of the trace, for dates in the text.
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
    """Search the parameters of a scenario, and judge the best on later jobs.

    Parameters
    ----------
    tuned
        The scenario and the space.
    folder
        Locked folder, which holds the trials so far.
    trials
        Number of trials, in place of the space's.
    ended
        Called with each trial that has ended now.

    Raises
    ------
    InputError
        The trace cannot be read, a window has no jobs, or the folder has another search.
    PluginError
        Optuna is not installed.
    """
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
    trials
        The trials.
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
