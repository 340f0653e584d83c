"""Predictor `inflated`: multiplies the predictions of another predictor."""

from bisect import bisect_left, insort
from collections import deque
from fractions import Fraction
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from hpcsched.context import Context
from hpcsched.parameters import Params, Selects
from hpcsched.prediction.predictor import Oracle, Predictor, capped, whole_seconds
from hpcsched.prediction.predictors import Recent
from hpcsched.registration import builtin
from hpcsched.workload.job import Job

WINDOW = 1000
MEMORY = 100_000
_ONE = Fraction(1)


class InflatedParams(Params):
    """Parameters of `inflated`: the inner predictor, and either `factor` or `quantile`."""

    of: Annotated[Any, Selects("predictor")] = Field(description="Predictor to multiply.")
    factor: float | None = Field(None, gt=0, description="Factor of all predictions.")
    quantile: float | None = Field(
        None,
        gt=0,
        le=1,
        description="Share of the recent jobs that must not outlive their prediction: the factor"
        " is this quantile of run time over predicted run time.",
    )
    window: int | None = Field(
        None,
        ge=1,
        description=f"With `quantile`, over how many last completed jobs; {WINDOW} if not given.",
    )
    cap: bool = Field(False, description="Limit predictions to the requested time.")
    memory: int | None = Field(
        None,
        ge=1,
        description="With `quantile`, of how many jobs that are yet to complete the predictions are"
        f" remembered, the oldest being forgotten; {MEMORY} if not given.",
    )

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if (self.factor is None) == (self.quantile is None):
            found = "neither" if self.factor is None else "both"
            raise ValueError(f"expected either 'factor' or 'quantile', found {found}")
        for name in ("window", "memory"):
            if self.quantile is None and getattr(self, name) is not None:
                raise ValueError(f"{name!r} goes with 'quantile', and 'factor' is given")
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
    memory
        Maximum number of predictions remembered for jobs that have not completed.
    """

    def __init__(self, quantile: float, window: int, memory: int) -> None:
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
        seconds = self._pending.pop(job.job_id)
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


@builtin(
    "predictor", "inflated", InflatedParams, summary="another predictor's predictions, multiplied"
)
def make_inflated(params: InflatedParams, context: Context) -> Inflated | InflatedOracle:
    """Make the predictor `inflated`; around an oracle, the result is an oracle."""
    inner: Predictor | Oracle = context.make("predictor", params.of)
    if params.factor is not None:
        multiplier = ConstantFactor(params.factor)
    else:
        assert params.quantile is not None
        multiplier = QuantileOfRatios(
            params.quantile, params.window or WINDOW, params.memory or MEMORY
        )
    made = InflatedOracle if isinstance(inner, Oracle) else Inflated
    return made(inner, multiplier, cap=params.cap)
