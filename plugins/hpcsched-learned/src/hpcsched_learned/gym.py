"""Environments of Gymnasium (extra `rl`): episodes of a log, dispatched by an agent."""

from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any, Generic, NamedTuple, TypeVar

import gymnasium
import numpy as np
import numpy.typing as npt

from hpcsched import Finding, InputError, Scenario, load_scenario
from hpcsched.runs.assembly import Assembly, assemble, parts_of
from hpcsched.runs.replaying import read_workload, replay_in_python
from hpcsched.runs.tables import ArrowTable
from hpcsched_learned.policy_order import FEATURES, FeatureRows, PolicyOrder

ResultT = TypeVar("ResultT")


class Question(NamedTuple):
    """A question, to which the work waits for an answer."""

    content: Any


class Result(NamedTuple, Generic[ResultT]):
    """Return value of the work."""

    value: ResultT


class _Failure(NamedTuple):
    error: BaseException


class _Abandoned(BaseException):
    """Raised in the work when nobody waits for its result.

    It is no `Exception`, which a simulation would report as the failure of a plugin.
    """


_ABANDON = object()


class Conversation(Generic[ResultT]):
    """A conversation with work in a thread of its own; only one of the two runs at a time."""

    def __init__(self, work: Callable[[Callable[[Any], Any]], ResultT]) -> None:
        self._said: SimpleQueue[Any] = SimpleQueue()
        self._answers: SimpleQueue[Any] = SimpleQueue()
        # A daemon: a program may end in the middle of an episode.
        self._thread = Thread(target=self._run, args=(work,), daemon=True)
        self._thread.start()

    def hear(self) -> "Question | Result[ResultT]":
        """Wait for the next question, or the result.

        Raises
        ------
        BaseException
            What the work has raised.
        """
        said = self._said.get()
        if isinstance(said, _Failure):
            raise said.error
        heard: Question | Result[ResultT] = said
        return heard

    def answer(self, content: Any) -> None:
        """Answer the question."""
        self._answers.put(content)

    def abandon(self) -> None:
        """End the work, if it waits for an answer, and wait for its end."""
        self._answers.put(_ABANDON)
        self._thread.join()

    def _ask(self, content: Any) -> Any:
        self._said.put(Question(content))
        answer = self._answers.get()
        if answer is _ABANDON:
            raise _Abandoned
        return answer

    def _run(self, work: Callable[[Callable[[Any], Any]], ResultT]) -> None:
        try:
            self._said.put(Result(work(self._ask)))
        except _Abandoned:
            pass
        except BaseException as error:  # it is raised where the result is waited for
            self._said.put(_Failure(error))


Scores = npt.NDArray[np.float32]


