"""The bar over the problems of a file."""

from collections.abc import Iterator

import pytest

from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.studies.problems.problem_files import InstancesFile
from hpcsched.studies.problems.solving import SolvingProgress
from hpcsched.testing import make_problem, make_system
from tests.terminal import error_terminal

ROUNDS = [
    make_problem(make_system(2), "job_id submit_time units requested_time\n1 0 1 10", now=now)
    for now in (5, 6, 7, 8)
]


class FourProblems(InstancesFile):
    """A file of which a quarter is read with each problem."""

    def __init__(self) -> None:
        self.fraction_read = 0.0

    def problems(self, *_: object) -> Iterator[DispatchingProblem]:
        """Yield four problems."""
        for problem in ROUNDS:
            self.fraction_read += 0.25
            yield problem


def test_problems_are_passed_on_one_by_one(capsys: pytest.CaptureFixture[str]) -> None:
    """Each is read when it is asked for; without a terminal nothing is shown."""
    file = FourProblems()
    following = SolvingProgress(file)("easy", file.problems())
    assert file.fraction_read == 0
    assert next(following) is ROUNDS[0]
    assert file.fraction_read == 0.25
    assert list(following) == ROUNDS[1:]
    assert capsys.readouterr() == ("", "")


def test_what_a_terminal_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the third problem three quarters are read, and two problems are solved."""
    terminal = error_terminal(monkeypatch)
    file = FourProblems()
    following = SolvingProgress(file)("easy", file.problems())
    for _ in range(3):
        next(following)
    following.close()  # type: ignore[attr-defined]
    last = terminal.lines[-1]
    assert last.startswith("easy ")
    assert "75% 2 problems" in last
