"""Policies learn: on jobs that they were not trained on they are ahead of chance."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import differential_evolution

from bursts import BURST, bursts
from hpcsched_learned.gym import DispatchingEnv
from hpcsched_learned.policy_order import ScoringNetwork, parameter_count
from test_environment import SMALL, played


def mean_objective(env: DispatchingEnv, score: Callable[..., Any], firsts: Sequence[int]) -> float:
    """Return the mean objective of some episodes."""
    return float(np.mean([played(env, score, first)[0] for first in firsts]))


def trained(env: DispatchingEnv, firsts: Sequence[int], generations: int) -> ScoringNetwork:
    """Return the weighted sum of features that differential evolution finds."""

    def loss(parameters: Any) -> float:
        return mean_objective(env, ScoringNetwork.of_parameters(parameters), firsts)

    bounds = [(-1, 1)] * parameter_count()
    found = differential_evolution(
        loss, bounds, maxiter=generations, popsize=3, rng=np.random.default_rng(1), polish=False
    )
    return ScoringNetwork.of_parameters(found.x)


def test_it_learns_to_put_short_jobs_first(tmp_path: Path) -> None:
    """On bursts that it has not seen, close to the best order and far from a random one."""
    env = DispatchingEnv(bursts(tmp_path), jobs=BURST)
    network = trained(env, [0, BURST], 3)
    others = [BURST * burst for burst in range(10, 20)]
    draw = np.random.default_rng(0)
    learned = mean_objective(env, network, others)
    by_chance = mean_objective(env, lambda seen: draw.random(len(seen)), others)
    assert learned < 4
    assert by_chance > 100


@pytest.mark.slow
def test_it_learns_on_a_log() -> None:
    """On the second half of the small log it is ahead of chance and of the order of arrival."""
    first = DispatchingEnv(SMALL, jobs=256, part=(0.0, 0.5))
    second = DispatchingEnv(SMALL, jobs=256, part=(0.5, 1.0))
    network = trained(first, [600, 900], 4)
    later, draw = [1500, 1800, 2100, 2400, 2700], np.random.default_rng(0)
    learned = mean_objective(second, network, later)
    assert learned < 0.95 * mean_objective(second, lambda seen: draw.random(len(seen)), later)
    assert learned < 0.95 * mean_objective(second, lambda seen: -np.arange(len(seen)), later)
