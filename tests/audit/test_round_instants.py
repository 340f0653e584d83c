"""The check of when rounds are held: at the first instant that calls for one after another."""

import numpy as np
import pytest

from hpcsched.audit.rounds import Conditions, Happenings, check_round_rows, conditions_of
from hpcsched.audit.violations import Check
from hpcsched.system.outages import NO_OUTAGES, Outage, Outages
from hpcsched.system.shared_resources import Change, SharedResource
from hpcsched.system.system import NodeGroup, System
from hpcsched.workload.site_partitions import NO_PARTITIONS, Partition, Partitions
from tests.builders import alike, per_user
from tests.runs.columns_by_hand import Held, Row, audited, seen

SYSTEM = alike(1, core=4)
GROUPS = (NodeGroup("node", 1, {"core": 4}),)
NONE = Conditions(hold_back=False, instants=frozenset(), system=SYSTEM)
AT_15 = Conditions(hold_back=False, instants=frozenset({15}), system=SYSTEM)
AT_15_AND_40 = Conditions(hold_back=False, instants=frozenset({15, 40}), system=SYSTEM)
HELD_BACK = Conditions(hold_back=True, instants=frozenset(), system=SYSTEM)

Round = tuple[int, int, int]
"""When it was asked for and carried out, and how many jobs wait then."""


def found(
    rounds: list[Round],
    arrivals: list[int],
    events: list[int],
    instant: list[int],
    conditions: Conditions = NONE,
    *,
    partial: bool = False,
) -> list[str]:
    """Return what is said of when rounds are held."""
    columns = (np.array(when, dtype=np.int64) for when in (arrivals, events, [], instant))
    held = [Held(now, done, waiting=left) for now, done, left in rounds]
    check = Check("rounds are held when something happens")
    at = audited(seen(SYSTEM, [], partial=partial), held)
    check_round_rows(check, at, Happenings(*columns), conditions)
    return [line for line in check.violations if "expected at" in line]


@pytest.mark.parametrize(
    ("rounds", "arrivals", "events", "instant", "message"),
    [
        # While nothing waits, an end calls for no round.
        ([(0, 0, 0), (5, 5, 0)], [0, 5], [0, 3, 5], [], None),
        (
            [(0, 0, 0), (3, 3, 0), (5, 5, 0)],
            [0, 5],
            [0, 3, 5],
            [],
            "round 2: expected at second 5, found at second 3",
        ),
        # While something waits, it does.
        ([(0, 0, 1), (3, 3, 0)], [0], [0, 3], [], None),
        (
            [(0, 0, 1), (5, 5, 0)],
            [0, 5],
            [0, 3, 5],
            [],
            "round 2: expected at second 3, found at second 5",
        ),
        # A job that is refused as it is submitted calls for none.
        ([(5, 5, 0)], [5], [0, 5], [], None),
        ([(0, 0, 0)], [0], [0, 5], [], None),
        ([(0, 0, 0)], [0, 5], [0, 5], [], "round 2: expected at second 5, found none"),
        (
            [(0, 0, 0), (9, 9, 0)],
            [0],
            [0],
            [],
            "round 2: expected at no second, found at second 9",
        ),
        # Something happened while a decision was awaited: the next is due at once.
        ([(0, 4, 1), (4, 4, 0)], [0, 2], [0, 2], [], None),
        ([(0, 4, 1), (4, 4, 0)], [0, 4], [0, 4], [], None),
        (
            [(0, 4, 1), (5, 5, 0)],
            [0, 2, 5],
            [0, 2, 5],
            [],
            "round 2: expected at second 4, found at second 5",
        ),
        # Nothing happened then, but only before.
        ([(0, 4, 1), (9, 9, 0)], [0, 9], [0, 9], [], None),
        ([(0, 0, 1), (5, 7, 2), (20, 20, 0)], [0, 5, 20], [0, 5, 20], [], None),
        # A job without length started at 10 and was over at once.
        ([(10, 10, 1), (10, 10, 0)], [10], [10, 30], [10], None),
        (
            [(10, 10, 1), (30, 30, 0)],
            [10],
            [10, 30],
            [10],
            "round 2: expected at second 10, found at second 30",
        ),
        ([(10, 10, 1)], [10], [10, 30], [10], "round 2: expected at second 10, found none"),
        # That may have been in the last of several rounds at 10.
        ([(10, 10, 1), (10, 10, 1), (30, 30, 0)], [10], [10, 30], [10], None),
        ([(10, 10, 1), (10, 10, 1), (10, 10, 0)], [10], [10, 30], [10], None),
        (
            [(10, 10, 1), (10, 10, 1), (20, 20, 0)],
            [10],
            [10, 30],
            [10],
            "round 3: expected at second 10 or 30, found at second 20",
        ),
        # Nothing without length was there.
        (
            [(10, 10, 1), (10, 10, 1), (30, 30, 0)],
            [10],
            [10, 30],
            [],
            "round 2: expected at second 30, found at second 10",
        ),
    ],
)
def test_instants(
    rounds: list[Round],
    arrivals: list[int],
    events: list[int],
    instant: list[int],
    message: str | None,
) -> None:
    """The first round that is not held when it should is told, with when it should."""
    said = found(rounds, arrivals, events, instant)
    assert said[:1] == ([] if message is None else [message])


