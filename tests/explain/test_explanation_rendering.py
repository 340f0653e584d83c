"""Explanations made by hand, as sentences and for JSON."""

from typing import Any

import pytest

from hpcsched.dispatching.decision import ReasonKind
from hpcsched.explain.explanation import ChosenFrom, Explanation, HeldUp, JobFacts, Overtaking, Wait
from hpcsched.runs.observers import ReasonRow
from hpcsched.workload.trace_calendar import calendar_of

FACTS = JobFacts(
    7, 10, 600, 2, {"core": 4, "mem": 0}, predicted_run_time=300, state="completed",
    start_time=100, end_time=400,
)  # fmt: skip
OTHER = JobFacts(3, 0, 50, 1, {"core": 8})
IN_ORDER = ReasonRow(9, 100, 7, "in_order", None, None, "")


def made(**changes: Any) -> Explanation:
    """Return the explanation of a job that waited from 10 to 100, with some values changed."""
    content: dict[str, Any] = {
        "run": "small",
        "status": "complete",
        "job_id": 7,
        "facts": FACTS,
        "started": 100,
        "waits": (),
        "start": IN_ORDER,
        "held_up": (),
        "passed": (),
        "passed_by": (),
        "others": {},
    }
    return Explanation(**content | changes)


def lines(**changes: Any) -> list[str]:
    """Return the lines of an explanation."""
    return str(made(**changes)).splitlines()


def wait(kind: ReasonKind | None, begin: int, until: int | None, **more: Any) -> Wait:
    """Return a wait from round 2 on."""
    return Wait(2, begin, until, kind, *(more.get(k) for k in ("job", "time")), more.get("why", ""))


def waited(*waits: Wait, **changes: Any) -> list[str]:
    """Return the lines that say why a job waited."""
    found = lines(waits=waits, **changes)
    begin = found.index("Why it waited:") + 1
    return [line.strip() for line in found[begin : found.index("", begin)]]


def test_all_of_a_job_that_waited_for_nothing_in_particular() -> None:
    """Amounts of 0 are no part of a request; times are those of the records."""
    assert lines() == [
        "job 7 of the run small (complete)",
        "It asked for 2 units of 4 core, for up to 600 s.",
        "It was predicted to run for 300 s.",
        "It was submitted at 10 s, started at 100 s and ended at 400 s (completed).",
        "It waited for 90 s.",
        "",
        "How it started:",
        "  at 100 s (90 s after its submission), round 9: in order, as nothing that came before it"
        " had to wait",
        "",
        "What it held up:",
        "  nothing",
    ]


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        ({"core": 1, "mem": 3 << 30, "gpu": 2}, "1 core, 3 GiB mem and 2 gpu"),
        ({"mem": 1 << 40}, "1 TiB mem"),
        ({"mem": 1536 << 20}, "1536 MiB mem"),
        ({"mem": (1 << 20) + 1}, "1048577 mem"),
        ({"core": 0}, "nothing"),
    ],
)
def test_amounts(request_: dict[str, int], said: str) -> None:
    """Whole multiples of a large unit are told in it; 1.5 GiB are 1536 MiB."""
    assert lines(facts=FACTS._replace(unit_request=request_))[1] == (
        f"It asked for 2 units of {said}, for up to 600 s."
    )


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        (wait("no_room", 10, 40), "there was no room for it"),
        (
            wait("no_room", 10, 40, time=90),
            "there was no room for it; a start at 90 s was planned",
        ),
        (
            wait("reserved_for", 10, 40, job=4),
            "there was room, but to start it would have delayed job 4",
        ),
        (
            wait("behind", 10, 40),
            "it was behind another job, which waited, and which none may pass",
        ),
        (
            wait("beyond_depth", 10, 40),
            "it came after all reservations had been given out, and had none",
        ),
        (wait("not_planned", 10, 40, why="too many"), "the plan left it out (too many)"),
        (wait("limit", 10, 40, why="partition day"), "a limit held it back: partition day"),
        (wait("dependency", 10, 40, job=4), "it had to wait for job 4 to end"),
        (wait("recorded_later", 10, 40, time=100), "the log has it start later, at 100 s"),
        (
            wait("outage", 10, 40, why="node 3"),
            "too few nodes were in service for it: node 3",
        ),
        (
            wait("outage", 10, 40, time=100, why="maintenance weekly"),
            "it had to wait for the end of maintenance weekly; a start at 100 s was planned",
        ),
        (wait(None, 10, 40), "the dispatcher gave no reason"),
    ],
)
def test_reasons_to_wait(reason: Wait, said: str) -> None:
    """Each kind has a sentence; a detail is told once."""
    assert waited(reason) == [f"at 10 s (0 s after its submission), round 2, for 30 s: {said}"]


def test_waits_are_added_up_by_kind() -> None:
    """No room for 30 + 25 s, a reservation for 20 s; the last has no end, and adds nothing."""
    found = waited(
        wait("no_room", 10, 40),
        wait("reserved_for", 40, 60, job=4),
        wait("no_room", 60, 85),
        wait(None, 85, 90),
        wait("limit", 90, None, why="x"),
    )
    assert found[-1] == "in all: no_room 55 s, reserved_for 20 s, no reason given 5 s"
    assert found[-2] == "at 90 s (80 s after its submission), round 2: a limit held it back: x"


