"""Program that forks processes for tasks, with modules and the last workload in memory: SOCKET.

The socket, by its number, brings a line for each task: a JSON list of program, scenario, run
directory and log. The answer is its exit code, negative for a signal. A process runs several tasks,
one after another, as long as they end well and no plugin of others takes part. Tasks inherit
standard input, so that they stop where that ends, as a program of its own does.
"""

import gc
import json
import os
import runpy
import shutil
import socket
import sys
import traceback
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, NoReturn, TextIO
from warnings import catch_warnings

import numpy as np

from hpcsched.errors import InputError
from hpcsched.plugin_faults import FAULTS, HOME
from hpcsched.runs.kept_workload import keep_workload
from hpcsched.runs.manifest import read_manifest
from hpcsched.scenario import load_scenario
from hpcsched.scenario.resolved import read_resolved_values

MOST = 50
"""Largest number of tasks of one process, so that what they leave in memory stays little."""


class Worker:
    """A process forked from this one, which runs tasks one after another."""

    def __init__(self, tasks: socket.socket) -> None:
        self._loaded = TemporaryFile("w+")  # noqa: SIM115 (closed in `end`)
        lines, to_worker = os.pipe()
        answers, from_worker = os.pipe()
        self._process = os.fork()
        if not self._process:
            os.close(tasks.detach())  # its end tells that the server is lost
            os.close(to_worker)
            os.close(answers)
            _work(os.fdopen(lines), os.fdopen(from_worker, "w"), self._loaded)
        os.close(lines)
        os.close(from_worker)
        self._lines, self._answers = os.fdopen(to_worker, "w"), os.fdopen(answers)
        self.tasks = 0

    def carry_out(self, line: str) -> tuple[int | None, bool]:
        """Return the exit code of a task, None if the process was lost, and if it takes more."""
        self.tasks += 1
        with suppress(ConnectionError):
            self._lines.write(line)
            self._lines.flush()
        code, _, more = self._answers.readline().partition(" ")
        return (int(code), bool(more.strip())) if code else (None, False)

    def end(self) -> int:
        """Import the modules that tasks have loaded; return the exit code of the process."""
        with suppress(ConnectionError):
            self._lines.close()
        self._answers.close()
        _, status = os.waitpid(self._process, 0)
        with self._loaded:
            _import_again(self._loaded)
        return os.waitstatus_to_exitcode(status)


def main() -> None:
    """Pass each line to a process, and its answer back."""
    tasks = socket.socket(fileno=int(sys.argv[1]))
    tasks.set_inheritable(False)
    _settle_modules()
    worker = None
    for line in tasks.makefile("r"):
        _, scenario, out, _ = json.loads(line)
        if worker is None:
            _keep(scenario)
            worker = Worker(tasks)
        code, more = worker.carry_out(line)
        if code is None and worker.tasks > 1:
            # Perhaps an earlier task is to blame: once more, in a new process.
            worker.end()
            shutil.rmtree(out, ignore_errors=True)
            worker = Worker(tasks)
            code, more = worker.carry_out(line)
        if not more:
            ended, worker = worker.end(), None
            code = ended if code is None else code
        tasks.sendall(f"{code}\n".encode())
    if worker is not None:
        worker.end()


def _keep(scenario: str) -> None:
    # The process of the task tells what is wrong with its scenario, and warns of it.
    with suppress(*FAULTS), catch_warnings():
        keep_workload(load_scenario(read_resolved_values(Path(scenario))))


def _work(lines: TextIO, answers: TextIO, loaded: IO[str]) -> NoReturn:
    """Run the tasks of lines, note the modules that they load, and end the process."""
    before = set(sys.modules)
    try:
        for number, line in enumerate(lines, start=1):
            program, scenario, out, log = json.loads(line)
            if number > 1:
                _keep(scenario)
            code = _run(program, [scenario, out], log)
            more = not code and number < MOST and _is_own(Path(out))
            answers.write(f"{code} {'more' if more else ''}\n")
            answers.flush()
            if not more:
                break
    finally:
        loaded.write("\n".join(set(sys.modules) - before))
        loaded.flush()
        # The end of the interpreter takes longer than many tasks.
        os._exit(0)


def _is_own(run: Path) -> bool:
    """Return True if no plugin of others, which may leave something behind, took part in a run."""
    try:
        return set(read_manifest(run).plugins) <= {HOME}
    except InputError:
        return False


def _run(program: str, arguments: list[str], log: str) -> int:
    """Run a program as `python -m` does; return its exit code."""
    written = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    os.dup2(written, 1)
    os.dup2(written, 2)
    os.close(written)
    np.random.seed()  # new processes do not share a state either
    sys.argv = [program, *arguments]
    code = 1
    try:
        with catch_warnings():  # so that each task warns anew
            runpy.run_module(program, run_name="__main__", alter_sys=True)
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            sys.stderr.write(f"{end.code}\n")
    except BaseException:  # whatever ends a program stands in its log
        traceback.print_exc()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    return code & 0xFF


def _import_again(loaded: IO[str]) -> None:
    """Import the modules that a task has loaded: the next one need not."""
    loaded.seek(0)
    names = loaded.read().split()
    for name in names:
        with suppress(Exception):
            import_module(name)
    if names:
        _settle_modules()


def _settle_modules() -> None:
    # What the collector leaves alone is not copied in each process.
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    main()
