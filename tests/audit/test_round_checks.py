"""The checks of rounds alone: what they are charged, how many jobs they meet, and in what order."""

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from hpcsched.audit.columns import read_rounds
from hpcsched.audit.rounds import Conditions, Happenings, check_round_rows, happenings
from hpcsched.audit.violations import Check
from hpcsched.simulation.records import Interruption
from hpcsched.system.space import NodeAllocation
from tests.builders import alike
from tests.runs.columns_by_hand import Held, Row, audited, directory, round_columns, seen
from tests.runs.hand_made import DECLARED

SYSTEM = alike(1, core=4)
NO_CONDITIONS = Conditions(hold_back=False, instants=frozenset(), system=SYSTEM)

# Job 1 runs from 0 to 10, job 2 from 10 to 14; the dispatcher rejects job 3 at 5. Row by row as
# they left.
ROWS = [
    Row(3, submit=5, state="rejected", rejected_by="dispatcher"),
    Row(1, 0, 10, submit=0),
    Row(2, 10, 14, submit=3),
]
ROUNDS = [
    Held(0, 0, queued=1, started=1),
    Held(3, 3, queued=1, running=1, waiting=1),
    Held(5, 5, queued=2, running=1, rejected=1, waiting=1),
    Held(10, 10, queued=1, started=1),
]


Charge = tuple[Fraction, Fraction, Fraction, Fraction]


def checked(
    rows: Sequence[Row],
    rounds: Sequence[Held],
    conditions: Conditions = NO_CONDITIONS,
    charge: Charge | None = None,
    happened: Happenings | None = None,
) -> Check:
    """Check rounds of a run whose trace has the same jobs; something else may have happened."""
    at = audited(seen(SYSTEM, rows), rounds, declared=DECLARED._replace(charge=charge))
    check = Check("rounds are right")
    check_round_rows(check, at, happened or happenings(at), conditions)
    return check


def changed(k: int, **values: int) -> list[Held]:
    """Return the rounds with another k-th one."""
    return [one._replace(**values) if n == k else one for n, one in enumerate(ROUNDS)]


def test_right_rounds() -> None:
    """Nothing is found, and each is looked at; a run without jobs has none."""
    check = checked(ROWS, ROUNDS)
    assert (check.violations, check.looked_at) == ([], 4)
    assert checked([], []).violations == []


@pytest.mark.parametrize(
    ("rounds", "message"),
    [
        (changed(0, queued=2), "round 1, second 0: queued: expected 1, found 2"),
        (changed(2, queued=3), "round 3, second 5: queued: expected 2, found 3"),
        (changed(3, queued=0), "round 4, second 10: queued: expected 1, found 0"),
        (changed(3, waiting=1), "round 4, second 10: waiting: expected 0, found 1"),
        (changed(2, waiting=2), "round 3, second 5: waiting: expected 1, found 2"),
        (changed(2, running=2), "round 3, second 5: running: expected 1, found 2"),
        (changed(2, running=0), "round 3, second 5: running: expected 1, found 0"),
        (changed(0, running=1), "round 1, second 0: running: expected 0, found 1"),
        (changed(3, running=1), "round 4, second 10: running: expected 0, found 1"),
        (changed(3, done=11), "round 4, second 10: latency: expected 0, found 1"),
    ],
)
def test_wrong_numbers(rounds: list[Held], message: str) -> None:
    """Each number of a round follows from the jobs and the rounds before."""
    assert message in checked(ROWS, rounds).violations


def test_numbers_of_rounds() -> None:
    """They count from 1."""
    at = audited(seen(SYSTEM, ROWS), ROUNDS)
    at.rounds.round[2] = 7
    check = Check("rounds are numbered")
    check_round_rows(check, at, happenings(at), NO_CONDITIONS)
    assert check.violations == ["round 3, second 5: round: expected 3, found 7"]


def happened(**when: list[int]) -> Happenings:
    """Return what happened when."""
    names = ("arrivals", "events", "ends", "instant")
    return Happenings(*(np.array(when.get(name, []), dtype=np.int64) for name in names))


