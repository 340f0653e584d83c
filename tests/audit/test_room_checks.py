"""The check of amounts alone: what rounds leave waiting and free, and what was lost before them."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

import pyarrow as pa
import pytest

from hpcsched.audit.rounds import amounts_of_rounds
from hpcsched.audit.violations import Check
from hpcsched.runs.tables import ArrowTable
from hpcsched.system.outages import Outage, Outages
from tests.builders import alike
from tests.runs.columns_by_hand import Held, Row, audited, seen

LARGEST = 2**63 - 1
SYSTEM = alike(2, core=4, mem=8)
"""For each core there are 2 of memory, and each job asks for so much: amounts are twice those."""


class Left(NamedTuple):
    """A round: when it was asked for and carried out, and how many cores wait and are free then.

    There is a least and a most where several rounds share an instant. `lost` are core seconds.
    """

    now: int
    done: int
    waiting: tuple[int, int]
    free: tuple[int, int]
    lost: float = 0.0
    rejected: int = 0


def job(
    job_id: int, start: int | None, end: int | None, cores: int, submit: int, **more: Any
) -> Row:
    """Return a job of units of one core, on node 0."""
    return Row(job_id, start, end, more.pop("places", {0: cores}), submit, cores, (1, 2), **more)


class Said(NamedTuple):
    """What is said of each round: cores that wait and are free, and core seconds lost."""

    waiting: Sequence[int]
    free: Sequence[int]
    lost: Sequence[float]

    def but(self, name: str, k: int, value: float) -> "Said":
        """Return the same with another number for the k-th round."""
        numbers = getattr(self, name)
        return self._replace(**{name: [*numbers[:k], value, *numbers[k + 1 :]]})


def checked(
    rows: Sequence[Row], rounds: Sequence[Left], said: Said, outages: Sequence[Outage] = ()
) -> Check:
    """Check what is said of rounds."""
    table = pa.table(
        {
            f"{name}_amounts": [
                {"core": amount, "mem": min(2 * amount, LARGEST)} for amount in amounts
            ]
            for name, amounts in said._asdict().items()
        }
    )
    run: Any = SimpleNamespace(rounds=ArrowTable(table))
    held = [Held(one.now, one.done, rejected=one.rejected) for one in rounds]
    at = seen(SYSTEM, rows, outages=Outages(tuple(outages)))
    check = amounts_of_rounds(audited(at, held, run=run))
    assert check is not None
    return check


def assert_bounds(
    rows: Sequence[Row], rounds: Sequence[Left], outages: Sequence[Outage] = ()
) -> None:
    """Have the bounds of each round found right, and what lies beyond them wrong."""
    least, most = (
        Said([r.waiting[k] for r in rounds], [r.free[k] for r in rounds], [r.lost for r in rounds])
        for k in (0, 1)
    )
    for right in (least, most):
        check = checked(rows, rounds, right, outages)
        assert (check.violations, check.looked_at) == ([], len(rounds))
    for k, one in enumerate(rounds):
        for name, (low, high), wrong in (
            ("waiting", one.waiting, one.waiting[0] - 1),
            ("waiting", one.waiting, one.waiting[1] + 1),
            ("free", one.free, one.free[0] - 1),
            ("free", one.free, one.free[1] + 1),
            ("lost", (float(one.lost), one.lost), one.lost + 0.5),
        ):
            expected = [
                f"round {k + 1}, second {one.now}: {name}_amounts.{kind}: expected {low * per}"
                f"{'' if low == high else f' to {high * per}'}, found {wrong * per}"
                for kind, per in (("core", 1), ("mem", 2))
            ]
            said = least.but(name, k, wrong)
            assert checked(rows, rounds, said, outages).violations == expected


def test_decisions_that_take_time() -> None:
    """Two nodes of 4 cores; node 1 is out of service from 12 to 14, node 0 from 16 to 18.

    What is lost is the smaller of what waits and what is free, for so long.
    """
    rows = [
        job(1, 1, 10, 6, submit=0, places={0: 4, 1: 2}),
        job(6, None, None, 1, submit=4, places={}, state="rejected", rejected_by="dispatcher"),
        job(
            5,
            None,
            None,
            99,
            submit=9,
            places={},
            state="rejected",
            rejected_by="over_shared_resource",
        ),
        job(3, 19, 24, 3, submit=6),
        job(2, 14, 25, 4, submit=3, places={1: 4}),
        job(3, 13, 16, 3, submit=6, state="requeued"),
    ]
    outages = [Outage(12, 14, (1,), "maintenance"), Outage(16, 18, (0,), "failure")]
    rounds = [
        Left(0, 1, (0, 0), (2, 2), lost=6 * 1),  # job 1 waits
        # Job 2 (4 cores) waits from 3 on, job 6 (1) from 4 and job 3 (3) from 6; 2 are free. Job 6
        # is rejected.
        Left(3, 8, (7, 7), (2, 2), lost=2 * 5, rejected=1),
        # 7 wait; 8 are free for two seconds, then 4. Job 3 starts.
        Left(10, 13, (4, 4), (1, 1), lost=7 * 2 + 4 * 1),
        Left(14, 14, (0, 0), (1, 1)),  # node 1 is back, and job 2 starts
        # Job 3 has lost node 0, and waits again; nothing is free.
        Left(16, 16, (3, 3), (0, 0)),
        Left(18, 19, (0, 0), (1, 1), lost=3 * 1),
    ]
    assert_bounds(rows, rounds, outages)


def test_several_rounds_of_an_instant() -> None:
    """Which of them started which job is not recorded.

    At 40 job 1 (4 cores) starts and job 2 (5) does not; at 50 job 2 starts as job 1 ends, and job 3
    (2) is over at once. Until a round is over, it holds what it does.
    """
    rows = [
        job(4, None, None, 3, submit=30, places={}, state="rejected", rejected_by="dispatcher"),
        job(1, 40, 50, 4, submit=40),
        job(3, 50, 50, 2, submit=50),
        job(2, 50, 55, 5, submit=40, places={0: 4, 1: 1}),
    ]
    rounds = [
        Left(30, 30, (0, 0), (8, 8), rejected=1),
        Left(40, 40, (5, 9), (4, 8)),
        Left(40, 40, (5, 5), (4, 4)),
        # As many as 7 held at 50, or nothing; after the last, 5 are held for certain.
        Left(50, 50, (0, 7), (1, 8)),
        Left(50, 50, (0, 7), (1, 8)),
        Left(50, 50, (0, 0), (1, 3)),
        Left(55, 55, (0, 0), (8, 8)),
    ]
    assert_bounds(rows, rounds)


def test_a_job_without_length_in_a_round_of_its_own() -> None:
    """It holds all of its node until the round is over; job 2 was rejected and holds nothing."""
    rows = [
        job(1, 0, 0, 2, submit=0, exclusive=True),
        job(
            2,
            None,
            None,
            1,
            submit=0,
            places={},
            state="rejected",
            rejected_by="over_shared_resource",
        ),
        job(3, 0, 9, 1, submit=0, places={1: 1}),
    ]
    assert_bounds(rows, [Left(0, 0, (0, 0), (3, 3))])


def test_two_nodes_out_of_service_at_once() -> None:
    """From 60 on until, and not including, 70."""
    outages = [Outage(60, 70, (0, 1), "maintenance")]
    rows = [job(1, 90, 95, 3, submit=55)]
    rounds = [
        Left(59, 59, (3, 3), (8, 8)),
        Left(60, 60, (3, 3), (0, 0)),
        Left(70, 70, (3, 3), (8, 8)),
        Left(90, 90, (0, 0), (5, 5)),
    ]
    assert_bounds(rows, rounds, outages)


def test_a_rejection_that_no_round_tells_of() -> None:
    """The job waits on, also one that had lost a node at 5 and waits again from then on."""
    rows = [
        job(1, None, None, 3, submit=0, places={}, state="rejected", rejected_by="dispatcher"),
        job(1, 2, 5, 3, submit=0, state="requeued"),
    ]
    rounds = [
        Left(0, 1, (3, 3), (8, 8), lost=3),
        Left(2, 2, (0, 0), (5, 5)),
        Left(6, 8, (3, 3), (8, 8), lost=6),
    ]
    assert_bounds(rows, rounds)


def test_amounts_are_cut_where_the_file_ends() -> None:
    """Two jobs that ask for 2^62 of memory each wait for more than the 2^63 - 1 of the file."""
    rows = [job(k, 50 + k, 60, 2**61, submit=0, places={}) for k in range(2)]
    one = Left(0, 1, (0, 0), (8, 8))
    assert checked(rows, [one], Said([2**62], [8], [8.0])).violations == []
    check = checked(rows, [one], Said([2**62 - 1], [8], [8.0]))
    assert check.violations == [
        f"round 1, second 0: waiting_amounts.core: expected {2**62}, found {2**62 - 1}",
        f"round 1, second 0: waiting_amounts.mem: expected {LARGEST}, found {LARGEST - 1}",
    ]


def test_large_amounts_are_exact() -> None:
    """A float would not tell 2^60 + 1 from 2^60."""
    rows = [job(1, 50, 60, 2**60 + 1, submit=0, places={})]
    one = Left(0, 1, (0, 0), (8, 8))
    assert checked(rows, [one], Said([2**60 + 1], [8], [8.0])).violations == []
    check = checked(rows, [one], Said([2**60], [8], [8.0]))
    message = f"waiting_amounts.core: expected {2**60 + 1}, found {2**60}"
    assert check.violations[0] == f"round 1, second 0: {message}"


@pytest.mark.parametrize(
    ("found", "right"),
    [
        ((6 * (1 + 1e-10), 0.0), True),
        ((6 * (1 + 1e-8), 0.0), False),
        ((6.0, 1e-9), False),
    ],
)
def test_tolerance(found: tuple[float, float], right: bool) -> None:
    """What is lost may differ by a billionth of it, so that nothing is nothing."""
    rows = [job(1, 1, 10, 6, submit=0)]
    rounds = [Left(0, 1, (0, 0), (2, 2)), Left(5, 5, (0, 0), (2, 2))]
    check = checked(rows, rounds, Said([0, 0], [2, 2], found))
    assert (check.violations == []) is right


def test_what_is_not_worked_out() -> None:
    """A partial run's amounts are left alone, and there may be no round."""
    nothing: Any = SimpleNamespace(rounds=SimpleNamespace(batches=lambda _: ()))
    check = amounts_of_rounds(audited(seen(SYSTEM, []), run=nothing))
    assert check is not None
    assert (check.violations, check.notes, check.looked_at) == ([], [], 0)
    check = amounts_of_rounds(audited(seen(SYSTEM, [], partial=True), run=nothing))
    assert check is not None
    assert check.notes == ["amounts of rounds were not worked out again: jobs were left"]
