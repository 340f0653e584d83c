"""Choosing one job, in place of scoring all."""

from pathlib import Path

import numpy as np

from bursts import BURST
from hpcsched_learned.gym import ChooseJob
from test_environment import environment, played, shortest_first


def test_the_shortest_job_by_its_row(tmp_path: Path) -> None:
    """It gives the same as its score."""
    env = ChooseJob(environment(tmp_path))

    def choice(seen: np.ndarray) -> int:
        scores = np.where(env.action_masks(), shortest_first(seen), -np.inf)
        return int(np.argmax(scores))

    assert played(env, choice) == played(environment(tmp_path), shortest_first)


def test_rows_without_a_job(tmp_path: Path) -> None:
    """They are masked, and choosing one leaves the order of arrival."""
    env = ChooseJob(environment(tmp_path))
    _, info = env.reset(options={"first": 0})
    assert env.action_masks().tolist() == info["action_mask"].tolist()
    assert env.action_masks().sum() == BURST
    env.env.close()
    by_arrival = played(environment(tmp_path), lambda seen: -np.arange(len(seen)))
    assert played(env, lambda _: 15) == by_arrival
