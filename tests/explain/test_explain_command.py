"""The command `explain`, from a scenario to what is printed, on schedules worked out by hand."""

import json
import sys
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from hpcsched import Decision, DispatchingProblem, Plugin, hookimpl
from hpcsched.cli import main
from hpcsched.dispatching.decision import Reason
from hpcsched.testing import UsePlugins
from hpcsched_slurm import plugins as slurm
from tests.builders import easy
from tests.report.named_site import shown, write_site

# On four cores: 2 needs all of them and waits for 1 until 100; 3 ends before that, and is
# backfilled; 4 has no room until 3 ends at 80, and would then delay 2, which ends at 150.
JOBS = """\
1 0 -1 100 3 -1 -1 3 100 -1 1 7 -1 -1 -1 1 -1 -1
2 10 -1 50 4 -1 -1 4 50 -1 1 7 -1 -1 -1 1 -1 -1
3 20 -1 60 1 -1 -1 1 60 -1 1 7 -1 -1 -1 1 -1 -1
4 30 -1 500 1 -1 -1 1 500 -1 1 7 -1 -1 -1 1 -1 -1
"""
SCENARIO = """\
name: four-cores
system: {groups: [{name: node, count: 4, resources: {core: 1}}]}
trace: {source: swf, path: trace.swf}
dispatcher: easy
objective: af
"""


class Silent:
    """EASY that gives no reasons."""

    def __init__(self, fails_at: int | None = None, but_for: int = 0) -> None:
        self._easy = easy()
        self._fails_at = fails_at
        self._but_for = but_for

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Return EASY's decision, with a reason for one job at most."""
        if self._fails_at is not None and problem.now >= self._fails_at:
            raise RuntimeError("out of ideas")
        decision = self._easy.dispatch(problem)
        reasons = tuple(r for r in decision.reasons if r.job_id == self._but_for)
        return decision._replace(reasons=reasons)


class Choosy:
    """Rejects job 2 in its second round, with a word to say of it before."""

    def __init__(self) -> None:
        self._easy = easy()

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Return what EASY says of the other jobs."""
        held = [job for job in problem.queue if job.job_id == 2]
        others = tuple(job for job in problem.queue if job.job_id != 2)
        decision = self._easy.dispatch(problem._replace(queue=others))
        waits = problem.now < 20
        own = tuple(Reason(2, "limit", detail="it is the second job") for _ in held if waits)
        return decision._replace(
            rejected=tuple(job.job_id for job in held if not waits),
            reasons=(*decision.reasons, *own),
        )


@hookimpl
def hpcsched_dispatchers() -> Iterable[Plugin]:
    """Return dispatchers that say little."""
    for name, make in {
        "silent": Silent,
        "mostly-silent": lambda: Silent(but_for=4),
        "explaining-until-it-fails": lambda: Silent(fails_at=100, but_for=4),
        "explaining-and-failing-later": lambda: Silent(fails_at=160, but_for=4),
        "choosy": Choosy,
    }.items():
        yield Plugin(name, "for tests", lambda _params, _context, make=make: make())


@pytest.fixture(autouse=True)
def _plugins(use_plugins: UsePlugins) -> None:
    """Let scenarios select the dispatchers of this module, and the log of Slurm."""
    use_plugins(sys.modules[__name__], slurm)


class Ran:
    """A run directory, and what commands print about it."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.out = folder / "out"
        self._folder, self._capsys = folder, capsys

    def run(self, *settings: str, code: int = 0, jobs: str = JOBS, explain: bool = True) -> None:
        """Run the scenario with these settings."""
        (self._folder / "trace.swf").write_text(jobs)
        scenario = self._folder / "scenario.yaml"
        scenario.write_text(SCENARIO)
        options = [part for setting in settings for part in ("--set", setting)]
        options += ["--explain"] if explain else []
        assert main(["run", str(scenario), "--out", str(self.out), "--force", *options]) == code
        self._capsys.readouterr()

    def text(self, job: int) -> list[str]:
        """Return the lines that explain a job."""
        assert main(["explain", str(self.out), str(job)]) == 0
        return self._capsys.readouterr().out.splitlines()

    def part(self, job: int, title: str) -> list[str]:
        """Return the lines below a title."""
        lines = self.text(job)
        below = lines[lines.index(title) + 1 :]
        return [line.strip() for line in below[: [*below, ""].index("")]]

    def json(self, job: int) -> Any:
        """Return the explanation as a program reads it."""
        assert main(["explain", str(self.out), str(job), "--format", "json"]) == 0
        return json.loads(self._capsys.readouterr().out)

    def error(self, job: int) -> str:
        """Return the one line that says why a job cannot be explained."""
        assert main(["explain", str(self.out), str(job)]) == 1
        (line,) = self._capsys.readouterr().err.splitlines()
        return line