def test_another_job_is_described_once() -> None:
    """Its requested time stands for a predicted one that is not known."""
    first, second, _ = waited(
        wait("behind", 10, 20, job=3), wait("reserved_for", 20, 30, job=3), others={3: OTHER}
    )
    assert "job 3 (1 unit of 8 core, to run for 50 s, submitted at 0 s)" in first
    assert second.endswith("would have delayed job 3")


def test_many_reasons_are_shortened() -> None:
    """Of 45 the first 20 and the last 20 are shown."""
    found = waited(*(wait("no_room", 10 + k, 11 + k) for k in range(45)))
    assert len(found) == 20 + 1 + 20 + 1
    assert found[20] == "… 5 more, which --format json has"
    assert [found[k].split(" (")[0] for k in (19, 21)] == ["at 29 s", "at 35 s"]
    assert len(waited(*(wait("no_room", 10 + k, 11 + k) for k in range(40)))) == 41


def test_how_it_started() -> None:
    """A backfilled job passed one that had waited for 100 - 0 s; a plan needs no more words."""
    start = lines(start=IN_ORDER._replace(kind="backfilled", job=3), others={3: OTHER})
    assert start[7].endswith(
        "backfilled: it passed job 3 (1 unit of 8 core, to run for 50 s, submitted at 0 s), the"
        " first that waited"
    )
    start = lines(start=IN_ORDER._replace(kind="planned", detail="by hand"))
    assert start[7].endswith("round 9: the plan started it then (by hand)")
    assert lines(start=None)[7] == "  at 100 s: the dispatcher gave no reason"
    assert lines(start=None, started=None)[6] == "  it did not start"
    chosen = lines(chosen=ChosenFrom(5, 60, "easy", "the queue was long"))
    assert chosen[8] == "  easy decided, since round 5, at 60 s: the queue was long."


def test_what_it_held_up() -> None:
    """Reservations apart from others; of seven jobs five are named."""
    found = lines(
        held_up=[
            HeldUp(8, 20, 5, "reserved_for"),
            HeldUp(9, 25, 10, "behind"),
            HeldUp(11, 30, 10, "dependency"),
        ],
        passed=(1, 2, 3, 4, 5, 6, 12),
        passed_by=(Overtaking(13, 50), Overtaking(14, 60)),
    )
    assert found[found.index("What it held up:") + 1 :] == [
        "  a job waited because of the reservation for it: 8 (from 20 s, for 5 s)",
        "  2 jobs waited behind it: 9 (from 25 s, for 10 s), 11 (from 30 s, for 10 s)",
        "  it started before 7 jobs submitted earlier: 1, 2, 3, 4, 5, and 2 more",
        "",
        "While it waited, 2 jobs backfilled past it: 13 (at 50 s), 14 (at 60 s)",
    ]


def test_earlier_attempts() -> None:
    """Runs that were lost with a node are told."""
    found = lines(facts=FACTS._replace(requeues=2, lost_time=80))
    assert found[4] == "Attempts that were lost before: 2, of 80 s in all."


def test_for_programs() -> None:
    """Waits have their time since the submission, which is null where that is unknown."""
    waits = (wait("reserved_for", 40, 60, job=3),)
    content = made(waits=waits, passed=(3,), others={3: OTHER}).content()
    assert (content["job_id"], content["start_time"], content["passed"]) == (7, 100, [3])
    assert content["waits"] == [
        {
            "round": 2, "now": 40, "until": 60, "kind": "reserved_for", "job": 3, "time": None,
            "detail": "", "since_submission": 30,
        }
    ]  # fmt: skip
    assert content["others"]["3"]["submit_time"] == 0
    assert (content["start"]["kind"], content["chosen"]) == ("in_order", None)
    unknown = made(facts=None, waits=waits, start=None).content()
    assert (unknown["job"], unknown["start"]) == (None, None)
    assert unknown["waits"][0]["since_submission"] is None


def test_dates_where_the_log_has_them() -> None:
    """The log begins at 10:00 in Prague: 10, 100 and 400 s later. Durations stay seconds."""
    calendar = calendar_of(("UnixStartTime: 1709283600", "TimeZoneString: Europe/Prague"), 0)
    waits = (wait("no_room", 10, 100, time=130),)
    text = str(made(calendar=calendar, waits=waits))
    assert "Times are by the clock of the log, Europe/Prague." in text
    assert (
        "It was submitted at 2024-03-01 10:00:10, started at 2024-03-01 10:01:40 and ended at"
        " 2024-03-01 10:06:40 (completed)." in text
    )
    assert (
        "at 2024-03-01 10:00:10 (0 s after its submission), round 2, for 90 s: there was no room"
        " for it; a start at 2024-03-01 10:02:10 was planned" in text
    )
    # JSON keeps seconds.
    assert made(calendar=calendar).content()["start_time"] == 100
