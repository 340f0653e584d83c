"""Predictor `profile`: run time of the user's last job with a similar profile."""

from collections.abc import Hashable, Iterator

from pydantic import Field

from hpcsched.parameters import Params
from hpcsched.prediction.predictor import REQUESTED_TIME, Prediction, capped
from hpcsched.prediction.recent import Recent
from hpcsched.registration import builtin
from hpcsched.workload.job import Job

RULES = (
    "full",
    "full_prefix",
    "any_resources",
    "any_resources_prefix",
    "name",
    "name_prefix",
    REQUESTED_TIME,
)
"""Rules in the order in which they are tried; the last always has an answer."""

_Key = tuple[str, int, Hashable]


class ProfileParams(Params):
    """Parameters of `profile`: the size of its memory."""

    memory: int = Field(
        100_000,
        ge=1,
        description="Maximum number of records, up to six for each completed job; the oldest is"
        " forgotten.",
    )


@builtin(
    "predictor",
    "profile",
    ProfileParams,
    summary="the run time of the user's last job of a similar profile, by six rules",
)
class Profile:
    """Predictor of the run time of the user's last completed job with a similar profile.

    A profile is the job's name, queue and partition, requested time, units and unit request. Six
    rules are tried one after the other for the last match, by the order of completion:

    1. `full`: equal profiles;
    2. `full_prefix`: equal but for the digits at the end of the name;
    3. `any_resources`: equal name, queue, partition and requested time;
    4. `any_resources_prefix`: the same with the prefix of the name;
    5. `name`: equal names;
    6. `name_prefix`: equal prefixes.

    Predictions are capped by the requested time. Without a match the prediction is the requested
    time.

    A name of digits alone has no prefix. Where a trace gives no names, the number of the
    application (the executable, in the Standard Workload Format) stands in for the name; it has no
    prefix, so rules 2, 4 and 6 are left out. Where it gives neither, rule 5 is left out too, and
    rules 1 and 3 compare the rest. For jobs without a user the requested time is predicted, and
    nothing is learnt from them.

    Source: Galleguillos, Sîrbu, Kiziltan, Babaoglu, Borghesi and Bridi, *Data-driven job
    dispatching in HPC systems*, MOD 2017, section 3; Galleguillos, PhD thesis, 2020, Algorithm 2
    (D1). The sources leave open jobs without a name or user, and a full memory.
    """

    rules = RULES

    def __init__(self, params: ProfileParams) -> None:
        self._run_times: Recent[_Key, int] = Recent(params.memory)

    def predict_by(self, job: Job) -> Prediction:
        """Return the prediction and its rule."""
        for key in _keys(job):
            run_time = self._run_times.get(key)
            if run_time is not None:
                return Prediction(capped(run_time, job), key[0])
        return Prediction(capped(job.requested_time, job), REQUESTED_TIME)

    def predict(self, job: Job) -> int:
        """Return the predicted run time."""
        return self.predict_by(job).seconds

    def observe(self, job: Job, run_time: int) -> None:
        """Record a run time under the key of every rule, as the last of the job's profile.

        Parameters
        ----------
        job
            The completed job; one without a user is ignored.
        run_time
            Its real run time in seconds.
        """
        for key in _keys(job):
            self._run_times.put(key, run_time)

    def __len__(self) -> int:
        """Return the number of remembered records."""
        return len(self._run_times)


def prefix(name: str) -> str | None:
    """Return a job name without the digits at its end; None if nothing is left.

    Examples
    --------
    >>> prefix("run012"), prefix("42")
    ('run', None)
    """
    return name.rstrip("0123456789") or None


def _keys(job: Job) -> Iterator[_Key]:
    """Yield the keys of a job in the memory: rule, user, and the values that must be equal."""
    user = job.user
    if user is None:
        return
    name = job.application if job.name is None else job.name
    start = None if job.name is None else prefix(job.name)
    where = (job.queue, job.partition, job.requested_time)
    what = (job.units, job.unit_request)
    # From the most to the least specific key, which is the order of `RULES`.
    yield "full", user, (name, where, what)
    if start is not None:
        yield "full_prefix", user, (start, where, what)
    yield "any_resources", user, (name, where)
    if start is not None:
        yield "any_resources_prefix", user, (start, where)
    if name is not None:
        yield "name", user, name
    if start is not None:
        yield "name_prefix", user, start
