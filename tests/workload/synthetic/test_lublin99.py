"""The trace source `lublin99` against what the model says, within errors that follow from the size.

`SIGMAS` standard errors on each side, for fixed seeds.
"""

import math
from collections import Counter
from types import SimpleNamespace

import pytest
from pydantic import ValidationError

from hpcsched.errors import InputError
from hpcsched.workload.synthetic.lublin99 import (
    ALL,
    LARGEST_LOG_GAP,
    SLOTS,
    Lublin99Params,
    make_lublin99,
)
from hpcsched.workload.synthetic.synthetic_source import Draws
from tests.builders import alike
from tests.workload.synthetic import sequences
from tests.workload.synthetic.memory import peak

GOLDEN = "5afa6c96b743b1ffcabfd8b5ca1688159200a7d766c5db123869fb15e88335a3"
"""Of the first 500 jobs of seed 0; a changed workload must be meant, and said."""
SYSTEM = alike(128, core=1)
COUNT = 20_000
SIGMAS = 4
DAY = 86_400


def lublin(seed=0, system=SYSTEM, **params):
    """Return a source for a system of 128 nodes."""
    context = SimpleNamespace(system=system, seed=seed)
    return make_lublin99(Lublin99Params(**{"jobs": COUNT, **params}), context)


def near(share, expected, count=COUNT):
    """Return whether a share of so many jobs is as near to the expected one as chance has it."""
    return abs(share - expected) <= SIGMAS * math.sqrt(expected * (1 - expected) / count) + 1e-12


def below(kind, exponent):
    """Return how likely the two-stage uniform number is below a number."""
    low, medium, high = kind.low, kind.medium, kind.high
    first = min(max((exponent - low) / (medium - low), 0), 1)
    second = min(max((exponent - medium) / (high - medium), 0), 1)
    return kind.below_medium * first + (1 - kind.below_medium) * second


def test_sizes():
    """The share of serial jobs, and of each size of others, by rounding of the exponent."""
    kind, draws = ALL, Draws(5)
    sizes = Counter(kind.size(draws) for _ in range(COUNT))
    other = 1 - kind.serial - kind.power_of_two
    assert near(sizes[1] / COUNT, kind.serial)
    for size in range(2, kind.largest + 1):
        expected = other * (below(kind, math.log2(size + 0.5)) - below(kind, math.log2(size - 0.5)))
        exponent = math.log2(size)
        if exponent.is_integer():
            within = below(kind, exponent + 0.5) - below(kind, exponent - 0.5)
            expected += kind.power_of_two * within
        assert near(sizes[size] / COUNT, expected), size
    assert max(sizes) == kind.largest == 128


@pytest.mark.parametrize("size", [1, 8, 100])
def test_run_times(size):
    """The mean of their logarithm is that of the hyper-gamma distribution, less what is too long.

    Gamma numbers above the bound, up to 1 % of all, change it by less than the tolerance.
    """
    kind, draws = ALL, Draws(6)
    p = min(max(kind.pa * size + kind.pb, 0), 1)
    means = kind.a1 * kind.b1, kind.a2 * kind.b2
    squares = (
        kind.a1 * (kind.a1 + 1) * kind.b1 * kind.b1,
        kind.a2 * (kind.a2 + 1) * kind.b2 * kind.b2,
    )
    mean = p * means[0] + (1 - p) * means[1]
    deviation = math.sqrt(p * squares[0] + (1 - p) * squares[1] - mean * mean)
    found = [kind.log_run_time(draws, size) for _ in range(COUNT)]
    assert max(found) <= 12
    error = SIGMAS * deviation / math.sqrt(COUNT)
    assert mean - error - 0.02 < math.fsum(found) / COUNT < mean + error