def test_every_round_is_looked_at() -> None:
    """Rounds that are right stand between those that are not."""
    rounds = [(1, 1, 0), (5, 5, 0), (6, 6, 0)]
    assert found(rounds, [0, 5, 7], [0, 5, 7], []) == [
        "round 1: expected at second 0, found at second 1",
        "round 3: expected at second 7, found at second 6",
        "round 4: expected at second 7, found none",
    ]


@pytest.mark.parametrize(
    ("rounds", "conditions", "message"),
    [
        # Something but an arrival or an end may call for a round at 15, sooner than 30.
        ([(0, 0, 1), (15, 15, 1), (30, 30, 0)], AT_15, None),
        ([(0, 0, 1), (30, 30, 0)], AT_15, None),
        ([(0, 0, 1), (15, 15, 1), (30, 30, 0)], HELD_BACK, "at second 0 or 30, found at second 15"),
        ([(0, 0, 1), (15, 15, 1), (30, 30, 0)], NONE, "at second 30, found at second 15"),
        ([(0, 0, 1), (16, 16, 1), (30, 30, 0)], AT_15, "at second 0 or 30, found at second 16"),
        ([(0, 0, 1), (40, 40, 0)], AT_15_AND_40, "at second 0 or 30, found at second 40"),
        ([(0, 20, 1), (15, 15, 1)], AT_15, "at second 20 or 30, found at second 15"),
        ([(0, 0, 1), (30, 30, 1), (40, 40, 0)], AT_15_AND_40, None),
        # Jobs that were held back may be let go at once.
        ([(0, 0, 1), (0, 0, 1), (30, 30, 0)], HELD_BACK, None),
        ([(0, 0, 1), (0, 0, 1), (30, 30, 0)], NONE, "at second 30, found at second 0"),
        # Nothing waits then.
        ([(0, 0, 0), (15, 15, 0)], AT_15, "at no second, found at second 15"),
        # A round that is called for once is no reason to look at others no more.
        (
            [(0, 0, 1), (15, 15, 1), (17, 17, 1), (30, 30, 0)],
            AT_15,
            "at second 15 or 30, found at second 17",
        ),
    ],
)
def test_conditions(rounds: list[Round], conditions: Conditions, message: str | None) -> None:
    """A job comes at 0 and something ends at 30; conditions allow for other rounds, too."""
    said = [line.partition("expected ")[2] for line in found(rounds, [0], [0, 30], [], conditions)]
    assert said[:1] == ([] if message is None else [message])


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (6, None),
        (10, "round 2: expected at second 6, found at second 10"),
        (5, "round 2: expected at second 6, found at second 5"),
    ],
)
def test_a_round_that_was_asked_for(second: int, message: str | None) -> None:
    """The dispatcher asked at 2 for a round at 6, and a job ends at 10 only."""
    rounds = [Held(2, 2, waiting=1, call_again_at=6), Held(second, second)]
    columns = (np.array(when, dtype=np.int64) for when in ([2], [2, 10], [], []))
    check = Check("rounds are held when something happens")
    check_round_rows(check, audited(seen(SYSTEM, []), rounds), Happenings(*columns), NONE)
    assert [line for line in check.violations if "expected at" in line] == (
        [] if message is None else [message]
    )