@pytest.mark.parametrize(
    ("when", "started", "least", "most"),
    [
        # Five have started, one has ended by 10, and one without length before 10: 3 are left, or
        # 2 if one of two that the first round at 10 started was the one without length.
        ({"ends": [10, 50, 60], "instant": [5, 10]}, [(0, 2), (5, 1), (10, 2)], 2, 3),
        # Two have started, and one of them at 10: only that one can be over.
        ({"instant": [10, 10]}, [(0, 1), (10, 1)], 1, 2),
        # The one at 10 is that of the first round, or of this one.
        ({"instant": [10]}, [(0, 1), (10, 2)], 2, 3),
        # Nothing was started at 10 before.
        ({"ends": [4, 11], "instant": [3, 10]}, [(0, 4)], 2, 2),
        ({"ends": [4, 11], "instant": [3, 9]}, [(0, 4)], 1, 1),
    ],
)
def test_running_jobs(
    when: dict[str, list[int]], started: list[tuple[int, int]], least: int, most: int
) -> None:
    """Which round of an instant started a job without length is not recorded: see the bounds."""
    before = [Held(now, now, started=count) for now, count in started]
    number = len(before) + 1
    for running in (least - 1, least, most, most + 1):
        rounds = [*before, Held(10, 10, running=running)]
        check = checked([], rounds, happened=happened(**when))
        expected = str(least) if least == most else f"{least} to {most}"
        found = f"running: expected {expected}, found {running}"
        right = least <= running <= most
        told = f"round {number}, second 10: {found}" in check.violations
        assert told is not right


def test_what_happened() -> None:
    """Job 2 never came into the queue; job 3 came, and was rejected; job 4 came again at 7 and 20.

    The attempt of job 5 that was lost for good is the one that the run has a row of.
    """
    rows = [
        Row(1, 2, 9, submit=2),
        Row(2, submit=3, state="rejected", rejected_by="over_shared_resource"),
        Row(3, submit=4, state="rejected", rejected_by="dispatcher"),
        Row(4, 30, 30, submit=5),
        Row(5, 6, 8, submit=6, state="failed"),
    ]
    nowhere = NodeAllocation((), ())
    lost = [
        Interruption(rows[job_id - 1].traced().job, start, end, nowhere, again)
        for job_id, start, end, again in ((4, 5, 7, True), (4, 20, 20, True), (5, 6, 8, False))
    ]
    found = happenings(audited(seen(SYSTEM, rows, [*rows, Row(6, submit=40)], lost)))
    assert found.arrivals.tolist() == [2, 4, 5, 6, 7, 20, 40]
    assert found.events.tolist() == [2, 3, 4, 5, 6, 7, 8, 9, 20, 30, 40]
    assert found.ends.tolist() == [7, 8, 9]
    assert found.instant.tolist() == [20, 30]


def test_rounds_are_read(tmp_path: Path) -> None:
    """A decision is carried out after its latency; without a solver there are 0 variables."""
    numbers = ("round", "now", "latency", "queued", "running", "started", "rejected", "waiting")
    table = {name: [10 * k, 10 * k + 1] for k, name in enumerate(numbers)}
    table |= {"decision_time": [0.5, 0.25], "solver": [None, {"variables": 7}]}
    table |= {"call_again_at": [None, 9]}
    read = read_rounds(directory(tmp_path, rounds=pa.table(table)))
    columns = (read.round, read.now, read.done, read.queued, read.running, read.started)
    first = [column.tolist()[0] for column in (*columns, read.rejected, read.waiting)]
    assert first == [0, 10, 30, 30, 40, 50, 60, 70]
    assert (read.decision_time.tolist(), read.variables) == ([0.5, 0.25], [0, 7])
    assert read.call_again_at == [None, 9]


def test_rejecting_rounds() -> None:
    """The second round rejected two jobs, the fourth one; of a fourth job no round says so."""
    rounds = round_columns([Held(k, k, rejected=count) for k, count in enumerate((0, 2, 0, 1))])
    assert rounds.rejected_at(4).tolist() == [1, 1, 3, 4]


