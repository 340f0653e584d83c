"""Commands in processes of their own in which the predictor `slow` takes its time."""

import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from hpcsched import Plugin, hookimpl
from hpcsched.plugins.manager import build_registry, stand_in
from hpcsched.runs.run_status import RunState, read_state
from hpcsched.workload.job import Job

SECONDS_EACH = 0.0005
"""Real seconds that a prediction takes; a log of 100,000 jobs takes about a minute."""

COMMAND = (
    sys.executable,
    "-c",
    "from hpcsched.cli import main; from tests.slow_runs import slow_predictor\n"
    "with slow_predictor(): raise SystemExit(main())",
)
"""The command `hpcsched`, with the predictor `slow`; its arguments follow."""


class Slow:
    """Predicts the requested time, after a while."""

    def predict(self, job: Job) -> int:
        """Return the requested time."""
        time.sleep(SECONDS_EACH)
        return job.requested_time

    def observe(self, job: Job, run_time: int) -> None:
        """Learn nothing."""


@hookimpl
def hpcsched_predictors() -> Iterable[Plugin]:
    """Return `slow`."""
    yield Plugin("slow", "believes the user, after a while", lambda *_: Slow())


@contextmanager
def slow_predictor() -> Iterator[None]:
    """Let scenarios name the predictor `slow`."""
    with stand_in(build_registry(external=False, modules=[sys.modules[__name__]])):
        yield


def seen_under_way(folder: Path, process: subprocess.Popen[str], patience: float) -> RunState:
    """Return the first state of a run in which jobs have ended, while its process goes on."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline and process.poll() is None:
        state = read_state(folder) if folder.is_dir() else None
        if state is not None and state.ended:
            return state
        time.sleep(0.05)
    raise AssertionError(f"no job ended within {patience} s, or the process is over")
