"""A wrapper for agents that choose one job instead of scoring all."""

import gymnasium
import numpy as np
import numpy.typing as npt

from hpcsched.dispatching.rules.policy_order import FeatureRows
from hpcsched.gym.environment import DispatchingEnv, Scores


class ChooseJob(gymnasium.ActionWrapper[FeatureRows, np.int64, Scores]):
    """Environment in which an action is the row of the job to consider first.

    The others follow in order of arrival. An action for a row without a job leaves all jobs in
    order of arrival; `action_masks`, and `action_mask` in the mapping of a step, tell which rows
    have one.

    Parameters
    ----------
    env
        Environment in which actions are scores.
    """

    def __init__(self, env: DispatchingEnv) -> None:
        super().__init__(env)
        self._env = env
        (window,) = env.action_space.shape or (0,)
        self.action_space = gymnasium.spaces.Discrete(window)
        # Descending, so that rows keep the order of arrival.
        self._arrival = np.linspace(0.0, -1.0, window, dtype=np.float32)

    def action(self, action: np.int64) -> Scores:
        """Return the scores for a choice."""
        scores = self._arrival.copy()
        scores[int(action)] = 1.0
        return scores

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return for each row of the observation whether there is a job, `[window]`."""
        return self._env.action_masks()