REFUSED = Row(8, submit=1, state="rejected", rejected_by="dispatcher")


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        ([Row(1, 0, 5), Row(2, 0, 5), Row(3, 0, 9)], []),
        ([Row(1, 0, 7), Row(2, 0, 5), Row(3, 0, 6)], ["job 2: {} at 5, after 7"]),
        # The round at 6 rejects a job.
        ([Row(1, 0, 6), REFUSED, Row(3, 0, 6)], []),
        ([Row(1, 0, 7), REFUSED], ["job 8: {} at 6, after 7"]),
        ([REFUSED, Row(1, 0, 5)], ["job 1: {} at 5, after 6"]),
        # No round says that it rejected a second one; the others are in order or not.
        ([REFUSED, REFUSED, Row(1, 0, 7), Row(2, 0, 6)], ["job 2: {} at 6, after 7"]),
        # What is rejected as it is submitted leaves then.
        (
            [Row(1, 0, 5), Row(2, submit=8, state="rejected", rejected_by="x"), Row(3, 0, 6)],
            ["job 3: {} at 6, after 8"],
        ),
    ],
)
def test_order(rows: list[Row], found: list[str]) -> None:
    """Rows are in the order in which jobs left."""
    rounds = [Held(1, 2), Held(5, 6, rejected=1), Held(9, 9)]
    check = checked(rows, rounds, happened=happened())
    says = "expected its row in order of leaving, found it left"
    assert [line for line in check.violations if says in line] == [
        line.format(says) for line in found
    ]


CHARGE = (Fraction(1, 2), Fraction(1, 10), Fraction(1, 100), Fraction(2))
EACH = [
    # 0.5 + 3 · 0.1 + 20 · 0.01 + 2 · 0.25 = 1.5, of which 1 is charged and 0.5 carried on
    (Held(0, 1, queued=3, decision_time=0.25, variables=20), 1),
    # 0.5 + 0.5 + 1 · 0.1 + 10 · 0.01 + 2 · 0.5 = 2.2
    (Held(10, 12, queued=1, decision_time=0.5, variables=10), 2),
    # 0.2 + 0.5 = 0.7, though nothing took any time
    (Held(20, 20), 0),
    # 0.7 + 0.5 + 2 · 1.5 = 4.2
    (Held(30, 34, decision_time=1.5), 4),
]


def latencies(
    rounds: Sequence[Held], charge: Charge | None, conditions: Conditions = NO_CONDITIONS
) -> Check:
    """Return a check of rounds, of whose violations those of latency are left."""
    check = checked([], rounds, conditions, charge, happened())
    check.violations = [line for line in check.violations if "latency" in line]
    return check


def test_what_rounds_are_charged() -> None:
    """What is not a whole second is carried on to the next round."""
    right = [one for one, _ in EACH]
    assert latencies(right, CHARGE).violations == []
    for k, (one, charged) in enumerate(EACH):
        wrong = [*right[:k], one._replace(done=one.done + 1), *right[k + 1 :]]
        message = (
            f"round {k + 1}, second {one.now}: latency: expected {charged}, found {charged + 1}"
        )
        assert latencies(wrong, CHARGE).violations == [message]
    assert latencies([], CHARGE).violations == []


def test_where_jobs_may_be_held_back() -> None:
    """Where nothing was shown no time is taken; with a charge for each job it is not known."""
    held_back = Conditions(hold_back=True, instants=frozenset(), system=SYSTEM)
    by_base = (Fraction(3), Fraction(0), Fraction(0), Fraction(0))
    asked, idle = Held(0, 3, decision_time=0.1), Held(10, 10)
    assert latencies([asked, idle], by_base, held_back).violations == []
    message = "round 2, second 10: latency: expected 3, found 0"
    check = latencies([asked, idle], by_base)
    assert (check.violations, check.notes) == ([message], [])
    check = latencies([Held(0, 99, queued=1)], CHARGE, held_back)
    assert check.violations == []
    assert check.notes == [
        "latencies were not worked out again: how many jobs were held back is not recorded"
    ]


def test_no_latency() -> None:
    """Where none is declared, decisions are carried out at once."""
    assert latencies([Held(3, 3)], None).violations == []
    message = "round 1, second 3: latency: expected 0, found 1"
    assert latencies([Held(3, 4)], None).violations == [message]
