"""The predictor that looks for the user's last job of a similar profile."""

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
"""The rules in the order in which they are asked; the last always has an answer."""

_Key = tuple[str, int, Hashable]


class ProfileParams(Params):
    """How much is remembered."""

    memory: int = Field(
        100_000,
        ge=1,
        description="How many records are remembered, of which a completed job writes up to six;"
        " the one that was written longest ago is forgotten.",
    )


@builtin(
    "predictor",
    "profile",
    ProfileParams,
    summary="the run time of the user's last job of a similar profile, by six rules",
)
class Profile:
    """Predicts the run time of the user's last completed job whose profile is similar.

    A profile is the job's name, queue and partition, requested time, and what it asks for: units
    and unit request. Six rules are asked one after the other for the last match, by the order in
    which jobs complete:

    1. `full`: the whole profile is the same;
    2. `full_prefix`: as before, but of the name only the prefix, which is the name without the
       digits at its end;
    3. `any_resources`: name, queue, partition and requested time are the same;
    4. `any_resources_prefix`: as before, but of the name only the prefix;
    5. `name`: the name is the same;
    6. `name_prefix`: the prefix is the same.

    What they find is capped by the requested time. Where no rule matches, the prediction is the
    requested time.

    A name of digits alone has no prefix. Where a trace gives no names, the number of the
    application (the executable, in the Standard Workload Format) stands in for the name; it has no
    prefix, so rules 2, 4 and 6 are left out. Where it gives neither, rule 5 is left out too, and
    rules 1 and 3 compare what there is. Jobs without a user have the requested time predicted, and
    nothing is learnt from them.

    Source: Galleguillos, Sîrbu, Kiziltan, Babaoglu, Borghesi and Bridi, *Data-driven job
    dispatching in HPC systems*, MOD 2017, section 3; Galleguillos, PhD thesis, 2020, Algorithm 2
    (D1). The sources do not say what becomes of jobs without a name or user, nor of a memory that
    is full.
    """

    rules = RULES

    def __init__(self, params: ProfileParams) -> None:
        self._run_times: Recent[_Key, int] = Recent(params.memory)

    def predict_by(self, job: Job) -> Prediction:
        """Return the prediction, and which of `RULES` it comes from."""
        for key in _keys(job):
            run_time = self._run_times.get(key)
            if run_time is not None:
                return Prediction(capped(run_time, job), key[0])
        return Prediction(capped(job.requested_time, job), REQUESTED_TIME)

    def predict(self, job: Job) -> int:
        """Return the predicted run time."""
        return self.predict_by(job).seconds

    def observe(self, job: Job, run_time: int) -> None:
        """Remember the run time as the last of the job's profile, under every rule."""
        for key in _keys(job):
            self._run_times.put(key, run_time)

    def __len__(self) -> int:
        """Return the number of records that are remembered."""
        return len(self._run_times)


def prefix(name: str) -> str | None:
    """Return a name without the digits at its end; None if nothing is left of it."""
    return name.rstrip("0123456789") or None


def _keys(job: Job) -> Iterator[_Key]:
    """Yield what a job is remembered and looked for by: rule, user, and what must be the same."""
    user = job.user
    if user is None:
        return
    name = job.application if job.name is None else job.name
    start = None if job.name is None else prefix(job.name)
    where = (job.queue, job.partition, job.requested_time)
    what = (job.units, job.unit_request)
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
