"""Transforms one after the other: accounts, headers, faults, and what composes."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched.errors import PluginError
from hpcsched.workload.job import TracedJob
from hpcsched.workload.trace_source import TraceAnswer, answer_again, answers_of
from hpcsched.workload.transform import TransformAccount, TransformedSource
from tests.builders import traced
from tests.strategies import tries
from tests.workload.transforms.chains import Given, chain, numbers, read, submitted, times

STEPS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("window", {"start": 5, "end": 40}),
    ("window", {"start": 3, "shift": False}),
    ("first", {"jobs": 6}),
    ("sample-users", {"share": 0.6}),
    ("scale-load", {"factor": 1.7}),
    ("jitter", {"by": 5}),
    ("attach", {"resource": "mem", "amount": {"median": 10, "spread": 1.0}}),
    ("attach", {"resource": "gpu", "amount": 1, "share": 0.5}),
)


@st.composite
def traces(draw) -> list[TracedJob]:
    """Draw up to 30 jobs of three users and two groups, in bursts."""
    jobs, now = [], 0
    for number in range(draw(st.integers(0, 30))):
        now += draw(st.sampled_from([0, 0, 1, 2, 9]))
        units, user = draw(st.integers(1, 16)), draw(st.sampled_from([None, 0, 1, 2]))
        group = draw(st.integers(1, 3))
        jobs.append(traced(number, now, units, 60, (1, 0, 0), user=user, group=group))
    return jobs


chains = st.lists(st.sampled_from(STEPS), min_size=1, max_size=4)


@tries(300)
@given(traces(), chains)
def test_every_record_counts_once(jobs: list[TracedJob], steps: list[Any]) -> None:
    """In any chain the account balances, at the end and all the way; order and results hold."""
    source = chain(Given(jobs), *steps)
    whole = read(source)  # checks account and order
    account = source.account
    for passed, _ in enumerate(source.jobs(), 1):
        assert passed <= source.account.submitted <= len(jobs)
    assert source.account == account
    assert read(source) == whole
    assert set(numbers(whole)) <= set(numbers(jobs))
    assert len(set(numbers(whole))) == len(whole)


@tries(100)
@given(traces(), chains)
def test_a_chain_is_its_transforms_one_by_one(jobs: list[TracedJob], steps: list[Any]) -> None:
    """Applying them at once, or each to what the one before has made, is the same."""
    by_steps = jobs
    for step in steps:
        by_steps = read(chain(Given(by_steps), step))
    assert read(chain(Given(jobs), *steps)) == by_steps


@tries(100)
@given(traces(), st.integers(0, 50), st.integers(1, 20))
def test_window_then_first(jobs: list[TracedJob], start: int, count: int) -> None:
    """The first jobs of a window are those of the trace from there on."""
    source = chain(
        Given(jobs), ("window", {"start": start, "shift": False}), ("first", {"jobs": count})
    )
    assert read(source) == [one for one in jobs if one.job.submit_time >= start][:count]


@tries(100)
@given(traces(), st.integers(1, 30), st.integers(1, 30))
def test_first_of_first(jobs: list[TracedJob], one: int, other: int) -> None:
    """The smaller number counts."""
    both = chain(Given(jobs), ("first", {"jobs": one}), ("first", {"jobs": other}))
    assert read(both) == jobs[: min(one, other)]


def test_there_and_back() -> None:
    """A factor and its inverse, where nothing is rounded."""
    jobs = submitted([0, 8, 80])
    back = chain(Given(jobs), ("scale-load", {"factor": 4}), ("scale-load", {"factor": 0.25}))
    assert read(back) == jobs


def test_uniform_requests() -> None:
    """They stay uniform unless a transform may change them."""
    given_jobs = Given(submitted([0]), uniform_request=(1, 0, 0))
    kept = [step for step in STEPS if step[0] != "attach"]
    assert chain(given_jobs, *kept).uniform_request == (1, 0, 0)
    assert chain(given_jobs, *STEPS).uniform_request is None
    assert chain(Given(submitted([0])), *kept).uniform_request is None


def test_the_rest_is_the_source_s() -> None:
    """Its header with a note, its files, and how much of it has been read."""
    given_jobs = Given(submitted([0, 1]), ["Computer: A"])
    source = chain(given_jobs, ("first", {"jobs": 1}), ("scale-load", {"factor": 2}))
    note = "Note: transformed by hpcsched: first, scale-load"
    assert source.comments == ["Computer: A", note]
    assert list(source.files) == []
    next(source.jobs())
    assert source.fraction_read == 0.5


def test_a_source_that_sorts_has_read_more() -> None:
    """What it has read, and nobody asked for, is after the first jobs too."""

    class Sorting(Given):
        def jobs(self) -> Iterator[TracedJob]:
            for one in super().jobs():
                self.account.read = 5
                yield one

    source = chain(Sorting(submitted([0, 1, 2, 3, 4])), ("first", {"jobs": 2}))
    assert numbers(read(source)) == [1, 2]
    assert source.account.skipped == {"after_first_jobs": 3}


def test_jobs_that_wait_for_others() -> None:
    """Where a job that others wait for is gone, they no longer wait for it, and that is counted."""
    jobs = [
        traced(1, 0, 1, 60, (1, 0, 0)),
        traced(2, 10, 1, 60, (1, 0, 0), after=(1,), think_time=5),
        traced(3, 20, 1, 60, (1, 0, 0), after=(2,), think_time=5),
    ]
    source = chain(Given(jobs, dependencies=True), ("window", {"start": 10, "shift": False}))
    assert source.dependencies
    assert [(one.job.after, one.job.think_time) for one in read(source)] == [((), 0), ((2,), 5)]
    assert source.account.clipped == {"unknown_preceding_job": 1}
    assert not chain(Given(jobs), ("first", {"jobs": 1})).dependencies


Apply = Callable[[Iterator[TracedJob]], Iterator[TracedJob]]


def loses(jobs: Iterator[TracedJob]) -> Iterator[TracedJob]:
    """Take a job away and say nothing."""
    next(jobs)
    yield from jobs


def stops(jobs: Iterator[TracedJob]) -> Iterator[TracedJob]:
    """Stop after a job and say nothing."""
    yield next(jobs)


def mixes(jobs: Iterator[TracedJob]) -> Iterator[TracedJob]:
    """Turn the order round."""
    yield from reversed(list(jobs))


@pytest.mark.parametrize(
    ("apply", "message"),
    [
        (loses, "found 1 that were neither, and all jobs read"),
        (stops, "found 0 that were neither, and not all jobs read"),
        (mixes, "found job 2 at 5 after one at 9"),
    ],
)
def test_a_transform_at_fault(apply: Apply, message: str) -> None:
    """A plugin that breaks its promises is named."""

    class Faulty:
        def apply(
            self, jobs: Iterator[TracedJob], account: TransformAccount
        ) -> Iterator[TracedJob]:
            return apply(jobs)

    source = TransformedSource(Given(submitted([0, 5, 9])), [("faulty", Faulty())], True)
    with pytest.raises(PluginError, match=f"^transform faulty: .*{message}"):
        list(source.jobs())


def test_times_are_those_behind_the_transforms_before() -> None:
    """A window after a change of the load is of the changed times."""
    jobs = submitted([0, 10, 20])
    source = chain(Given(jobs), ("scale-load", {"factor": 2}), ("window", {"start": 2, "end": 7}))
    assert times(read(source)) == [3]


@pytest.mark.parametrize(
    ("step", "most"),
    [
        (("window", {"start": 10}), 1),
        (("jitter", {"by": 5}), 6),
        (("scale-load", {"factor": 3}), 1),
        (("attach", {"resource": "mem", "amount": 1}), 1),
    ],
)
def test_what_is_held(step: tuple[str, dict[str, Any]], most: int) -> None:
    """Of jobs a second apart: the one that is passed on, and those of the time of a delay."""
    given_jobs = Given(submitted(range(300), [1, 2] * 150))
    source = chain(given_jobs, step)
    held = [source.account.submitted - passed for passed, _ in enumerate(source.jobs())]
    assert max(held) == most


class Asking(Given):
    """A source that asks a program."""

    answers = [TraceAnswer("unix:/s/jobs", b"[]")]  # noqa: RUF012 (of one test)

    def read_answers(self) -> list[TraceAnswer]:
        """Return an answer."""
        return self.answers

    def take_answers(self, answers: Sequence[TraceAnswer]) -> None:
        """Take the answers of an earlier run."""
        self.answers = list(answers)


def test_answers_of_programs_are_those_of_the_source() -> None:
    """A run records them behind transforms too; other sources have none."""
    one = ("first", {"jobs": 1})
    assert answers_of(chain(Asking([]), one)) == [TraceAnswer("unix:/s/jobs", b"[]")]
    assert answers_of(chain(Given([]), one)) == ()
    source = chain(Asking([]), one)
    answer_again(source, [TraceAnswer("unix:/s/jobs", b"[1]")])
    assert answers_of(source) == [TraceAnswer("unix:/s/jobs", b"[1]")]


class Open(Given):
    """A source that is open while it is read."""

    is_open = False

    def jobs(self) -> Iterator[TracedJob]:
        """Yield the jobs, and close at the end."""
        self.is_open = True
        try:
            yield from super().jobs()
        finally:
            self.is_open = False


class Raising:
    """A transform that raises at the second job."""

    def apply(self, jobs: Iterator[TracedJob], _account: TransformAccount) -> Iterator[TracedJob]:
        """Yield the first job."""
        yield next(jobs)
        next(jobs)
        raise KeyError("no such key")


def test_the_source_is_closed_where_a_transform_raises() -> None:
    """Else its file would stay open for as long as the error is kept."""
    source = Open(submitted([0, 5, 9]))
    jobs = TransformedSource(source, [("raising", Raising())], False).jobs()
    assert next(jobs).job.job_id == 1
    assert source.is_open
    with pytest.raises(KeyError):
        next(jobs)
    assert not source.is_open
