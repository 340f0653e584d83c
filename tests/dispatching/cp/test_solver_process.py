"""Nothing that a solver does takes the run down."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hpcsched.dispatching.cp import solver_process
from hpcsched.dispatching.cp.backends.backend import Budget
from hpcsched.dispatching.cp.solver_process import InProcess, Solver, SolverProcess, Task
from hpcsched.dispatching.planning.model_data import ModelData
from tests.dispatching.cp.backends import faulty_backends as faulty
from tests.dispatching.cp.backends.faulty_backends import Does, Still

PATIENCE = 30.0
"""Seconds after which something that should happen will not."""


def _data(jobs: int = 2, nodes: int = 1) -> ModelData:
    def few(*shape: int) -> Any:
        return np.ones(shape, dtype=np.int64)

    none = np.zeros(0, dtype=np.int64)
    return ModelData(
        few(jobs),
        few(jobs, 1),
        few(jobs),
        few(nodes, 1),
        few(jobs, nodes),
        none,
        none,
        none.reshape(0, 1),
        few(1, jobs),
        0 * few(1, jobs),
        0,
        jobs,
    )


DATA = _data()


def _task(act: Callable[..., object], *arguments: Any, data: ModelData = DATA) -> Task:
    return Task(Still(), data, Does(act, arguments), Budget(1.0))


GOOD = _task(faulty.nothing)


@pytest.fixture(scope="module")
def solver() -> Iterator[SolverProcess]:
    """A solver for all tests, as each of them leaves it in order; starting one takes time."""
    with closing(SolverProcess()) as process:
        yield process


@pytest.fixture
def own_solver() -> Iterator[SolverProcess]:
    """A solver that has not been used."""
    with closing(SolverProcess()) as process:
        yield process


@pytest.fixture
def interruptible() -> Iterator[None]:
    """What Python does about SIGINT, whatever a solver has left behind in this process."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def _pid(solver: Solver) -> int:
    """Return the number of the process that solves; a good task says so."""
    answer = solver.solve(GOOD, PATIENCE)
    assert answer.status == "optimal", answer.why
    assert answer.objective is not None
    return answer.objective


def _is_running(pid: int) -> bool:
    """Say whether a process runs; one that nobody has waited for yet does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def _open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def _wait_for_death(solver: SolverProcess) -> None:
    """Wait until the process is dead to its parent, with all of its threads."""
    child = solver._child
    assert child is not None
    _wait_until(lambda: not child.is_alive())


def _wait_until(happened: Callable[[], object], seconds: float = PATIENCE) -> None:
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_task_is_solved_in_another_process_that_is_kept(solver: SolverProcess) -> None:
    """The answer is the one that solving here gives."""
    first = solver.solve(GOOD, PATIENCE)
    here = InProcess().solve(GOOD, None)
    assert here.objective == os.getpid() != first.objective
    assert first.plan is not None
    assert here.plan is not None
    for part, expected in zip(first.plan, here.plan, strict=True):
        np.testing.assert_array_equal(part, expected)
    assert _pid(solver) == first.objective


def test_no_process_is_started_before_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor where it is closed at once."""
    monkeypatch.setattr(subprocess, "Popen", None)
    SolverProcess().close()


LIVES_ON = [
    (_task(faulty.fail), "ValueError: no luck"),
    (_task(faulty.end_program), "SystemExit: 5"),
    (_task(faulty.answer_unreadably), "ValueError: unreadable"),
    (_task(faulty.answer_unpicklably), "lambda"),
    (_task(faulty.answer, "superb", 1), "'superb' is no status"),
    (_task(faulty.answer, ["optimal"], 1), "is no status"),
    (_task(faulty.answer, "optimal"), "no plan with the status optimal"),
    (_task(faulty.answer, "unknown", 1), "a plan with the status unknown"),
    (_task(faulty.nothing)._replace(formulation=Still(None)), "AttributeError"),
]


@pytest.mark.parametrize(("task", "why"), LIVES_ON)
def test_an_error_is_a_failure(solver: SolverProcess, task: Task, why: str) -> None:
    """The process goes on after it."""
    before = _pid(solver)
    answer = solver.solve(task, PATIENCE)
    assert answer.status == "failed"
    assert why in answer.why
    assert answer.plan is None
    assert answer.solve_time > 0
    assert _pid(solver) == before


