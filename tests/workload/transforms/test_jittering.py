"""The transform `jitter`, by hand and against sorting."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from hpcsched.workload.transforms import job_transforms
from hpcsched.workload.transforms.job_transforms import JitterParams
from tests.strategies import tries
from tests.workload.transforms.chains import Given, chain, numbers, read, submitted, times


def test_delays_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """A draw of 0.7 is a delay of int(0.7 · 4) = 2 s; job 2 comes behind 3, and job 4 before 5."""
    draws = {1: 0.0, 2: 0.7, 3: 0.2, 4: 0.999, 5: 0.25}
    monkeypatch.setattr(job_transforms, "own_share", lambda *labels: draws[labels[-1]])
    source = chain(Given(submitted([0, 10, 11, 20, 22])), ("jitter", {"by": "3s"}))
    jobs = read(source)
    assert (numbers(jobs), times(jobs)) == ([1, 3, 2, 4, 5], [0, 11, 12, 23, 23])
    assert source.account.changed == {"jittered": 3}


def test_every_delay_is_as_likely() -> None:
    """Of 3,000 jobs 1,000 each come 0, 1 and 2 s later, within four standard deviations of 26."""
    jobs = read(chain(Given(submitted([100] * 3000)), ("jitter", {"by": 2})))
    counts = Counter(times(jobs))
    assert set(counts) == {100, 101, 102}
    assert all(abs(count - 1000) < 104 for count in counts.values())


def test_what_a_delay_follows_from() -> None:
    """A job's delay is the same in a part of the trace, and another with another seed."""

    def delays(*transforms: tuple[str, dict[str, object]], seed: int = 7) -> dict[int, int]:
        jobs = read(chain(Given(submitted(range(0, 4000, 20))), *transforms, seed=seed))
        return {one.job.job_id: one.job.submit_time % 20 for one in jobs}

    whole = delays(("jitter", {"by": 9}))
    part = delays(("window", {"start": 1000, "end": 2000}), ("jitter", {"by": 9}))
    assert len(part) == 50
    assert part.items() <= whole.items()
    assert delays(("jitter", {"by": 9, "seed": 1})) != whole
    assert delays(("jitter", {"by": 9}), seed=8) != whole


@tries(200)
@given(st.lists(st.integers(0, 4), max_size=25), st.integers(1, 9))
def test_order(gaps: list[int], by: int) -> None:
    """Streaming gives what sorting by the new times would, ties as they came; none is too late."""
    instants, now = [], 0
    for gap in gaps:
        now += gap
        instants.append(now)
    jobs = read(chain(Given(submitted(instants)), ("jitter", {"by": by})))
    new = dict(zip(numbers(jobs), times(jobs), strict=True))
    assert [new[k] for k in sorted(new, key=lambda k: (new[k], k))] == times(jobs)
    assert sorted(new, key=lambda k: (new[k], k)) == numbers(jobs)
    assert all(0 <= new[k] - instant <= by for k, instant in enumerate(instants, 1))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"by": 0}, "greater than or equal to 1"),
        ({"by": "-1s"}, "expected a duration"),
        ({"by": 1, "seed": -1}, "greater than or equal to 0"),
        ({}, "Field required"),
    ],
)
def test_what_is_refused(params: dict[str, object], message: str) -> None:
    """There is a longest delay, of a second or more."""
    with pytest.raises(ValidationError, match=message):
        JitterParams.model_validate(params)
