"""Runs on a machine on which nothing is compiled yet: it is told, and is no decision time."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from hpcsched.monitoring.compile_notes import COMPILING

ROOT = Path(__file__).parents[2]
SMALL = ROOT / "scenarios" / "small-easy.yaml"
PROGRAM = "import sys; from hpcsched.cli import main; sys.exit(main())"
TIMEOUT = 1800


def command(code: Path, folder: Path, *arguments: str) -> tuple[str, str]:
    """Run a command with compiled code in a folder; return its output and errors."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "NUMBA_CACHE_DIR": str(code)},
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def seconds_told(errors: str) -> float:
    """Return the longest time of compiling that was told; 0 if it was less than ten seconds."""
    return max(map(float, re.findall(r"still compiling: (\d+) s", errors)), default=0.0)


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
def test_try(tmp_path: Path) -> None:
    """`try` tells as well."""
    _, errors = command(tmp_path / "code", tmp_path, "try", "--example", "--jobs", "100")
    assert errors.count(COMPILING) >= 1