@pytest.mark.parametrize(("task", "why"), LIVES_ON[:1] + LIVES_ON[4:])
def test_an_error_is_a_failure_in_this_process(task: Task, why: str) -> None:
    """And the time that was lost is there."""
    answer = InProcess().solve(task, None)
    assert answer.status == "failed"
    assert why in answer.why
    assert answer.solve_time > 0
    assert InProcess().solve(GOOD, None).status == "optimal"


@pytest.mark.parametrize(
    ("task", "why"),
    [
        (_task(faulty.leave), "ended with exit code 3"),
        (_task(faulty.leave, 0), "ended with exit code 0"),
        (_task(faulty.leave_with_words), "ended with exit code 3: last words"),
        (_task(faulty.die_of, signal.SIGSEGV), "was killed by SIGSEGV"),
        (_task(faulty.die_of, signal.SIGKILL), "was killed by SIGKILL"),
        (_task(faulty.die_of, 40), "ended with exit code -40"),
        (_task(faulty.crash), "was killed by SIGSEGV"),
        (_task(faulty.run_out_of_memory), "ended with exit code 1: MemoryError: no room"),
        (_task(faulty.stop_listening), "closed its pipe"),
    ],
)
def test_a_death_is_a_failure(solver: SolverProcess, task: Task, why: str) -> None:
    """It says of what; the next task has a process of its own."""
    before = _pid(solver)
    answer = solver.solve(task, None)
    assert answer.status == "failed"
    assert answer.why == f"the solver's process {why}"
    assert answer.solve_time > 0
    assert _pid(solver) != before
    assert not _is_running(before)


@pytest.mark.parametrize("act", [faulty.sleep_for, faulty.spin])
def test_an_overrun_is_broken_off(solver: SolverProcess, act: Callable[..., object]) -> None:
    """Soon after the time is up, whatever the solver does."""
    before = _pid(solver)
    began = time.monotonic()
    answer = solver.solve(_task(act), 0.3)
    assert time.monotonic() - began < 1.3
    assert answer.status == "overrun"
    assert answer.solve_time >= 0.3
    assert not _is_running(before)
    assert _pid(solver) != before


def test_a_process_that_does_not_read_is_an_overrun(solver: SolverProcess) -> None:
    """A large task does not fit into the pipe."""
    large = _task(faulty.nothing, data=_data(300, 300))
    before = _pid(solver)
    os.kill(before, signal.SIGSTOP)
    assert solver.solve(large, 0.3).status == "overrun"
    assert solver.solve(large, PATIENCE).status == "optimal"


def test_what_a_solver_prints_is_lost(
    solver: SolverProcess, capfd: pytest.CaptureFixture[str]
) -> None:
    """It neither gets into the answers, nor fills a pipe, nor shows, nor piles up."""
    before = _pid(solver)
    for _ in range(3):
        assert solver.solve(_task(faulty.chatter, 1 << 18), PATIENCE).objective == before
    assert solver._child is not None
    solver.solve(GOOD, PATIENCE)
    assert os.fstat(solver._child._log.fileno()).st_size < 1 << 16
    assert solver.solve(_task(faulty.leave_with_words), None).why.endswith("last words")
    assert capfd.readouterr() == ("", "")


def test_a_plan_is_passed_on_as_it_is(solver: SolverProcess) -> None:
    """Starts before now, and without nodes: whether it can be carried out is not asked here."""
    answer = solver.solve(GOOD._replace(formulation=Still(-7)), PATIENCE)
    assert answer.status == "optimal"
    assert answer.plan is not None
    assert answer.plan.starts.tolist() == [-7, -7]


def test_an_answer_is_an_answer(own_solver: SolverProcess) -> None:
    """Not a number."""
    assert _pid(own_solver)
    own_solver.solve(_task(faulty.answer_otherwise), PATIENCE)
    answer = own_solver.solve(GOOD, PATIENCE)
    assert answer.status == "failed"
    assert answer.why == "TypeError: a solver's answer is an Answer, found int"


def test_a_task_that_cannot_be_pickled_is_a_failure(own_solver: SolverProcess) -> None:
    """It is not sent: the process goes on."""
    task = _task(lambda: 1)
    assert own_solver.solve(task, PATIENCE).status == "failed"
    before = _pid(own_solver)
    answer = own_solver.solve(task, PATIENCE)
    assert answer.status == "failed"
    assert "lambda" in answer.why
    assert _pid(own_solver) == before


