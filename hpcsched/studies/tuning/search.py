"""The search for good parameters, by a tree-structured Parzen estimator of Optuna.

J. Bergstra, R. Bardenet, Y. Bengio and B. Kégl, Algorithms for hyper-parameter optimization,
NeurIPS 2011; T. Akiba et al., Optuna: a next-generation hyperparameter optimization framework,
KDD 2019.
"""

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from hpcsched.registration import OptionalPackage
from hpcsched.studies.tuning.trial_log import Trial, TrialLog
from hpcsched.studies.tuning.tuning_space import SearchRange

if TYPE_CHECKING:
    import optuna

OPTUNA = OptionalPackage("tune", "optuna", "optuna", "tune")
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
    trials
        Number of trials.
    seed
        Seed of the search.
    log
        The trials so far, to which new ones are added.
    evaluate
        Evaluates values, maybe in several threads.

    Raises
    ------
    PluginError
        Optuna is not installed.
    """
    OPTUNA.require()
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
