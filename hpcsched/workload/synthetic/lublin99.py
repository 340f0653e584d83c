"""Trace source `lublin99`: the model of rigid jobs of Lublin and Feitelson.

Source: U. Lublin and D. G. Feitelson, *The Workload on Parallel Supercomputers: Modeling the
Characteristics of Rigid Jobs*, J. Parallel and Distributed Computing 63(11), 2003, pages 1105 to
1122; the parameters are those of the authors' own program.

The program defines the model except for the order in which random numbers are drawn, so the model
is the authors' and the jobs are not. Decided here: the points that a submission has paid within its
slot are kept to the next one, as the program's static variables keep them; sizes are at most the
system's, which matters if it is no power of two.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

from pydantic import Field

from hpcsched.parameters import Params, UnitAmounts
from hpcsched.portable_math import exp, log, plain_sum
from hpcsched.registration import Context, builtin
from hpcsched.system.system import Request
from hpcsched.workload.job import Job, TracedJob
from hpcsched.workload.synthetic.synthetic_source import Draws, SyntheticSource, checked_request

LARGEST_LOG_RUN_TIME = 12.0
"""Run times of more than e¹² seconds, nearly two days, are drawn again."""
LARGEST_LOG_GAP = 13.0
"""Interarrival times of more than e¹³ seconds, five days, are drawn again."""
SLOT, SLOTS = 1800, 48
"""Seconds in a slot, and slots in a day."""
DAY_START = 11
"""The daily cycle begins with the eleventh half hour of the day, at 5:00."""
MEDIUM_BELOW_HIGH = 2.5
"""Distance of `medium` below `high` that the authors advise for a system of another size."""
SMALLEST_SYSTEM = 16
"""Below it `medium` would be below `low`."""


class Kind(NamedTuple):
    """Parameters of a kind of jobs, in the order of the paper.

    Attributes
    ----------
    serial, power_of_two
        Shares of serial jobs, and of other jobs with a power of two of processors.
    low, medium, high
        Logarithms to base 2 of the smallest parallel size, of the size above which sizes are rarer,
        and of the largest.
    below_medium
        Share of sizes below `medium`.
    a1, b1, a2, b2
        Shape and scale of the two gamma distributions of the logarithm of run times.
    pa, pb
        Share of the first distribution: pa × size + pb.
    aarr, barr
        Shape and scale of the gamma distribution of the logarithm of interarrival times in rush
        hours.
    anum, bnum
        Shape and scale of the gamma distribution of submissions over the half hours.
    arar
        Factor of `aarr` for all hours.
    """

    serial: float
    power_of_two: float
    low: float
    medium: float
    high: float
    below_medium: float
    a1: float
    b1: float
    a2: float
    b2: float
    pa: float
    pb: float
    aarr: float
    barr: float
    anum: float
    bnum: float
    arar: float

    def for_system(self, size: int) -> "Kind":
        """Return the kind for a system of another size, as the authors advise."""
        high = log(float(size)) / log(2.0)
        return self._replace(medium=high - MEDIUM_BELOW_HIGH, high=high)

    @property
    def largest(self) -> int:
        """Largest size, in processors."""
        return int(_power_of_two(self.high) + 0.5)

    def size(self, draws: Draws) -> int:
        """Draw the number of processors of a job."""
        kind = draws.uniform()
        if kind < self.serial:
            return 1
        if draws.chance(self.below_medium):
            exponent = draws.between(self.low, self.medium)
        else:
            exponent = draws.between(self.medium, self.high)
        if kind < self.serial + self.power_of_two:
            exponent = float(int(exponent + 0.5))
        return min(int(_power_of_two(exponent) + 0.5), self.largest)

    def log_run_time(self, draws: Draws, size: int) -> float:
        """Draw the natural logarithm of a job's run time in seconds."""
        first = min(max(self.pa * size + self.pb, 0.0), 1.0)
        while True:
            shape, scale = (self.a1, self.b1) if draws.chance(first) else (self.a2, self.b2)
            drawn = draws.gamma(shape, scale)
            if drawn <= LARGEST_LOG_RUN_TIME:
                return drawn

    def gap(self, draws: Draws) -> float:
        """Draw the time from one submission to the next, in seconds of an average hour."""
        while True:
            drawn = draws.gamma(self.aarr * self.arar, self.barr)
            if drawn <= LARGEST_LOG_GAP:
                return exp(drawn)

    def weights(self) -> list[float]:
        """Return the weights of the slots of a day from midnight on, one on average."""
        weights = [0.0] * SLOTS
        for k in range(DAY_START, DAY_START + SLOTS):
            upto, before = (lower_gamma(self.anum, (k + half) / self.bnum) for half in (0.5, -0.5))
            weights[(k - 1) % SLOTS] = upto - before  # slots are counted from 1 there
        mean = plain_sum(weights) / SLOTS
        return [weight / mean for weight in weights]