def test_a_task_that_cannot_be_read_is_a_failure(
    solver: SolverProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its module is there in this process alone: the process goes on."""
    (tmp_path / "only_here.py").write_text("def act():\n    pass\n")
    before = _pid(solver)
    monkeypatch.syspath_prepend(tmp_path)
    import only_here  # type: ignore[import-not-found]  # noqa: PLC0415

    answer = solver.solve(_task(only_here.act), PATIENCE)
    assert answer.why == "ModuleNotFoundError: No module named 'only_here'"
    assert _pid(solver) == before


def test_importing_is_not_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_solver: SolverProcess
) -> None:
    """A module that only this process's search path leads to takes a second to be imported."""
    (tmp_path / "slow_to_import.py").write_text(
        "import time\ntime.sleep(1)\ndef act():\n    pass\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    import slow_to_import  # type: ignore[import-not-found]  # noqa: PLC0415

    assert own_solver.solve(_task(slow_to_import.act), 0.5).status == "optimal"


def test_a_solver_that_is_not_there_is_a_failure(own_solver: SolverProcess) -> None:
    """The reason is that which the process wrote last; a good task is solved afterwards."""
    missing = GOOD._replace(backend=faulty.NotInstalled(faulty.nothing))
    why = "the solver's process ended with exit code 1: ModuleNotFoundError: No module named"
    for _ in range(2):
        answer = own_solver.solve(missing, PATIENCE)
        assert answer.status == "failed"
        assert answer.why == f"{why} 'no_such_solver'"
        assert answer.solve_time > 0
    assert _pid(own_solver)
    own_solver.close()
    assert own_solver.solve(missing, PATIENCE).why == f"{why} 'no_such_solver'"
    assert _pid(own_solver)


def test_no_further_process_is_tried_where_none_starts(
    own_solver: SolverProcess, tmp_path: Path
) -> None:
    """The reason stays."""
    starts = tmp_path / "starts"
    task = GOOD._replace(backend=faulty.DiesAtStart(faulty.nothing, (str(starts),)))
    answers = [own_solver.solve(task, PATIENCE) for _ in range(5)]
    assert {answer.status for answer in answers} == {"failed"}
    assert {answer.why for answer in answers} == {"the solver's process ended with exit code 7"}
    assert len(starts.read_text().splitlines()) == solver_process.STARTS
    assert own_solver.solve(GOOD, PATIENCE).status == "failed"


def test_a_process_that_is_never_ready_is_given_up(
    own_solver: SolverProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However much time the task has."""
    monkeypatch.setattr(solver_process, "START_SECONDS", 0.5)
    task = GOOD._replace(backend=faulty.HangsAtStart(faulty.nothing))
    assert own_solver.solve(task, None).why == "the solver's process was not ready after 0.5 s"


def test_a_process_that_cannot_be_started_is_a_failure(
    own_solver: SolverProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reason is the system's."""
    with monkeypatch.context() as patch:
        patch.setattr(sys, "executable", "/no/such/python")
        answer = own_solver.solve(GOOD, PATIENCE)
    assert answer.status == "failed"
    assert answer.why.startswith("the solver's process cannot be started: ")
    assert "No such file" in answer.why
    assert _pid(own_solver)


def test_a_process_killed_between_calls_is_replaced(solver: SolverProcess) -> None:
    """Nothing is lost."""
    before = _pid(solver)
    os.kill(before, signal.SIGKILL)
    _wait_for_death(solver)
    assert _pid(solver) != before


def test_a_process_killed_during_a_call_is_a_failure(solver: SolverProcess, tmp_path: Path) -> None:
    """As when the system runs out of memory."""
    note = tmp_path / "pid"

    def kill() -> None:
        _wait_until(note.exists)
        os.kill(int(note.read_text()), signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    answer = solver.solve(_task(faulty.sleep_for, 1000.0, str(note)), None)
    killer.join()
    assert answer.status == "failed"
    assert answer.why == "the solver's process was killed by SIGKILL"
    assert _pid(solver)


def test_a_process_started_by_a_thread_that_ended_is_replaced(own_solver: SolverProcess) -> None:
    """The kernel kills it with the thread."""
    pids: list[int] = []
    thread = threading.Thread(target=lambda: pids.append(_pid(own_solver)))
    thread.start()
    thread.join()
    _wait_for_death(own_solver)
    assert _pid(own_solver) != pids[0]


def test_an_interrupt_does_not_reach_the_process(solver: SolverProcess) -> None:
    """Nor after a solver that leaves the default behind, as CP-SAT does."""
    before = _pid(solver)
    assert os.getpgid(before) != os.getpgid(0)
    os.kill(before, signal.SIGINT)
    assert _pid(solver) == before
    solver.solve(_task(faulty.listen_to_interrupts), PATIENCE)
    os.kill(before, signal.SIGINT)
    assert _pid(solver) == before


@pytest.mark.parametrize("act", [faulty.listen_to_interrupts, faulty.listen_and_fail])
@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_still_reaches_this_process(act: Callable[..., object]) -> None:
    """After a solver that leaves the default behind, which would end the tests here."""
    InProcess().solve(_task(act), None)
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupted_call_leaves_no_answer_behind(solver: SolverProcess) -> None:
    """It would be taken for that to the next task."""
    before = _pid(solver)
    timer = threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        solver.solve(_task(faulty.sleep_for), None)
    timer.join()
    assert not _is_running(before)
    assert _pid(solver) != before


def test_closing_leaves_nothing_behind() -> None:
    """No process, not even a dead one, and no open file; closing again is nothing new."""
    files = _open_files()
    solver = SolverProcess()
    before = _pid(solver)
    for _ in range(2):
        solver.close()
        with pytest.raises(ChildProcessError):
            os.waitpid(before, os.WNOHANG)
        assert _open_files() == files
    assert _pid(solver) != before
    solver.close()


def test_deaths_and_overruns_leave_nothing_behind() -> None:
    """As many as there may be."""
    files = _open_files()
    with closing(SolverProcess()) as solver:
        for task in (_task(faulty.leave), _task(faulty.sleep_for)):
            before = _pid(solver)
            solver.solve(task, 0.1)
            with pytest.raises(ChildProcessError):
                os.waitpid(before, os.WNOHANG)
            assert _open_files() == files


def test_a_solver_that_is_forgotten_is_closed() -> None:
    """Without a warning, which would fail the test."""
    solver = SolverProcess()
    before = _pid(solver)
    del solver
    gc.collect()
    with pytest.raises(ChildProcessError):
        os.waitpid(before, os.WNOHANG)


SCRIPT = """
import signal, sys
from hpcsched.dispatching.cp.solver_process import SolverProcess
from tests.dispatching.cp.backends import faulty_backends as faulty
from tests.dispatching.cp.test_solver_process import GOOD, _task
from time import sleep
solver = SolverProcess()
"""


def _start(script: str, *arguments: str) -> "subprocess.Popen[str]":
    """Start a script in a session of its own."""
    return subprocess.Popen(
        [sys.executable, "-X", "dev", "-W", "error", "-c", SCRIPT + script, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )


def test_the_end_of_the_program_is_that_of_the_process() -> None:
    """Without a word, where nobody has closed the solver."""
    with _start("print(solver.solve(GOOD, 30).objective)") as process:
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (0, "")
    _wait_until(lambda: not _is_running(int(out)), 1.0)


@pytest.mark.parametrize("act", ["sleep_for, 1000.0", "spin"])
def test_a_program_that_is_killed_leaves_no_orphan(act: str, tmp_path: Path) -> None:
    """Not even while the solver hangs."""
    note = tmp_path / "pid"
    with _start(f"solver.solve(_task(faulty.{act}, sys.argv[1]), None)", str(note)) as process:
        _wait_until(note.exists)
        pid = int(note.read_text())
        assert _is_running(pid)
        process.kill()
        process.communicate()
    _wait_until(lambda: not _is_running(pid), 1.0)


def test_a_program_that_is_killed_between_calls_leaves_no_orphan() -> None:
    """The same without a task."""
    with _start("print(solver.solve(GOOD, 30).objective, flush=True); sleep(1000)") as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        assert _is_running(pid)
        process.kill()
        process.communicate()
    _wait_until(lambda: not _is_running(pid), 1.0)


def test_an_interrupt_of_the_program_lets_the_call_finish(tmp_path: Path) -> None:
    """The run stops at the end of the instant: until then the solver is needed."""
    note = tmp_path / "pid"
    script = """
signal.signal(signal.SIGINT, lambda *_: print("interrupted"))
print(solver.solve(_task(faulty.sleep_for, 1.0, sys.argv[1]), None).status)
"""
    with _start(script, str(note)) as process:
        _wait_until(note.exists)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (0, "")
    assert out.splitlines() == ["interrupted", "optimal"]
