"""Tables that are full, batches of any size and a clock that has run out change nothing."""

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from hpcsched.dispatching.rules.orders import ColumnKeyOrder
from hpcsched.errors import InputError, PluginError
from hpcsched.prediction.predictors import RequestedTime
from hpcsched.simulation.event_loop import EventLoop
from hpcsched.simulation.parts import Parts
from hpcsched.simulation.replay_choices import keys_of
from hpcsched.system.outages import Outage, Outages
from hpcsched.system.shared_resources import Change, Draw, SharedResource
from hpcsched.system.system import NodeGroup, System
from hpcsched.workload.job import Job, TracedJob
from hpcsched.workload.job_batches import JobColumns, RequestNumbers, columns_of
from tests.builders import ALLOCATORS, ORDERS, alike, easy, easy_rule, lists, parts, traced
from tests.dispatching.plans import waiting
from tests.simulation.replays import by_the_core, event_by_event

MIXED = System(
    (
        NodeGroup("thin", 40, {"core": 16, "mem": 64}),
        NodeGroup("fat", 8, {"core": 16, "mem": 512, "gpu": 4}),
    )
)


def crowd(count: int, requests: list[tuple[int, ...]], most: int) -> list[TracedJob]:
    """Return jobs that come at once, so that the queue is long and many run at a time."""
    draw = random.Random(7)
    return [
        traced(k, k // 50, draw.randint(1, most), draw.randint(1, 60), draw.choice(requests))
        for k in range(count)
    ]


@pytest.fixture(name="expected", scope="module")
def _expected() -> Any:
    """What a replay event by event comes to."""
    return event_by_event(*many_jobs())


def many_jobs() -> tuple[Parts, list[TracedJob]]:
    """Return 700 jobs of up to 40 units on 48 nodes: hundreds wait, and places are many."""
    jobs = crowd(700, [(1, 1, 0), (2, 8, 0), (4, 4, 1)], 12)
    return parts(MIXED, easy("best-fit"), predictor=RequestedTime()), jobs


@pytest.mark.parametrize("batch", [1, 7, 1000])
def test_more_jobs_than_rows_and_places(batch: int, expected: Any) -> None:
    """Tables grow, in whatever batches the jobs come."""
    told = by_the_core(*many_jobs(), batch)
    assert told == expected
    assert max(queued for _, _, queued, *_ in told.rounds) > 256


def test_a_job_on_more_nodes_than_there_are_places() -> None:
    """At first there are places for 65536; job 1 is on 70000 nodes."""
    jobs = [traced(1, 0, 70_000, 5), traced(2, 1, 3, 2)]
    simulated = parts(alike(70_000, core=1), easy(), uniform_request=(1,))
    one, two = by_the_core(simulated, jobs).jobs
    assert one == (1, 0, 5, 5, tuple(range(70_000)), (1,) * 70_000)
    assert two == (2, 5, 7, 2, (0, 1, 2), (1, 1, 1))


@pytest.mark.parametrize("name", ORDERS)
@pytest.mark.parametrize(
    ("units", "time"),
    [(1, 1), (3, 5), (1, 1 << 31), (1, 1 << 40), (1 << 40, 1 << 25), (1 << 20, 1 << 50)],
)
def test_keys_of_any_size(name: str, units: int, time: int) -> None:
    """What a queue is sorted by may need more than 64 bits, and is kept in two numbers of 62."""
    system, job, order = alike(2, core=1), traced(1, 7, units, time), ORDERS[name]
    (columns,) = columns_of([job], RequestNumbers(), 1)
    (keys,) = keys_of(order, columns, columns.requested_time, system).tolist()
    found = [(high << 62) + low for high, low in zip(keys[::2], keys[1::2], strict=True)]
    assert all(0 <= low < 1 << 62 for low in keys[1::2])
    key = order.key(waiting(system, job)) if isinstance(order, ColumnKeyOrder) else ()
    assert found == [*(key if isinstance(key, tuple) else (key,))]


def test_another_order_behind_the_head_job() -> None:
    """Jobs of four cores at most on six: the longest come first behind the head job, or do not."""
    jobs = crowd(60, [(1,)], 4)
    plain = parts(alike(6, core=1), easy(), predictor=RequestedTime())
    behind = easy_rule(ALLOCATORS["first-fit"], ORDERS["fcfs"], ORDERS["ljf"])
    ordered = plain._replace(dispatcher=behind)
    told = by_the_core(ordered, jobs)
    assert told == event_by_event(ordered, jobs)
    assert told != event_by_event(plain, jobs)


def test_a_clock_that_has_run_out() -> None:
    """With no time at all the loop is left after each round, and goes on where it was."""
    jobs = crowd(300, [(1,)], 5)
    simulated = parts(alike(12, core=4), lists("sjf"), predictor=RequestedTime())
    assert by_the_core(simulated, jobs, 64, seconds=0) == event_by_event(simulated, jobs)


def test_no_jobs() -> None:
    """An empty trace is replayed in an instant, with nothing to tell."""
    simulated = parts(alike(2, core=4), easy(), predictor=RequestedTime())
    ((left, held, *_),) = EventLoop(simulated).run(())
    assert len(left.sequence) == len(held.now) == 0


def test_rounds_in_which_jobs_end_at_once() -> None:
    """Jobs of zero run time end in their instant, and each time one more round is held in it.

    One core, three such jobs: a round starts the first, the next the second, the third the last.
    """
    jobs = [traced(k, 5, 1, 0, requested_time=1) for k in range(3)]
    simulated = parts(alike(1, core=1), easy(), predictor=RequestedTime())
    told = by_the_core(simulated, jobs)
    assert [(number, start, end) for number, start, end, *_ in told.jobs] == [
        (0, 5, 5),
        (1, 5, 5),
        (2, 5, 5),
    ]
    assert [(held[0], held[1], held[2], held[4]) for held in told.rounds] == [
        (1, 5, 3, 1),
        (2, 5, 2, 1),
        (3, 5, 1, 1),
    ]


def test_stopped_while_jobs_are_read() -> None:
    """Asked to stop as the second batch is read, a replay ends with the present instant.

    Jobs of 5 s come at 0, 10, 20 and so on, twenty in a batch: the last of the first batch has come
    at 190 and still starts then.
    """
    jobs = [traced(k, 10 * k, 1, 5) for k in range(40)]
    replay = EventLoop(parts(alike(2, core=1), easy(), uniform_request=(1,)))

    def batches() -> Iterator[JobColumns]:
        first, second = columns_of(jobs, RequestNumbers(), 20)
        yield first
        replay.stop()
        yield second

    left = sum(len(jobs.sequence) for jobs, *_ in replay.run(batches()))
    assert (replay.state.submitted, replay.state.running, left, replay.state.now) == (
        20,
        1,
        19,
        190,
    )


def test_amounts_of_jobs_that_wait_and_run_count() -> None:
    """One job runs and one waits, of 2⁶⁰ each: with a third they need more than 61 bits."""
    whole = 1 << 60
    jobs = [traced(k, k, 1, 100, (whole,)) for k in range(3)]
    replay = EventLoop(parts(alike(1, core=whole), easy("best-fit")))
    with pytest.raises(InputError, match="61 bits"):
        list(replay.run(columns_of(jobs, RequestNumbers(), 2)))
    assert (replay.state.running, replay.state.waiting) == (1, 1)


def test_all_room_taken_by_jobs_of_one_unit() -> None:
    """4,000 jobs start at once and fill two nodes; places for 1,024 are there at first."""
    jobs = [traced(k, 0, 1, 5) for k in range(4_000)]
    told = by_the_core(parts(alike(2, core=2_000), easy("best-fit")), jobs, 4_000)
    assert {(start, end) for _, start, end, *_ in told.jobs} == {(0, 5)}
    assert Counter(nodes for *_, nodes, _ in told.jobs) == {(0,): 2_000, (1,): 2_000}


def test_jobs_alone_on_their_nodes_are_not_counted_in_units() -> None:
    """Two nodes of 4 cores; jobs of 2, 3, 6 and 1 units, each alone on its nodes.

    Jobs 1 and 2 hold a node each until 10 and 20, and job 3 wants both from 20 on. By units job 4
    would be spare beside it, 4 and then 3 of them coming free; on a node for 15 s it is in its way.
    """
    asked = [(1, 0, 2, 10), (2, 0, 3, 20), (3, 1, 6, 10), (4, 2, 1, 15)]
    jobs = [traced(*job, exclusive=True) for job in asked]
    for dispatcher in (lists(), easy()):
        told = by_the_core(parts(alike(2, core=4), dispatcher), jobs)
        starts = {number: start for number, start, *_ in told.jobs}
        assert starts == {1: 0, 2: 0, 3: 20, 4: 30}


class Says:
    """A predictor and a correction that always says the same."""

    def __init__(self, answer: object) -> None:
        self._answer = answer

    def predict(self, job: Job) -> Any:
        """Return the answer."""
        return self._answer

    def observe(self, job: Job, run_time: int) -> None:
        """Learn nothing."""

    def correct(self, job: Job, predicted_run_time: int, elapsed: int) -> Any:
        """Return the answer."""
        return self._answer


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"predictor": Says("soon")}, "found 'soon'"),
        ({"predictor": Says(1 << 33)}, "found 8589934592"),
        ({"predictor": Says(1), "correction": Says(1)}, "found 1"),
        ({"predictor": Says(1), "correction": Says(1 << 70)}, "found 1180591620717411303424"),
    ],
)
def test_answers_that_cannot_be(asked: dict[str, Any], why: str) -> None:
    """Job 1 has run for 3 s when job 2 is submitted; it was predicted to end by then."""
    simulated = parts(alike(1, core=1), easy(), **asked)
    jobs = [traced(1, 0, 1, 9), traced(2, 3, 1, 9)]
    with pytest.raises(PluginError, match=why):
        by_the_core(simulated, jobs)


