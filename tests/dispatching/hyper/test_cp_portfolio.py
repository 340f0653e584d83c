"""The portfolio of CP dispatchers: which member decides a round, and what that costs."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from typer.testing import CliRunner

import hpcsched
from hpcsched.cli import app
from hpcsched.dispatching.cp.model_solving import Answer
from hpcsched.dispatching.cp.solver_limits import Budget
from hpcsched.dispatching.cp.solver_process import InProcess
from hpcsched.dispatching.decision import Decision
from hpcsched.dispatching.hyper.cp_portfolio import CpMember, CpPortfolio
from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.errors import InputError
from hpcsched.testing import audit_replay, make_problem, make_system
from tests.builders import Told, replay
from tests.dispatching.cp.making import Scripted, cp_dispatcher
from tests.strategies import mixed_workloads, tries

SYSTEM = make_system(2, core=4)

ALIKE = """
job_id  units  core  requested_time  start_time
1       1      4     50              0
2       1      4     30              -
3       1      4     10              -
"""
"""One node is free for jobs 2 and 3, which request the same: symmetric."""

UNLIKE = ALIKE.replace("2       1      4", "2       1      3")
"""The same, but job 2 requests three cores: not symmetric."""


def asked_in_turn(*answers: Any, remembered: int = 16) -> tuple[CpPortfolio, list[Scripted]]:
    """Return a portfolio whose members answer as told, named `a`, `b` and so on; their solvers."""
    solvers = [Scripted(answer) for answer in answers]
    members = [
        CpMember(name, cp_dispatcher("node-time", solver=solver))
        for name, solver in zip("abc", solvers, strict=False)
    ]
    return CpPortfolio(members, remembered), solvers


def solved(task: Any) -> Answer:
    """Solve a task in this process, to the proof."""
    return InProcess().solve(task, None)


def decide(portfolio: CpPortfolio, table: str) -> Decision:
    """Return the decision about a table of jobs."""
    return portfolio.dispatch(make_problem(SYSTEM, table))


def test_who_decides_by_hand() -> None:
    """The first member has no plan, so that the second decides the next round of that class."""
    portfolio, solvers = asked_in_turn(Answer("unknown"), solved)
    first = decide(portfolio, ALIKE)
    assert (first.chosen, first.fallback) == ("a", True)
    second = decide(portfolio, ALIKE)
    assert second.chosen == "b"
    features = "queue length 2, load 2, resource types 1, symmetry 0.5"
    assert second.because == f"success 1 in such rounds lately: {features}"
    # No change, nothing to tell; then a class of which nothing is known.
    assert decide(portfolio, ALIKE).chosen is None
    assert decide(portfolio, UNLIKE).chosen == "a"
    assert [len(solver.tasks) for solver in solvers] == [1, 2]


def test_an_outcome_is_forgotten() -> None:
    """After two more rounds of the class the first member is asked again.

    After a round without a plan, it first plans half of the jobs: one, which needs no solver.
    """
    portfolio, solvers = asked_in_turn(Answer("unknown"), solved, remembered=2)
    chosen = [decide(portfolio, ALIKE).chosen for _ in range(6)]
    assert chosen == ["a", "b", None, "a", None, "b"]
    assert [len(solver.tasks) for solver in solvers] == [2, 3]


def test_all_without_a_plan() -> None:
    """Of members of equal success the first decides."""
    portfolio, _ = asked_in_turn(Answer("unknown"), Answer("failed", why="no memory"))
    assert [decide(portfolio, ALIKE).chosen for _ in range(4)] == ["a", "b", "a", None]


def test_no_solver_is_asked() -> None:
    """A round that asks no solver says nothing about a member."""
    portfolio, solvers = asked_in_turn(Answer("unknown"), solved)
    room = ALIKE.replace("4     50", "1     50").replace("4     30", "3     30")
    assert [decide(portfolio, room).chosen for _ in range(3)] == ["a", None, None]
    assert not solvers[0].tasks


class OneBudget:
    """Expects that a round asks for no more than one member's budget."""

    def __init__(self, portfolio: CpPortfolio, solvers: list[Scripted]) -> None:
        self._portfolio, self._solvers = portfolio, solvers

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Return the portfolio's decision."""
        before = sum(len(solver.tasks) for solver in self._solvers)
        decision = self._portfolio.dispatch(problem)
        tasks = [task for solver in self._solvers for task in solver.tasks]
        assert len(tasks) <= before + 1
        assert {task.limits for task in tasks} <= {Budget(0.002)}
        return decision


