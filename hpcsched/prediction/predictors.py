"""Built-in predictors: requested and real run times, and run times of earlier jobs."""

from abc import ABC, abstractmethod
from bisect import bisect_left, insort
from collections import OrderedDict, deque
from collections.abc import Hashable, Iterator
from fractions import Fraction
from typing import Annotated, Any, Self, TypeVar

from pydantic import Field, model_validator

from hpcsched.parameters import Params, Selects
from hpcsched.prediction.predictor import (
    REQUESTED_TIME,
    Oracle,
    Prediction,
    Predictor,
    capped,
    whole_seconds,
)
from hpcsched.registration import SEES_RUN_TIME, Context, builtin
from hpcsched.workload.job import Job

_K = TypeVar("_K")
_V = TypeVar("_V")


class Recent(OrderedDict[_K, _V]):
    """Mapping of at most `size` entries; putting a key again makes it the newest.

    Reading changes nothing, so that asking for a prediction has no effect on later ones.
    """

    def __init__(self, size: int) -> None:
        super().__init__()
        self._size = size

    def __reduce__(self) -> tuple[Any, ...]:
        # A replay that branches copies its predictor.
        return type(self), (self._size,), None, None, iter(self.items())

    def put(self, key: _K, value: _V) -> None:
        """Store a value; forget the oldest entry if there are more than `size`."""
        self[key] = value
        self.move_to_end(key)
        if len(self) > self._size:
            # At most one entry too many, since each call adds at most one.
            self.popitem(last=False)


@builtin("predictor", "requested-time")
class RequestedTime:
    """Predictor: the time that the user requested."""

    def predict(self, job: Job) -> int:
        """Return the requested time."""
        return job.requested_time

    def observe(self, job: Job, run_time: int) -> None:
        """Learn nothing."""


@builtin("predictor", "actual", capabilities={SEES_RUN_TIME})
class Actual:
    """Predictor: the real run time, which no real system knows (an oracle).

    It is an upper bound on the benefit of prediction.
    """

    def foresee(self, job: Job, run_time: int) -> int:
        """Return the real run time."""
        return run_time

    def observe(self, job: Job, run_time: int) -> None:
        """Learn nothing."""


class _ByRules(ABC):
    """Predictor that names the rule behind each prediction."""

    @abstractmethod
    def predict_by(self, job: Job) -> Prediction:
        """Return the prediction with its rule."""

    def predict(self, job: Job) -> int:
        """Return the predicted run time, in seconds."""
        return self.predict_by(job).seconds


LAST_TWO = "last_two"


class LastTwoParams(Params):
    """Parameters of `last-two`: the size of its memory."""

    memory: int = Field(10_000, ge=1)
    """Number of remembered users; the one with the oldest last job is forgotten."""


