"""Episodes as Gymnasium has them, with the outcome of replays."""

import warnings
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import hpcsched
from bursts import BURST, bursts
from hpcsched import InputError
from hpcsched_learned.gym import DispatchingEnv
from hpcsched_learned.policy_order import FEATURES, ScoringNetwork, parameter_count

SMALL = Path(__file__).parents[1] / "scenarios" / "small-policy.yaml"


def environment(folder: Path, jobs: int = BURST) -> DispatchingEnv:
    """Return an environment whose episodes are one burst each."""
    return DispatchingEnv(bursts(folder), jobs=jobs)


def shortest_first(features: np.ndarray) -> np.ndarray:
    """Score jobs by their predicted run times."""
    return -features[:, FEATURES.index("predicted_run_time")]


def played(env: gymnasium.Env, score: object, first: int = 0) -> tuple[float, int]:
    """Play an episode; return the objective and the number of steps."""
    seen, _ = env.reset(options={"first": first})
    for step in range(1, 10_000):
        seen, reward, over, cut, info = env.step(score(seen))
        assert not cut
        if over:
            assert reward == -info["objective"]
            return info["objective"], step
        assert reward == 0
    raise AssertionError("the episode does not end")


def test_gymnasium_accepts_it(tmp_path: Path) -> None:
    """Spaces, seeds and returned values are as Gymnasium wants them."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(environment(tmp_path), skip_render_check=True)


def test_shortest_first_by_hand(tmp_path: Path) -> None:
    """Six jobs of 10 s, then six of 1000 s: bounded slowdowns 1 to 6, then 1.06 to 6.06.

    A round is held at each end of a job, and at the submission; the last one has one job.
    """
    objective, steps = played(environment(tmp_path), shortest_first)
    assert objective == pytest.approx((sum(range(1, 7)) + sum(k + 0.06 for k in range(1, 7))) / 12)
    assert steps == BURST - 1


def test_longest_first_is_worse(tmp_path: Path) -> None:
    """The short jobs wait for 6000 s: slowdowns of 601 to 606."""
    objective, _ = played(environment(tmp_path), lambda seen: -shortest_first(seen))
    assert objective == pytest.approx((sum(range(1, 7)) + sum(range(601, 607))) / 12)


def test_what_is_seen(tmp_path: Path) -> None:
    """Twelve jobs wait, of which each fits; nothing tells their run times but the request."""
    env = environment(tmp_path)
    seen, info = env.reset(options={"first": 0})
    assert seen.shape == (16, len(FEATURES))
    assert env.observation_space.contains(seen)
    assert info["action_mask"].tolist() == [True] * BURST + [False] * 4
    rows = dict(zip(FEATURES, seen[:BURST].T, strict=True))
    assert set(rows["wait"]) == {0}
    assert set(rows["share"]) == set(rows["fits_now"]) == set(rows["free_share"]) == {1}
    assert rows["queue_length"][0] == pytest.approx(12 / 28)
    assert len(set(rows["predicted_run_time"])) == 2
    assert (rows["predicted_run_time"] == rows["requested_time"]).all()
    env.close()


def test_equal_seeds(tmp_path: Path) -> None:
    """The first job is drawn by the seed, from the chosen part of the log."""
    env = DispatchingEnv(bursts(tmp_path), jobs=BURST, part=(0.5, 1.0))
    drawn = [env.reset(seed=seed)[1]["first"] for seed in (1, 1, 2, 3, 4)]
    assert drawn[0] == drawn[1]
    assert len(set(drawn)) > 1
    assert min(drawn) >= 120
    env.close()


def test_a_policy_is_dispatched_with(tmp_path: Path) -> None:
    """A saved policy in a scenario starts all jobs as it does in the environment."""
    draw = np.random.default_rng(3)
    network = ScoringNetwork.of_parameters(draw.normal(size=parameter_count([4])), [4])
    network.save(tmp_path / "policy.npz")
    path = f"dispatcher.order.path={tmp_path / 'policy.npz'}"
    for scenario, jobs in ((bursts(tmp_path), 240), (hpcsched.load_scenario(SMALL), 200)):
        env = DispatchingEnv(scenario, jobs=jobs)
        objective, _ = played(env, network)
        folder = tmp_path if scenario.name == "bursts" else SMALL.parent
        file = "bursts.yaml" if scenario.name == "bursts" else SMALL.name
        trained = hpcsched.load_scenario(folder / file, [path, f"trace.jobs={jobs}"])
        assert hpcsched.replay(trained).objective == objective


@pytest.mark.parametrize(
    ("jobs", "part", "message"),
    [(300, (0.0, 1.0), "with 300 jobs or more"), (20, (0.99, 1.0), "with 20 jobs or more")],
)
def test_too_few_jobs(tmp_path: Path, jobs: int, part: tuple[float, float], message: str) -> None:
    """There is no such episode."""
    with pytest.raises(InputError, match=message):
        DispatchingEnv(bursts(tmp_path), jobs=jobs, part=part)


def test_another_order(tmp_path: Path) -> None:
    """Scores would have no effect."""
    with pytest.raises(InputError, match="order: policy"):
        DispatchingEnv(bursts(tmp_path, 20, "dispatcher.order=fcfs"), jobs=BURST)


def test_nothing_to_choose(tmp_path: Path) -> None:
    """Two jobs never wait at a time: there would be no step."""
    env = DispatchingEnv(bursts(tmp_path), jobs=1)
    with pytest.raises(InputError, match="no two of the jobs"):
        env.reset(seed=1)


def test_a_step_before_the_first_episode(tmp_path: Path) -> None:
    """There is none."""
    with pytest.raises(gymnasium.error.ResetNeeded):
        environment(tmp_path).step(np.zeros(16, dtype=np.float32))


def test_scores_that_are_no_numbers(tmp_path: Path) -> None:
    """They are refused, and the environment can be reset."""
    env = environment(tmp_path)
    env.reset(seed=1)
    with pytest.raises(hpcsched.HpcschedError, match="not a finite number"):
        env.step(np.full(16, np.nan, dtype=np.float32))
    assert env.reset(seed=1)[0].shape == (16, len(FEATURES))
    env.close()