@pytest.fixture
def ran(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Ran:
    """Return a place to run the scenario in."""
    return Ran(tmp_path, capsys)


WAITED, STARTED, HELD_UP = "Why it waited:", "How it started:", "What it held up:"


@pytest.mark.parametrize("dispatcher", ["easy", "{name: list, option: backfill}"])
def test_the_one_that_holds_up(dispatcher: str, ran: Ran) -> None:
    """Job 2 waits for room, is passed by job 3, and job 4 waits for its sake."""
    ran.run(f"dispatcher={dispatcher}")
    lines = ran.text(2)
    assert lines[:5] == [
        "job 2 of the run four-cores (complete)",
        "It asked for 4 units of 1 core, for up to 50 s.",
        "It was predicted to run for 50 s.",
        "It was submitted at 10 s, started at 100 s and ended at 150 s (completed).",
        "It waited for 90 s.",
    ]
    assert ran.part(2, WAITED) == [
        "at 10 s (0 s after its submission), round 2, for 90 s: there was no room for it;"
        " a start at 100 s was planned"
    ]
    assert ran.part(2, STARTED)[0].startswith("at 100 s (90 s after its submission), round 6: in")
    assert ran.part(2, HELD_UP) == [
        "a job waited because of the reservation for it: 4 (from 80 s, for 20 s)"
    ]
    assert lines[-1] == "While it waited, a job backfilled past it: 3 (at 20 s)"


@pytest.mark.parametrize("dispatcher", ["easy", "{name: list, option: backfill}"])
def test_a_backfilled_job(dispatcher: str, ran: Ran) -> None:
    """Job 3 starts at once, and it is said which job it passed, and for how long that waited."""
    ran.run(f"dispatcher={dispatcher}")
    assert WAITED not in ran.text(3)
    assert ran.part(3, STARTED) == [
        "at 20 s (0 s after its submission), round 3: backfilled: it passed job 2 (4 units of"
        " 1 core, to run for 50 s, submitted at 10 s), the first that waited"
    ]
    assert ran.part(3, HELD_UP) == ["it started before a job submitted earlier: 2"]


@pytest.mark.parametrize("dispatcher", ["easy", "{name: list, option: backfill}"])
def test_a_job_held_by_a_reservation(dispatcher: str, ran: Ran) -> None:
    """Job 4 has no room, then would delay job 2, then has no room beside it."""
    ran.run(f"dispatcher={dispatcher}")
    found = ran.json(4)
    waits = [(w["now"], w["until"], w["kind"], w["job"]) for w in found["waits"]]
    assert [wait for wait in waits if wait[2] != "no_room"] == [(80, 100, "reserved_for", 2)]
    assert waits[0][0] == 30
    assert waits[-1][1] == 150
    assert all(one[1] == other[0] for one, other in pairwise(waits))
    assert (found["start"]["kind"], found["start"]["now"], found["start_time"]) == (
        "in_order",
        150,
        150,
    )
    assert found["others"]["2"]["predicted_run_time"] == 50
    lines = ran.part(4, WAITED)
    assert (
        "at 80 s (50 s after its submission), round 5, for 20 s: there was room, but to start it"
        " would have delayed job 2 (4 units of 1 core, to run for 50 s, submitted at 10 s)"
        in " ".join(lines)
    )
    assert lines[-1] == "in all: no_room 100 s, reserved_for 20 s"


@pytest.mark.parametrize("dispatcher", ["joint-now", "cp"])
def test_a_job_that_a_solver_postpones(dispatcher: str, ran: Ran) -> None:
    """To start job 4 at 80 would cost job 2 far more than the 70 seconds that 4 waits instead."""
    ran.run(f"dispatcher={dispatcher}")
    found = ran.json(4)
    (postponed,) = [w for w in found["waits"] if w["kind"] == "solver_postponed"]
    assert (postponed["now"], postponed["until"], postponed["time"]) == (80, 150, 150)
    assert {w["kind"] for w in found["waits"]} == {"no_room", "solver_postponed"}
    assert (
        "at 80 s (50 s after its submission), round 5, for 70 s: the plan had it start later,"
        " at 150 s, though there may have been room" in ran.part(4, WAITED)
    )
    assert ran.part(3, STARTED) == [
        "at 20 s (0 s after its submission), round 3: the plan started it then"
    ]


def test_a_job_behind_a_limit(ran: Ran) -> None:
    """A user may run one job: job 3 would fit at 20, and waits until 150 with 1 and 2 before it."""
    ran.run("partitions=[{name: all, limits: {per_user: {jobs: 1}}}]")
    lines = ran.part(3, WAITED)
    assert lines[0] == (
        "at 20 s (0 s after its submission), round 3, for 130 s: a limit held it back:"
        " partition all: MaxJobsPerUser=1"
    )
    assert ran.json(3)["start_time"] == 150


def test_a_dispatcher_that_gives_no_reason(ran: Ran) -> None:
    """That is said, and nothing is made up; a job that did not wait has nothing to explain."""
    ran.run("dispatcher=silent")
    assert ran.part(4, WAITED) == [
        "at 30 s (0 s after its submission), round 4, for 120 s: the dispatcher gave no reason"
    ]
    assert ran.part(4, STARTED) == ["at 150 s: the dispatcher gave no reason"]
    assert ran.part(2, HELD_UP) == ["nothing"]
    assert WAITED not in ran.text(1)


def test_a_dispatcher_that_leaves_out_jobs(ran: Ran) -> None:
    """Of a job that it tells of there is an explanation, whatever it keeps of others."""
    ran.run("dispatcher=mostly-silent")
    assert ran.part(2, STARTED) == ["at 100 s: the dispatcher gave no reason"]
    assert ran.part(2, HELD_UP) == [
        "a job waited because of the reservation for it: 4 (from 80 s, for 20 s)"
    ]
    assert len(ran.json(4)["waits"]) == 3


def test_a_job_that_was_rejected(ran: Ran) -> None:
    """It never started, and what was said of it before is told."""
    ran.run("dispatcher=choosy")
    lines = ran.text(2)
    assert "It was rejected (dispatcher), and never started." in lines
    assert ran.part(2, WAITED)[0].endswith("round 2: a limit held it back: it is the second job")
    assert ran.part(2, STARTED) == ["it did not start"]


def test_a_run_that_was_broken_off(ran: Ran) -> None:
    """What a waiting job asked for comes from the trace, as long as that can be read."""
    ran.run("dispatcher=explaining-until-it-fails", code=3)
    lines = ran.text(4)
    assert lines[:3] == [
        "job 4 of the run four-cores (failed)",
        "It asked for 1 unit of 1 core, for up to 500 s.",
        "It was submitted at 30 s.",
    ]
    assert ran.part(4, WAITED)[-2:] == [
        "at 80 s (50 s after its submission), round 5: there was room, but to start it would have"
        " delayed job 2 (4 units of 1 core, to run for 50 s, submitted at 10 s)",
        "in all: no_room 50 s",
    ]
    assert ran.part(4, STARTED) == ["it did not start"]
    (ran.out.parent / "trace.swf").unlink()
    lines = ran.text(4)
    assert lines[1] == (
        "What it asked for is not known: it had not ended, and the trace does not tell."
    )
    assert ran.part(4, WAITED)[0].startswith("at 30 s, round 4, for 50 s: there was no room")


PLACED = """\
job_id,submit_time,run_time,requested_time,units,exclusive,one_unit_per_node
1,0,10,10,2,true,true
2,0,10,10,1,true,true
3,0,10,10,2,false,true
4,0,10,10,2,false,false
"""


def test_how_units_lie_on_nodes(ran: Ran, tmp_path: Path) -> None:
    """Whether a job has one unit per node, which says nothing of a single unit, and exclusive."""
    (tmp_path / "placed.csv").write_text(PLACED)
    ran.run("trace={source: table, path: placed.csv}")
    apart, alone = ", each on a node of its own", ", on nodes shared with no other job"
    for job, said in {
        1: f"2 units of 1 core{apart}{alone}",
        2: f"1 unit of 1 core{alone}",
        3: f"2 units of 1 core{apart}",
        4: "2 units of 1 core",
    }.items():
        assert ran.text(job)[1] == f"It asked for {said}, for up to 10 s."
    found = [ran.json(job)["job"] for job in (1, 2, 3, 4)]
    assert [one["exclusive"] for one in found] == [True, True, False, False]
    assert [one["one_unit_per_node"] for one in found] == [True, True, True, False]


def test_a_job_that_was_running_when_the_run_was_broken_off(ran: Ran) -> None:
    """When it started comes from the round that started it."""
    later = "5 170 -1 10 4 -1 -1 4 10 -1 1 7 -1 -1 -1 1 -1 -1\n"
    ran.run("dispatcher=explaining-and-failing-later", code=3, jobs=JOBS + later)
    assert ran.text(4)[2:4] == [
        "It was submitted at 30 s and started at 150 s.",
        "It waited for 120 s.",
    ]
    assert ran.part(4, STARTED)[0].startswith("at 150 s (120 s after its submission), round 7: in")


def test_errors(ran: Ran, tmp_path: Path) -> None:
    """An unknown job, a run without reasons, and no run at all: one line each."""
    ran.run()
    assert ran.error(5) == (
        f"{ran.out}: error: there is no job 5: the run has 4 jobs, with numbers from 1 to 4"
        " [unknown-job]"
    )
    ran.run(explain=False)
    assert ran.error(1) == (
        f"{ran.out}: error: no reasons were recorded: run it with --explain, or with"
        " 'observers: [reasons]' in its scenario [no-reasons]"
    )
    assert not (ran.out / "reasons.parquet").exists()
    ran.out = tmp_path / "nowhere"
    assert ran.error(1).startswith(f"{tmp_path}: error: 'nowhere' is none of these runs")
    ran.out = tmp_path / "nowhere" / "deeper"
    assert ran.error(1).endswith("it is not a directory [not-a-run]")


def test_the_option_is_an_observer(ran: Ran) -> None:
    """It stands in the resolved scenario beside others, once; equal runs give equal bytes."""
    ran.run("observers=[event-log]")
    assert "- name: event-log\n- name: reasons\n" in (ran.out / "scenario.yaml").read_text()
    first = (ran.out / "reasons.parquet").read_bytes()
    ran.run("observers=[reasons]")
    assert "observers:\n- name: reasons\nsimulation:" in (ran.out / "scenario.yaml").read_text()
    assert (ran.out / "reasons.parquet").read_bytes() == first


def test_dates_of_a_log_of_slurm(tmp_path: Path) -> None:
    """Job 2 of the site waits for job 1, from 10:00:10 to 10:01:40 by the clock of Prague."""
    (run,) = write_site(tmp_path)
    text = shown("explain", run, "2")
    assert "Times are by the clock of the log, Europe/Prague." in text
    assert "submitted at 2024-03-01 10:00:10, started at 2024-03-01 10:01:40" in text
    assert json.loads(shown("explain", run, "2", "--format", "json"))["start_time"] == 1709283700
