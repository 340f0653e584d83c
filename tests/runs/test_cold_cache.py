"""Runs on a machine on which nothing is compiled yet: it is told, and is no decision time."""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from hpcsched.monitoring.compile_notes import COMPILING

ROOT = Path(__file__).parents[2]
SMALL = ROOT / "scenarios" / "small-easy.yaml"
PROGRAM = "import sys; from hpcsched.cli import main; sys.exit(main())"
IN_ROUNDS = """\
import sys
from hpcsched.cli import main
from hpcsched.dispatching.planning.planning_dispatcher import PlanningDispatcher
from hpcsched.monitoring.compile_notes import CompileNotes
rounds, names, dispatch = [], [], PlanningDispatcher.dispatch
def counted(dispatcher, problem):
    rounds.append(problem.round)
    return dispatch(dispatcher, problem)
PlanningDispatcher.dispatch = counted
begins = CompileNotes.begins
def noted(notes, functions):
    names.append((len(rounds), *functions))
    return begins(notes, functions)
CompileNotes.begins = noted
code = main()
print(max(rounds) > 10, names)
sys.exit(code)
"""
"""The command, which prints before how many rounds functions were compiled."""
IN_THREADS = """\
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import get_ident
import hpcsched
from hpcsched.dispatching.core.compile_time import tell_of_compiling
from hpcsched.dispatching.planning.planning_dispatcher import PlanningDispatcher
from hpcsched.monitoring.compile_notes import CompileNotes
rounds, names, dispatch = Counter(), set(), PlanningDispatcher.dispatch
def counted(dispatcher, problem):
    rounds[get_ident()] += 1
    return dispatch(dispatcher, problem)
class Notes(CompileNotes):
    def begins(self, functions):
        names.update((rounds[get_ident()], name) for name in functions)
        return super().begins(functions)
PlanningDispatcher.dispatch = counted
tell_of_compiling(Notes())
common = ["trace.jobs=150", "objective=mean_response_time"]
scenarios = [hpcsched.load_scenario(sys.argv[1], [*common, f"dispatcher={name}"])
             for name in ("order-search", "order-search", "hyper")]
workload = hpcsched.read_workload(scenarios[0])
with ThreadPoolExecutor(3) as threads:
    done = list(threads.map(lambda one: hpcsched.replay(one, workload), scenarios))
firsts = [one.rounds["decision_time"][0].as_py() for one in done]
print(len(rounds), min(rounds.values()) > 10, sorted(names), max(firsts) < 2.0)
"""
"""Three replays at a time, of which the same is printed."""
TIMEOUT = 1800


def command(
    code: Path, folder: Path, *arguments: str, program: str = PROGRAM, **env: str
) -> tuple[str, str]:
    """Run a command with compiled code in a folder; return its output and errors."""
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "NUMBA_CACHE_DIR": str(code), **env},
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dispatcher", "jobs"),
    [("easy", 2000), ("order-search", 100), ("conservative", 2000), ("cp", 100)],
)
def test_run(dispatcher: str, jobs: int, tmp_path: Path) -> None:
    """Once it is told; decisions take no second; and the next run compiles nothing."""
    options = ("--set", f"dispatcher={dispatcher}", "--set", f"trace.jobs={jobs}")
    options += ("--set", "objective=mean_response_time", "--force", "--quiet")
    code = tmp_path / "code"
    _, errors = command(code, tmp_path, "run", str(SMALL), *options, "--out", "run")
    assert errors.count(COMPILING) == 1
    rounds = pq.read_table(tmp_path / "run" / "rounds.parquet")
    times = rounds.column("decision_time").to_pylist()
    # Compiling takes several seconds of the processor on any machine.
    assert times[0] < 2.0
    assert sum(times) / len(times) < 2.0
    _, errors = command(code, tmp_path, "run", str(SMALL), *options, "--out", "run")
    assert COMPILING not in errors


@pytest.mark.slow
def test_before_the_first_round(tmp_path: Path) -> None:
    """The planner's code is compiled before it is needed; only rare parts are compiled later."""
    options = ("--set", "dispatcher=order-search", "--set", "trace.jobs=150", "--out", "run")
    said, _ = command(
        tmp_path / "code", tmp_path, "run", str(SMALL), *options, "--quiet", program=IN_ROUNDS
    )
    assert said == "True [(0, 'open_plan'), (0, 'plan_in_order'), (0, 'search')]\n"


@pytest.mark.slow
def test_replays_in_threads(tmp_path: Path) -> None:
    """Replays in memory compile before their first rounds too, as does the portfolio of `hyper`."""
    said, _ = command(tmp_path / "code", tmp_path, str(SMALL), program=IN_THREADS)
    assert said == ("3 True [(0, 'open_plan'), (0, 'plan_in_order'), (0, 'search')] True\n")


@pytest.mark.slow
def test_two_at_once(tmp_path: Path) -> None:
    """Of two commands that begin together one compiles, and the other waits for its code."""
    options = ("--set", "trace.jobs=2000", "--quiet", "--out")
    code = tmp_path / "code"
    with ThreadPoolExecutor() as threads:
        list(
            threads.map(
                lambda out: command(code, tmp_path, "run", str(SMALL), *options, out), ("a", "b")
            )
        )
    assert len(list(code.glob("*.lock"))) == 1
    assert (tmp_path / "a" / "jobs.parquet").read_bytes() == (
        tmp_path / "b" / "jobs.parquet"
    ).read_bytes()


@pytest.mark.slow
def test_try(tmp_path: Path) -> None:
    """`try` tells as well."""
    _, errors = command(tmp_path / "code", tmp_path, "try", "--example", "--jobs", "100")
    assert errors.count(COMPILING) >= 1


@pytest.mark.slow
def test_read_only_package(tmp_path: Path) -> None:
    """Code is kept in the user's cache folder; where that is read-only too, a warning says so."""
    package = tmp_path / "site" / "hpcsched"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "hpcsched", package, ignore=ignored)
    # A file in the place of the folder: not even root can write into it.
    (package / "dispatching" / "core" / "__pycache__").touch()
    env = {"PYTHONPATH": str(package.parent), "NUMBA_CACHE_DIR": ""}
    home = {**env, "XDG_CACHE_HOME": str(tmp_path / "home")}
    options = ("--set", "trace.jobs=2000", "--force", "--quiet", "--out", "run")
    run = ("run", str(SMALL), *options)
    _, errors = command(tmp_path, tmp_path, *run, **home)
    assert errors.count(COMPILING) == 1
    assert list((tmp_path / "home" / "hpcsched").glob("*.code"))
    _, errors = command(tmp_path, tmp_path, *run, **home)
    assert errors == ""
    nowhere = {**env, "XDG_CACHE_HOME": str(package / "dispatching" / "core" / "__pycache__")}
    _, errors = command(tmp_path, tmp_path, *run, **nowhere)
    assert errors.count("warning: compiled code cannot be kept") == 1