@tries(20)
@given(workload=mixed_workloads())
def test_decisions_and_work(workload: Any) -> None:
    """All jobs complete as decided, twice alike; no round takes more than a member's budget."""
    starts = []
    for _ in range(2):
        portfolio = OneBudget(*asked_in_turn(solved, Answer("unknown"), solved, remembered=3))
        recorder = replay(
            workload.system, portfolio, workload.jobs, predictor=Told(workload.predictions)
        )
        audit_replay(list(recorder.jobs.values()), list(workload.jobs), workload.system)
        starts.append({job: record.start_time for job, record in recorder.jobs.items()})
    assert starts[0] == starts[1]


MEMBERS = (
    "[{name: pcp21, solver: schedule-or-postpone, budget: 1.0e-6, guard: null},"
    " {name: hcp19, solver: schedule-or-postpone, budget: 1.0e-3, guard: null}]"
)


def write_scenario(folder: Path, members: str = MEMBERS) -> Path:
    """Write a scenario of 12 jobs on three nodes; return its path."""
    lines = [
        f"{number} {number} -1 {time} {cores} -1 -1 {cores} {time} -1 1 7 -1 -1 -1 1 -1 -1\n"
        for number, (time, cores) in enumerate([(30, 5), (20, 3), (9, 4), (5, 2)] * 3, start=1)
    ]
    (folder / "jobs.swf").write_text("".join(lines))
    path = folder / "jobs.yaml"
    path.write_text(
        "name: jobs\n"
        "system: {groups: [{name: node, count: 3, resources: {core: 2}}]}\n"
        "trace: {source: swf, path: jobs.swf}\n"
        f"dispatcher: {{name: cp-portfolio, members: {members}}}\n"
        "objective: slowdown\n"
        "observers: [reasons]\n"
    )
    return path


def test_a_run(tmp_path: Path) -> None:
    """A run states who decided, stays within budgets, passes its audit and is reproducible."""
    path = write_scenario(tmp_path)
    result = hpcsched.run(path, tmp_path / "run")
    rounds = result.rounds.select(["chosen", "because", "solver"]).to_pylist()
    assert rounds[0]["chosen"].startswith("pcp21 solver=schedule-or-postpone budget=1e-06")
    assert any((row["chosen"] or "").startswith("hcp19") for row in rounds)
    present = ""
    for row in rounds:
        present = row["chosen"] or present
        if row["solver"] is not None:
            most = (1 if present.startswith("pcp21") else 1000) + row["solver"]["jobs"]
            assert row["solver"]["branches"] <= most
    told = CliRunner().invoke(app, ["explain", str(tmp_path / "run"), "1"])
    assert "  pcp21 solver=schedule-or-postpone budget=1e-06" in told.stdout
    assert CliRunner().invoke(app, ["verify", str(tmp_path / "run")]).exit_code == 0
    hpcsched.run(path, tmp_path / "again")
    bytes_of = [(tmp_path / name / "jobs.parquet").read_bytes() for name in ("run", "again")]
    assert bytes_of[0] == bytes_of[1]


def test_other_dispatchers_are_refused(tmp_path: Path) -> None:
    """Members are CP dispatchers."""
    with pytest.raises(InputError, match="place 2 of the members is 'easy'"):
        hpcsched.load_scenario(write_scenario(tmp_path, "[pcp21, easy]"))