def test_what_is_due_comes_before_conditions() -> None:
    """An end at 4, while the decision was awaited, calls for a round then, and not at 15 alone."""
    rounds = [(0, 6, 1), (15, 15, 0)]
    (said,) = found(rounds, [0], [0, 4], [], AT_15)
    assert said == "round 2: expected at second 6, found at second 15"


def test_partial_runs() -> None:
    """The rounds that would have come are not there; those that are must be right."""
    assert found([(5, 5, 1)], [5], [0, 5, 9], [], partial=True) == []
    (said,) = found([(6, 6, 1)], [5], [0, 5, 9], [], partial=True)
    assert said == "round 1: expected at second 5, found at second 6"


def test_shared_resources_may_call_for_rounds() -> None:
    """One changes at 5 and every 20 s from then on, the other once at 7; an outage ends at 9."""
    again = SharedResource("power", 9, changes=(Change(5, 4),), every=20)
    once = SharedResource("heat", 9, changes=(Change(7, 4),))
    conditions = Conditions(False, frozenset({9}), System(GROUPS, shared_resources=(again, once)))
    times = [time for time in range(50) if conditions.may_be_at(time)]
    assert times == [5, 7, 9, 25, 45]


@pytest.mark.parametrize(
    ("conditions", "any_"),
    [
        (NONE, False),
        (AT_15, True),
        (HELD_BACK, True),
        (
            Conditions(
                False, frozenset(), System(GROUPS, shared_resources=(SharedResource("power", 9),))
            ),
            True,
        ),
    ],
)
def test_whether_there_are_conditions(conditions: Conditions, any_: bool) -> None:
    """One of a kind is enough."""
    assert conditions.any is any_


JOBS = [Row(1, 0, 10), Row(2, 3, 12, submit=2)]
OUTAGES = Outages((Outage(5, 9, (0,), "failure"),))


@pytest.mark.parametrize(
    ("think", "partition", "outages", "hold_back", "instants"),
    [
        (None, None, NO_OUTAGES, False, set()),
        (None, Partition("all"), NO_OUTAGES, False, set()),
        (None, Partition("all", limits=per_user(nodes=1)), NO_OUTAGES, True, set()),
        (None, None, OUTAGES, True, {5, 9}),
        # Jobs leave at 10 and 12; job 1 has no think time, job 2 has 20 s.
        (20, None, NO_OUTAGES, True, {10, 12, 30, 32}),
        (20, None, OUTAGES, True, {5, 9, 10, 12, 30, 32}),
    ],
)
def test_conditions_of_a_run(
    think: int | None,
    partition: Partition | None,
    outages: Outages,
    hold_back: bool,
    instants: set[int],
) -> None:
    """Outages, limits, and jobs that wait for others hold jobs back, the last at other instants."""
    later = JOBS[1].traced() if think is None else JOBS[1].traced(after=(1,), think_time=think)
    partitions = NO_PARTITIONS if partition is None else Partitions([partition])
    at = seen(SYSTEM, JOBS, [JOBS[0], later], partitions=partitions, outages=outages)
    assert conditions_of(audited(at)) == Conditions(hold_back, frozenset(instants), SYSTEM)
