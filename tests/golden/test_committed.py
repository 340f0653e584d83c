"""Lists that commit to the job that is next, by hand: shortest first, on processors of one core."""

import pytest

from hpcsched.prediction.predictors import RequestedTime
from hpcsched.workload.job import TracedJob
from tests.builders import alike, replay
from tests.golden.declared import declared
from tests.golden.pictures import check, job

SLOTS_AND_NODES = pytest.mark.parametrize("request_of_all", [(1,), None], ids=["slots", "nodes"])


def expect(
    cores: int, option: str, jobs: tuple[TracedJob, ...], expected: str, request_of_all: object
) -> None:
    """Compare the schedule of a list, which goes by requested times, with a picture."""
    system = alike(cores, core=1)
    dispatcher = declared(system, f"{{name: list, order: sjf, option: {option}}}")
    given = {"predictor": RequestedTime(), "uniform_request": request_of_all}
    check(system, replay(system, dispatcher, jobs, **given), expected)


FIVE = (
    job("A", 0, 3, 4),
    job("B", 1, 2, 6),
    job("C", 2, 3, 1),
    job("D", 2, 1, 1),
    job("E", 5, 1, 2),
)


@SLOTS_AND_NODES
def test_committed(request_of_all):
    """At 1 one core is free and B, of two, is chosen. C and D are shorter and come at 2: too late.

    At 4 A ends and B starts, until 10. Then D (1 s, 1 core) comes before C (1 s, 3 cores), and
    starts. One core is left, so C is chosen. E finds two free at 5, and waits for C until 10.
    """
    expect(
        4,
        "committed",
        FIVE,
        """
        node-0 AAAABBBBBBC.
        node-1 AAAABBBBBBC.
        node-2 AAAAD.....C.
        node-3 ..........EE
        """,
        request_of_all,
    )


@SLOTS_AND_NODES
def test_strict_is_committed_to_nobody(request_of_all):
    """The same jobs: D starts at 2, and at 4 C comes before B, which starts when C ends, at 5.

    E comes at 5 and is before B too: 2 s and 6 s. B takes two of the three cores that are left.
    """
    expect(
        4,
        "strict",
        FIVE,
        """
        node-0 AAAACEE....
        node-1 AAAACBBBBBB
        node-2 AAAACBBBBBB
        node-3 ..D........
        """,
        request_of_all,
    )


@SLOTS_AND_NODES
def test_committed_backfill(request_of_all):
    """At 1 B is chosen and expects to start at 4. D ends at 3; F would end at 4, which is too late.

    At 4 B starts, and F (1 s, 1 core) comes before C (1 s, 3 cores), which is chosen then and
    expects to start when B ends, at 10. At 5 two cores are free. E comes first: it arrived before G
    (1 s, 2 cores), which is shorter and starts when E has ended, at 7.

    I would end at 11. EASY would let it have the fourth core, which C does not need. H would end at
    10. At 10 C and H (2 s) start; I (5 s) starts when C ends.
    """
    expect(
        4,
        "committed-backfill",
        (
            *FIVE[:4],
            job("F", 3, 1, 1),
            job("E", 5, 1, 2),
            job("G", 5, 2, 1),
            job("I", 6, 1, 5),
            job("H", 8, 1, 2),
        ),
        """
        node-0 AAAABBBBBBCIIIII
        node-1 AAAABBBBBBC.....
        node-2 AAAAFEEG..C.....
        node-3 ..D....G..HH....
        """,
        request_of_all,
    )


@SLOTS_AND_NODES
@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(4, ("CCCCC..B", "AA.DDDDB", ".......B")), (5, ("CCCCCBDDDDD", "AA...B.....", ".....B....."))],
)
def test_what_is_expected_is_kept_from_when_a_job_was_chosen(seconds, expected, request_of_all):
    """A asks for 8 s, so at 1 B expects to start at 8. A ends at 2; B could start at 5, after C.

    D comes at 3. It is started if it ends before 8, and keeps B waiting until 7.
    """
    lines = "\n".join(f"node-{k} {row}" for k, row in enumerate(expected))
    jobs = (
        job("A", 0, 1, 2, requested_time=8),
        job("C", 0, 1, 5),
        job("B", 1, 3, 1),
        job("D", 3, 1, seconds),
    )
    expect(3, "committed-backfill", jobs, lines, request_of_all)


@SLOTS_AND_NODES
def test_nothing_passes_a_job_that_should_have_started_by_then(request_of_all):
    """B expects to start at 2. A is said to end at 2, and runs until 4: C, of one second, waits."""
    expect(
        2,
        "committed-backfill",
        (job("A", 0, 1, 4, requested_time=2), job("B", 1, 2, 1), job("C", 2, 1, 1)),
        """
        node-0 AAAABC
        node-1 ....B.
        """,
        request_of_all,
    )
