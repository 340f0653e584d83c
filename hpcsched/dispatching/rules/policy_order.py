"""A queue order by the scores of a learned policy."""

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np

from hpcsched.context import Context
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob
from hpcsched.dispatching.rules.job_features import FeatureRows, job_features
from hpcsched.dispatching.rules.rule_params import WINDOW, PolicyParams
from hpcsched.dispatching.rules.scoring_network import ScoringNetwork
from hpcsched.errors import PluginError
from hpcsched.registration import builtin

Score = Callable[[FeatureRows], Any]
"""Returns the score of each row of features, `[window]`."""


@builtin("queue_order", "policy", PolicyParams, summary="scores of a learned policy")
class PolicyOrder:
    """Order by the scores of a policy, the highest first; jobs beyond its window come after these.

    The policy sees `job_features`, once in each round in which the order matters: with two jobs or
    more. Equal scores, and jobs beyond the window, are in order of arrival.

    Parameters
    ----------
    score
        The policy; None: order of arrival.
    """

    @classmethod
    def build(cls, params: PolicyParams, _context: Context) -> Self:
        """Create the order from its parameters."""
        score = None if params.path is None else ScoringNetwork.load(params.path)
        return cls(score, params.window)

    def __init__(self, score: Score | None, window: int = WINDOW) -> None:
        self.score = score
        self.window = window

    def sort(self, problem: DispatchingProblem) -> Sequence[WaitingJob]:
        """Return the queue by descending score.

        Raises
        ------
        PluginError
            If a score is not a finite number.
        """
        seen = problem.queue[: self.window]
        if self.score is None or len(seen) < 2:
            return problem.queue
        scores = np.asarray(self.score(job_features(problem, self.window)))[: len(seen)]
        if not np.isfinite(scores).all():
            raise PluginError("the policy has given a score that is not a finite number")
        order = np.argsort(-scores, kind="stable").tolist()
        return [*(seen[place] for place in order), *problem.queue[self.window :]]