def mean_gap(kind):
    """Return the mean of exp(g), g a gamma number of at most 13, by Simpson's rule."""
    shape, scale, steps = kind.aarr * kind.arar, kind.barr, 4000
    width = LARGEST_LOG_GAP / steps
    weights = [1, *([4, 2] * (steps // 2 - 1)), 4, 1]
    density = [(k * width) ** (shape - 1) * math.exp(-k * width / scale) for k in range(steps + 1)]
    weighted = [w * d for w, d in zip(weights, density, strict=True)]
    total = math.fsum(w * math.exp(k * width) for k, w in enumerate(weighted))
    square = math.fsum(w * math.exp(2 * k * width) for k, w in enumerate(weighted))
    mean = total / math.fsum(weighted)
    return mean, math.sqrt(square / math.fsum(weighted) - mean * mean)


def test_jobs_a_day():
    """The span of so many jobs is that many mean interarrival times, to half a day."""
    *_, last = lublin().jobs()
    mean, deviation = mean_gap(ALL)
    error = SIGMAS * deviation * math.sqrt(COUNT) + DAY / 2
    assert abs(last.job.submit_time - COUNT * mean) < error


def test_weights():
    """One on average, the least at the end of the night and the most in the afternoon."""
    weights = ALL.weights()
    assert math.fsum(weights) == pytest.approx(SLOTS)
    assert min(weights) == min(weights[8:12])  # 4:00 to 6:00
    assert max(weights) == max(weights[22:32])  # 11:00 to 16:00


def test_daily_cycle():
    """Jobs come by the half hour as the weights say.

    They are no independent draws, so the tolerance is for a tenth as many.
    """
    slots = Counter(job.submit_time % DAY // 1800 for job, _ in lublin(jobs=50_000).jobs())
    for slot, weight in enumerate(ALL.weights()):
        assert near(slots[slot] / 50_000, weight / SLOTS, count=5_000), slot


def test_load():
    """Interarrival times are divided by it before they are paid; the rest stays as it is."""
    plain, dense = list(lublin(jobs=3000).jobs()), list(lublin(jobs=3000, load=2).jobs())
    assert dense[-1].job.submit_time == pytest.approx(plain[-1].job.submit_time / 2, rel=0.02)
    for one, other in zip(plain, dense, strict=True):
        assert sequences.moved(one, other.job.submit_time - one.job.submit_time) == other


def test_size_of_the_system():
    """Sizes go up to it, and the common ones are up to 2^2.5 times smaller."""
    sizes = [job.units for job, _ in lublin(size=100, system=alike(100, core=1)).jobs()]
    assert max(sizes) == 100
    kind = ALL.for_system(100)
    assert kind.high == pytest.approx(math.log2(100))
    assert kind.medium == pytest.approx(math.log2(100) - 2.5)
    large = sum(size > 2**kind.medium + 0.5 for size in sizes) / COUNT
    assert large < (1 - kind.serial) * (1 - below(kind, 4))
    with pytest.raises(ValidationError, match="16"):
        Lublin99Params(jobs=1, size=15)


def test_requests():
    """What a processor asks for, and requested times as multiples."""
    source = lublin(jobs=500, unit={"core": 2, "mem": 5}, system=alike(128, core=2, mem=9))
    assert {job.unit_request for job, _ in source.jobs()} == {(2, 5)} == {source.uniform_request}
    for job, run_time in lublin(jobs=500, overestimation=1.5).jobs():
        assert job.requested_time == math.ceil(1.5 * run_time)
        assert run_time >= 1
    with pytest.raises(InputError, match="'lublin99' asks for gpu"):
        lublin(unit={"gpu": 1})
    with pytest.raises(ValidationError, match="at least one resource type"):
        Lublin99Params(jobs=1, unit={"core": 0})


def test_jobs_larger_than_the_system():
    """They are skipped and counted."""
    source = lublin(jobs=2000, system=alike(32, core=1))
    assert {job.units <= 32 for job, _ in source.jobs()} == {True}
    assert source.account.skipped["larger_than_system"] > 0


def test_first_jobs_of_a_seed():
    """The same on every machine."""
    assert sequences.digest(lublin(), 500) == GOLDEN


def test_stream():
    """Ascending, repeatable, different for another seed."""
    sequences.check_stream(lublin)


def test_memory():
    """Flat."""
    assert peak(lublin(jobs=5_000)) - peak(lublin(jobs=1_000)) < 10_000