class DispatchingEnv(gymnasium.Env[FeatureRows, Scores]):
    """Episodes of consecutive jobs of a scenario's trace, on a system that is empty at first.

    A step is a dispatching round in which two jobs or more wait. The agent sees the features of the
    first jobs of the queue (`job_features`), and gives each of them a score: the scenario's own
    dispatcher considers them by descending score. Its `order` must be `policy`. The dispatcher
    may be `list` with the option `committed` or `committed-backfill`, the protocol of RLScheduler
    (Zhang et al., SC 2020), or any other that takes an order, such as `easy`.

    The reward is 0 until the last step of an episode, whose reward is the negated objective of the
    scenario over the jobs of the episode: higher is better. No step shows a real run time.

    Parameters
    ----------
    part
        Begin and end of the part of the trace from which episodes are taken, as shares of its jobs:
        train on one part and test on another.

    Attributes
    ----------
    observation_space
        `[window, len(FEATURES)]`, from 0 to 1; the last feature is 0 in rows without a job.
    action_space
        `[window]` scores from -1 to 1; those of rows without a job do not matter.

    Raises
    ------
    InputError
        The scenario is wrong, its dispatcher has no order `policy`, or its trace has too few jobs.

    Examples
    --------
    >>> from hpcsched_learned.gym import DispatchingEnv
    >>> env = DispatchingEnv("scenarios/small-policy.yaml", jobs=64)
    >>> observation, info = env.reset(seed=1)
    >>> observation.shape
    (128, 8)
    """

    def __init__(
        self,
        scenario: str | Path | Scenario,
        *,
        jobs: int = 256,
        part: tuple[float, float] = (0.0, 1.0),
    ) -> None:
        loaded = scenario if isinstance(scenario, Scenario) else load_scenario(scenario)
        self._scenario = loaded.model_copy(update={"observers": ()})
        self._workload = read_workload(self._scenario)
        count = len(self._workload.jobs)
        self._length = jobs
        self._first, self._last = int(count * part[0]), int(count * part[1]) - jobs
        if self._first > self._last or self._first < 0 or jobs < 1:
            message = (
                f"expected a part of the trace with {jobs} jobs or more; it has {count} jobs, of"
                f" which the part is {part[0]:g} to {part[1]:g}"
            )
            raise InputError(Finding("no-jobs", message, key="trace"))
        window = _order_of(self._assembled()).window
        self.observation_space = gymnasium.spaces.Box(0.0, 1.0, (window, len(FEATURES)))
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (window,))
        self._episode: Conversation[float | None] | None = None
        self._seen: FeatureRows = np.zeros((window, len(FEATURES)), dtype=np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[FeatureRows, dict[str, Any]]:
        """Begin an episode.

        Parameters
        ----------
        options
            `first`: index of the first job in the trace, in place of a random one.

        Returns
        -------
        tuple
            The observation, and a mapping with `first` and the `action_mask`.
        """
        super().reset(seed=seed)
        self.close()
        first = (options or {}).get("first")
        if first is None:
            first = int(self.np_random.integers(self._first, self._last + 1))
        jobs = self._workload.jobs[first : first + self._length]
        assembly = self._assembled()

        def replayed(ask: Callable[[Any], Any]) -> float | None:
            _order_of(assembly).score = ask
            table, _ = replay_in_python(parts_of(assembly, ()), jobs, places=False)
            return assembly.objective.measure(ArrowTable(table))

        self._episode = Conversation(replayed)
        heard = self._episode.hear()
        if not isinstance(heard, Question):
            self._episode = None
            message = f"no two of the jobs {first} to {first + self._length - 1} wait at a time"
            raise InputError(Finding("no-choice", message, key="trace"))
        self._seen = heard.content
        return self._seen, {"first": first, **self._info()}

    def step(self, action: Scores) -> tuple[FeatureRows, float, bool, bool, dict[str, Any]]:
        """Dispatch a round by scores; go on to the next round with a choice.

        Returns
        -------
        tuple
            Observation, reward, whether the episode is over, False, and a mapping with the
            `action_mask`; at the end with the `objective`, and an observation of zeros.

        Raises
        ------
        gymnasium.error.ResetNeeded
            If no episode is under way.
        """
        if self._episode is None:
            raise gymnasium.error.ResetNeeded("call reset before step")
        self._episode.answer(action)
        heard = self._episode.hear()
        if isinstance(heard, Question):
            self._seen = heard.content
            return self._seen, 0.0, False, False, self._info()
        self._episode = None
        self._seen = np.zeros_like(self._seen)
        reward = 0.0 if heard.value is None else -heard.value
        return self._seen, reward, True, False, {"objective": heard.value, **self._info()}

    def close(self) -> None:
        """End the episode that is under way."""
        if self._episode is not None:
            self._episode.abandon()
            self._episode = None

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return for each row of the observation whether there is a job, `[window]`."""
        return self._seen[:, -1] > 0

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self.action_masks()}

    def _assembled(self) -> Assembly:
        return assemble(self._scenario).build_all()


def _order_of(assembly: Assembly) -> PolicyOrder:
    """Return the order of the dispatcher."""
    order = getattr(assembly.dispatcher, "order", None)
    if not isinstance(order, PolicyOrder):
        message = "expected a dispatcher with 'order: policy', such as {name: easy, order: policy}"
        raise InputError(Finding("no-policy", message, key="dispatcher.order"))
    return order


class ChooseJob(gymnasium.ActionWrapper[FeatureRows, np.int64, Scores]):
    """Environment in which an action is the row of the job to consider first.

    The others follow in order of arrival. An action for a row without a job leaves all jobs in
    order of arrival; `action_masks`, and `action_mask` in the mapping of a step, tell which rows
    have one.
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