@builtin("predictor", "last-two", LastTwoParams)
class LastTwo(_ByRules):
    """Predictor: the mean run time of the user's last two jobs.

    *Last* is by order of completion. The mean is rounded down to whole seconds and capped by the
    requested time. With fewer than two completed jobs of the user, the prediction is the requested
    time; likewise for jobs without a user, from which nothing is learnt.

    Notes
    -----
    Source: Tsafrir, Etsion and Feitelson, *Backfilling using system-generated predictions rather
    than user runtime estimates*, IEEE TPDS 18(6), 2007; the thesis that compares it with profiles
    calls it L2 (Galleguillos, 2020, section 4.2).
    """

    rules = (LAST_TWO, REQUESTED_TIME)

    def __init__(self, params: LastTwoParams) -> None:
        # By user, the run times of the last two jobs, the last first; None before the second.
        self._run_times: Recent[int, tuple[int, int | None]] = Recent(params.memory)

    def predict_by(self, job: Job) -> Prediction:
        """Return the prediction and its rule."""
        known = None if job.user is None else self._run_times.get(job.user)
        if known is None or known[1] is None:
            return Prediction(capped(job.requested_time, job), REQUESTED_TIME)
        # Rounded down, as in the source; capped, since a job is killed at its requested time.
        return Prediction(capped((known[0] + known[1]) // 2, job), LAST_TWO)

    def observe(self, job: Job, run_time: int) -> None:
        """Record a run time as the user's last; a job without a user is ignored."""
        if job.user is not None:
            known = self._run_times.get(job.user)
            self._run_times.put(job.user, (run_time, known[0] if known else None))

    def __len__(self) -> int:
        """Return the number of remembered users."""
        return len(self._run_times)


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

_ProfileKey = tuple[str, int, Hashable]


class ProfileParams(Params):
    """Parameters of `profile`: the size of its memory."""

    memory: int = Field(100_000, ge=1)
    """Maximum number of records, up to six for each completed job; the oldest is forgotten."""


@builtin("predictor", "profile", ProfileParams)
class Profile(_ByRules):
    """Predictor: the run time of the user's last job of a similar profile, by six rules.

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
        self._run_times: Recent[_ProfileKey, int] = Recent(params.memory)

    def predict_by(self, job: Job) -> Prediction:
        """Return the prediction and its rule."""
        for key in _keys(job):
            run_time = self._run_times.get(key)
            if run_time is not None:
                return Prediction(capped(run_time, job), key[0])
        return Prediction(capped(job.requested_time, job), REQUESTED_TIME)

    def observe(self, job: Job, run_time: int) -> None:
        """Record a run time under the key of every rule; a job without a user is ignored."""
        for key in _keys(job):
            self._run_times.put(key, run_time)

    def __len__(self) -> int:
        """Return the number of remembered records."""
        return len(self._run_times)


def prefix(name: str) -> str | None:
    """Return a job name without the digits at its end; None if nothing is left."""
    return name.rstrip("0123456789") or None


def _keys(job: Job) -> Iterator[_ProfileKey]:
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


BELIEVED = "believed"


class ProfileConfidenceParams(ProfileParams):
    """Parameters of `profile-confidence`: memory, number of records, and threshold of accuracy."""

    memory: int = Field(100_000, ge=1)
    """Maximum number of records, up to six for each completed job, and of users; the oldest is
    forgotten."""
    records: int = Field(3, ge=1)
    """Number of the user's last jobs in the mean accuracy."""
    threshold: float = Field(0.8, gt=0)
    """Mean of run time over requested time from which on the user's requested time is predicted."""


@builtin("predictor", "profile-confidence", ProfileConfidenceParams)
class ProfileConfidence(_ByRules):
    """Predictor: the requested time of users who have been accurate, and otherwise as profile.

    A user's accuracy is run time over requested time, averaged over the last `records` completed
    jobs, or over as many as there are. At or above the `threshold` the prediction is the requested
    time. The comparison is exact, with the threshold as it is written.

    Notes
    -----
    Source: Galleguillos, PhD thesis, 2020, section 4.2 and Algorithm 3 (D2), with 3 records and a
    threshold of 80 %. It averages over the records there are where a user has fewer.
    """

    rules = (BELIEVED, *RULES)

    def __init__(self, params: ProfileConfidenceParams) -> None:
        self._profile = Profile(params)
        self._records = params.records
        self._threshold = Fraction(repr(params.threshold))  # 0.8 is 4/5, not the nearest float
        self._accuracies: Recent[int, tuple[Fraction, ...]] = Recent(params.memory)

    def predict_by(self, job: Job) -> Prediction:
        """Return the prediction and its rule: `believed`, or one of `Profile`."""
        known = None if job.user is None else self._accuracies.get(job.user)
        # Multiplied out, so that a mean of exactly 80 % is believed: no division, no rounding.
        if known and sum(known) >= self._threshold * len(known):
            return Prediction(capped(job.requested_time, job), BELIEVED)
        return self._profile.predict_by(job)

    def observe(self, job: Job, run_time: int) -> None:
        """Record the run time by the job's profile, and the accuracy of the user's request."""
        self._profile.observe(job, run_time)
        if job.user is not None:
            known = self._accuracies.get(job.user) or ()
            # A requested time of 0 s counts as 1 s, which avoids a division by zero.
            accuracy = Fraction(run_time, max(1, job.requested_time))
            self._accuracies.put(job.user, (*known, accuracy)[-self._records :])

    def __len__(self) -> int:
        """Return the larger of the numbers of remembered records and users."""
        return max(len(self._profile), len(self._accuracies))


WINDOW = 1000
MEMORY = 100_000
_ONE = Fraction(1)


class InflatedParams(Params):
    """Parameters of `inflated`: the inner predictor, and either `factor` or `quantile`."""

    of: Annotated[Any, Selects("predictor")]
    """Predictor to multiply."""
    factor: float | None = Field(None, gt=0)
    """Factor of all predictions."""
    quantile: float | None = Field(None, gt=0, le=1)
    """Share of the recent jobs that must not outlive their prediction: the factor is this quantile
    of run time over predicted run time."""
    window: int | None = Field(
        None,
        ge=1,
        description=f"With `quantile`, over how many last completed jobs; {WINDOW} if not given.",
    )
    cap: bool = False
    """Limit predictions to the requested time."""

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if (self.factor is None) == (self.quantile is None):
            found = "neither" if self.factor is None else "both"
            raise ValueError(f"expected either 'factor' or 'quantile', found {found}")
        if self.quantile is None and self.window is not None:
            raise ValueError("'window' goes with 'quantile', and 'factor' is given")
        return self


class ConstantFactor:
    """Constant factor, exactly as it is written in the scenario."""

    def __init__(self, factor: float) -> None:
        # By its decimal digits: 1.1 is 11/10 here, and not the nearest double, which is above.
        self._factor = Fraction(repr(factor))

    @property
    def value(self) -> Fraction:
        """Current factor."""
        return self._factor

    def predicted(self, job: Job, seconds: int) -> None:
        """Record the prediction of a job before multiplication, in seconds, at least 1."""

    def completed(self, job: Job, run_time: int) -> None:
        """Record the real run time of a job, in seconds."""


class QuantileOfRatios(ConstantFactor):
    """Quantile of run time / predicted time of the last completed jobs.

    By nearest rank: the smallest ratio that at least the share `quantile` of the ratios does not
    exceed. It is 1 until a job has completed. A job whose prediction is forgotten adds no ratio.

    Parameters
    ----------
    quantile
        Share of jobs, above 0 and at most 1.
    """

    def __init__(self, quantile: float, window: int, memory: int = MEMORY) -> None:
        self._quantile = Fraction(repr(quantile))
        self._window = window
        self._pending: Recent[int, int] = Recent(memory)
        self._ratios: deque[Fraction] = deque()  # by completion
        self._sorted: list[Fraction] = []

    @property
    def value(self) -> Fraction:
        """Current quantile, an exact fraction."""
        count = len(self._sorted)
        if not count:
            return _ONE
        # Whole numbers: a rank by floats could be one too large at an exact multiple.
        rank = -(-self._quantile.numerator * count // self._quantile.denominator)
        return self._sorted[rank - 1]

    def predicted(self, job: Job, seconds: int) -> None:
        """Remember the prediction until the job completes."""
        self._pending.put(job.job_id, seconds)

    def completed(self, job: Job, run_time: int) -> None:
        """Add the job's ratio, and drop the oldest ratio beyond the window."""
        seconds = self._pending.pop(job.job_id, None)
        if seconds is None:
            return
        ratio = Fraction(run_time, seconds)
        self._ratios.append(ratio)
        insort(self._sorted, ratio)
        # The sorted list mirrors the deque; equal ratios are interchangeable.
        if len(self._ratios) > self._window:
            del self._sorted[bisect_left(self._sorted, self._ratios.popleft())]

    def __len__(self) -> int:
        """Return the number of remembered ratios and predictions."""
        return len(self._ratios) + len(self._pending)


class _Inflating:
    """Multiplication of another predictor's predictions, rounded up to whole seconds."""

    def __init__(self, inner: Any, multiplier: ConstantFactor, *, cap: bool) -> None:
        self._inner, self._multiplier, self._cap = inner, multiplier, cap

    def observe(self, job: Job, run_time: int) -> None:
        """Pass the completed job to the other predictor and to the multiplier."""
        self._inner.observe(job, run_time)
        self._multiplier.completed(job, run_time)

    def _multiplied(self, job: Job, seconds: int) -> int:
        # An inner predictor plugin may answer anything; 59.9 is refused here, not truncated.
        seconds = whole_seconds(seconds)
        factor = self._multiplier.value
        self._multiplier.predicted(job, seconds)
        longer = max(1, -(-seconds * factor.numerator // factor.denominator))
        return capped(longer, job) if self._cap else longer


class Inflated(_Inflating):
    """Predictor that multiplies another's predictions."""

    def predict(self, job: Job) -> int:
        """Return the other predictor's prediction times the factor, in seconds."""
        return self._multiplied(job, self._inner.predict(job))


class InflatedOracle(_Inflating):
    """Oracle that multiplies another oracle's predictions: errors by a known factor.

    It sees real run times on behalf of the inner oracle, so it is an oracle itself.
    """

    def foresee(self, job: Job, run_time: int) -> int:
        """Return the oracle's prediction times the factor, in seconds."""
        return self._multiplied(job, self._inner.foresee(job, run_time))


@builtin("predictor", "inflated", InflatedParams)
def make_inflated(params: InflatedParams, context: Context) -> Inflated | InflatedOracle:
    """Return a predictor: another predictor's predictions, multiplied.

    Around an oracle, the result is an oracle.
    """
    inner: Predictor | Oracle = context.make("predictor", params.of)
    if params.factor is not None:
        multiplier = ConstantFactor(params.factor)
    else:
        assert params.quantile is not None
        multiplier = QuantileOfRatios(params.quantile, params.window or WINDOW)
    made = InflatedOracle if isinstance(inner, Oracle) else Inflated
    return made(inner, multiplier, cap=params.cap)
