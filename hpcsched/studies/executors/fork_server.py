"""Program that forks a process for each task, with modules and the last workload in memory: SOCKET.

The socket, by its number, brings a line for each task: a JSON list of program, scenario, run
directory and log. The answer is the exit code of the process, negative for a signal. A task
inherits standard input, so that it stops where that ends, as a program of its own does.
"""

import gc
import json
import os
import runpy
import socket
import sys
import traceback
from contextlib import suppress
from importlib import import_module
from tempfile import TemporaryFile
from typing import IO
from warnings import catch_warnings

import numpy as np

from hpcsched.plugin_faults import FAULTS
from hpcsched.runs.kept_workload import keep_workload
from hpcsched.scenario import load_scenario


def main() -> None:
    """Fork a process for each line, one at a time."""
    tasks = socket.socket(fileno=int(sys.argv[1]))
    tasks.set_inheritable(False)
    _settle_modules()
    for line in tasks.makefile("r"):
        program, scenario, out, log = json.loads(line)
        # The process of the task tells what is wrong with its scenario, and warns of it.
        with suppress(*FAULTS), catch_warnings():
            keep_workload(load_scenario(scenario))
        with TemporaryFile("w+") as loaded:
            process = os.fork()
            if not process:
                os.close(tasks.detach())  # its end tells that the server is lost
                _run(program, [scenario, out], log, loaded)
            _, status = os.waitpid(process, 0)
            tasks.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())
            _import_again(loaded)


def _run(program: str, arguments: list[str], log: str, loaded: IO[str]) -> None:
    """Run a program as `python -m` does, note the modules that it loads, and end the process."""
    before, code = set(sys.modules), 1
    os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666), 1)
    os.dup2(1, 2)
    np.random.seed()  # new processes do not share a state either
    sys.argv = [program, *arguments]
    try:
        runpy.run_module(program, run_name="__main__", alter_sys=True)
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            sys.stderr.write(f"{end.code}\n")
    except BaseException:  # whatever ends a program stands in its log
        traceback.print_exc()
    finally:
        loaded.write("\n".join(set(sys.modules) - before))
        for stream in (loaded, sys.stdout, sys.stderr):
            stream.flush()
        # The end of the interpreter takes longer than many tasks.
        os._exit(code & 0xFF)


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