ALL = Kind(
    0.244, 0.576, 0.8, 4.5, 7, 0.86,
    4.2, 0.94, 312, 0.03, -0.0054, 0.78,
    10.2303, 0.4871, 8.1737, 3.9631, 1.0225,
)  # fmt: skip
"""Parameters of all jobs, batch and interactive ones together."""


class Lublin99Params(Params):
    """Parameters of `lublin99`: number and kind of jobs, and size of the system."""

    jobs: int = Field(ge=1)
    """Number of jobs to make."""
    size: int | None = Field(None, ge=SMALLEST_SYSTEM)
    """Number of processors of the largest jobs: the size of the system. By default as published:
    128."""
    unit: UnitAmounts | None = None
    """Request of each processor, by resource type; one core if not given."""
    load: float = Field(1.0, gt=0)
    """Factor of the published load: times between submissions are divided by it, and the daily
    cycle stays as it is."""
    overestimation: float = Field(1.0, ge=1)
    """Requested time / run time, the same for every job and rounded up to seconds: the model has no
    requested times."""


@builtin("trace_source", "lublin99", Lublin99Params)
def make_lublin99(params: Lublin99Params, context: Context) -> SyntheticSource:
    """Return a trace source: synthetic: the model of rigid jobs of Lublin and Feitelson, 2003."""
    unit = params.unit or {"core": 1}
    request = checked_request(context.system, unit, "the trace source 'lublin99'")
    seed = context.seed
    return SyntheticSource(
        lambda: _jobs(params, request, Draws(seed)),
        context.system,
        comments=(
            "Note: made up by hpcsched's lublin99, the model of Lublin and Feitelson, 2003;"
            " no real log is behind it",
        ),
        count=params.jobs,
        uniform_request=request,
    )


def _jobs(params: Lublin99Params, request: tuple[int, ...], draws: Draws) -> Iterator[TracedJob]:
    kind = ALL if params.size is None else ALL.for_system(params.size)
    weights = kind.weights()
    slot, paid, gap = 0, 0.0, kind.gap(draws)
    for number in range(1, params.jobs + 1):
        # The interval since the last submission is spent slot after slot; a weight is a price.
        paid += gap / params.load / SLOT
        while paid >= weights[slot % SLOTS]:
            paid -= weights[slot % SLOTS]
            slot += 1
        submit_time = int((slot + paid / weights[slot % SLOTS]) * SLOT)
        gap = kind.gap(draws)
        size = kind.size(draws)
        run_time = int(exp(kind.log_run_time(draws, size)))
        requested_time = math.ceil(run_time * params.overestimation)
        yield TracedJob(Job(number, submit_time, Request(size, request), requested_time), run_time)


def _power_of_two(exponent: float) -> float:
    """Return 2 to some power, exact for a whole power."""
    whole = math.floor(exponent)
    return math.ldexp(exp((exponent - whole) * log(2.0)), whole)


_SMALL = 1e-17
"""Terms of the series below this share of the sum no longer change it."""


def lower_gamma(shape: float, x: float) -> float:
    """Return the lower incomplete gamma function, the integral of tˢ⁻¹ e⁻ᵗ from 0 to x.

    Parameters
    ----------
    shape
        The shape s, above 0.
    x
        Upper bound of the integral, at least 0.

    Notes
    -----
    Divided by the gamma function of the shape, it is the probability that a gamma number of this
    shape and scale 1 is below x. The series xˢ e⁻ˣ Σ xⁿ / (s (s + 1) … (s + n)) has positive terms
    only; it takes some x + 40 of them.
    """
    if x <= 0:
        return 0.0
    term = total = 1 / shape
    divisor = shape
    while term > _SMALL * total:
        divisor += 1
        term *= x / divisor
        total += term
    return exp(shape * log(x) - x) * total