def test_a_predictor_is_told_of_what_ends_at_last() -> None:
    """After the last submission nothing is predicted any more, and ends are told nevertheless."""
    told: list[tuple[int, int]] = []
    jobs = [traced(k, 0, 1, 5 - k) for k in range(3)]
    replay = EventLoop(parts(alike(3, core=1), easy(), predictor=_Listening(told)))
    list(replay.run(columns_of(jobs, RequestNumbers())))
    assert told == [(2, 3), (1, 4), (0, 5)]


class _Listening(Says):
    """A predictor that takes note of ends in a list."""

    def __init__(self, told: list[tuple[int, int]]) -> None:
        super().__init__(7)
        self._told = told

    def observe(self, job: Job, run_time: int) -> None:
        """Take note of it."""
        self._told.append((job.job_id, run_time))


def test_outages_with_tables_that_are_full() -> None:
    """Jobs of many requests, some bound to nodes, between failures and weekly maintenance.

    They come in small batches, each with requests that nobody knew of; a clock that has run out
    stops the loop after each round, and jobs lose nodes by the dozen.
    """
    draw = random.Random(3)
    requests = [(1, 1, 0), (2, 8, 0), (4, 4, 1), (1, 9, 0), (3, 1, 1), (2, 2, 0)]
    jobs = [
        traced(
            k,
            k // 4,
            draw.randint(1, 6),
            draw.randint(1, 40),
            requests[min(k // 40, 5)],
            allowed_nodes=frozenset(range(40, 46 + k % 3)) if k % 5 == 0 else None,
        )
        for k in range(240)
    ]
    failures = [Outage(5 * k, 5 * k + 4, (k % 48, 40 + k % 8), "failure") for k in range(20)]
    maintenance = [Outage(30 * k, 30 * k + 7, tuple(range(20, 48)), "maintenance") for k in (1, 2)]
    outages = Outages(tuple(sorted([*failures, *maintenance])))
    for dispatcher in (easy("keep-scarce"), lists("sjf", depth=5)):
        simulated = parts(MIXED, dispatcher, predictor=RequestedTime(), outages=outages)
        told = by_the_core(simulated, jobs, 16, seconds=0)
        assert told == event_by_event(simulated, jobs)
        assert len(told.lost) > 24


def test_requeued_jobs_are_looked_at_in_order_of_arrival() -> None:
    """Two cores on two nodes; node 0 fails at 3, and is back at 5.

    Job 1 has run there since 0 and waits again, before job 3, which came at 1. It starts at 5 when
    the node is back, and job 3 when job 2 ends at 8: in order of their ends they would change
    places. With `requeue` off, job 1 has failed and job 3 starts at 5.
    """
    jobs = [traced(1, 0, 1, 10), traced(2, 0, 1, 8), traced(3, 1, 1, 4)]
    failure = (Outage(3, 5, (0,), "failure"),)
    for requeue, starts, fates in (
        (True, {1: 5, 2: 0, 3: 8}, {1: (False, 1, 3), 2: (False, 0, 0), 3: (False, 0, 0)}),
        (False, {1: 0, 2: 0, 3: 5}, {1: (True, 0, 0), 2: (False, 0, 0), 3: (False, 0, 0)}),
    ):
        simulated = parts(alike(2, core=1), easy(), outages=Outages(failure, requeue))
        told = by_the_core(simulated, jobs)
        assert {number: start for number, start, *_ in told.jobs} == starts
        assert {
            job[0]: (fate[0], *fate[3:5]) for job, fate in zip(told.jobs, told.fates, strict=True)
        } == fates
        assert told.lost == [(1, 0, 3, requeue, (0,), (1,))]
        assert told == event_by_event(simulated, jobs)


def test_a_head_job_keeps_clear_of_an_announced_outage() -> None:
    """Job 2 needs both nodes for 20 s, from 50 on, and they are serviced from 60 to 70.

    So its reservation is at 70, and job 3, which came later and needs one node for 55 s, is in
    nobody's way. Without the outage, job 3 would delay job 2 from 50 to 56.
    """
    jobs = [traced(1, 0, 1, 50), traced(2, 1, 2, 20), traced(3, 1, 1, 55)]
    window = Outages((Outage(60, 70, (0, 1), "maintenance"),))
    for dispatcher in (easy(), lists()):
        for outages, starts in ((window, {1: 0, 2: 70, 3: 1}), (Outages(), {1: 0, 2: 50, 3: 70})):
            simulated = parts(alike(2, core=1), dispatcher, outages=outages)
            told = by_the_core(simulated, jobs)
            assert {number: start for number, start, *_ in told.jobs} == starts


def test_shared_resources_by_hand() -> None:
    """Two cores, each of which draws 1 of a shared resource that offers 2, and 1 from 10 on.

    Jobs 1 and 2 start at 0 and draw 2. At 8, job 2 ends. Job 3 would run to 13, when the shared
    resource offers too little beside job 1, so that it starts when that ends, at 20. Job 4 is over
    by 10 and starts at 8.
    """
    (group,) = alike(2, core=1).groups
    resource = SharedResource("power", 2, Draw({"core": 1}), (Change(10, 1),))
    system = System((group,), {}, (resource,))
    jobs = [traced(1, 0, 1, 20), traced(2, 0, 1, 8), traced(3, 1, 1, 5), traced(4, 1, 1, 2)]
    for dispatcher in (easy(), lists()):
        simulated = parts(system, dispatcher)
        told = by_the_core(simulated, jobs)
        assert {number: start for number, start, *_ in told.jobs} == {1: 0, 2: 0, 3: 20, 4: 8}
        assert told == event_by_event(simulated, jobs)
        replay = EventLoop(simulated)
        levels = [
            (time, *amounts)
            for *_, times, drawn, _ in replay.run(columns_of(jobs, RequestNumbers()))
            for time, amounts in zip(times.tolist(), drawn.tolist(), strict=True)
        ]
        assert levels == [(0, 2), (8, 2), (10, 1), (20, 1), (25, 0)]
