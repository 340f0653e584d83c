"""The predictor `learned`."""

from collections import deque

from hpcsched import Job, capped
from hpcsched.prediction.predictors import LastTwo, LastTwoParams, Recent
from hpcsched_learned.features import Features
from hpcsched_learned.forest import QuantileForest
from hpcsched_learned.params import LearnedParams

_Row = tuple[float, ...]


class Learned:
    """Predictor by a quantile of run time / requested time of similar jobs.

    It learns from `observe` alone: a completed job, as it was known at its submission, joins the
    last `window` ones, from which a forest is grown anew every `retrain_every` completions; more
    often as long as there are fewer. Before `first_training` completions it answers as `last-two`.
    Nothing depends on real time, and a seed gives the same forests on each machine.

    Parameters
    ----------
    params
        Parameters of the plugin.
    seed
        Seed of the forests.
    """

    def __init__(self, params: LearnedParams, seed: int) -> None:
        self._params = params
        self._seed = seed % 2**32
        self._last_two = LastTwo(LastTwoParams(memory=params.memory))
        self._features = Features(params.memory)
        # By job number, the jobs in the system as they were known when they were submitted.
        self._submitted: Recent[int, _Row] = Recent(params.memory)
        # Completed jobs as they were known at submission, and the share that they ran.
        self._window: deque[tuple[_Row, float]] = deque(maxlen=params.window)
        self._forest: QuantileForest | None = None
        self._until_training = min(params.first_training, params.window)

    @property
    def remembered(self) -> int:
        """Number of records in memory: of users, of kinds of job, and of single jobs."""
        single = len(self._submitted) + len(self._window)
        return len(self._last_two) + len(self._features) + single

    def predict(self, job: Job) -> int:
        """Return the predicted run time, from 1 s to the requested time."""
        row = self._features.row(job)
        if self._submitted.get(job.job_id) is None:
            self._features.submit(job)
        self._submitted.put(job.job_id, row)
        if self._forest is None:
            return self._last_two.predict(job)
        share = self._forest.predict(row, self._params.quantile)
        return capped(round(share * job.requested_time), job)

    def observe(self, job: Job, run_time: int) -> None:
        """Learn the run time of a job, in seconds; one without a prediction is left out."""
        self._last_two.observe(job, run_time)
        self._features.complete(job, run_time)
        row = self._submitted.pop(job.job_id, None)
        if row is None:
            return
        self._window.append((row, run_time / max(1, job.requested_time)))
        self._until_training -= 1
        if self._until_training == 0:
            self._train()

    def _train(self) -> None:
        """Grow the forest; the next one is due after as many jobs again, or on schedule."""
        params, known = self._params, len(self._window)
        self._until_training = min(params.retrain_every, known)
        rows, shares = zip(*self._window, strict=True)
        self._forest = QuantileForest(rows, shares, params.trees, params.leaf_size, self._seed)
