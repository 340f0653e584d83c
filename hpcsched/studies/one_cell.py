"""Program that runs one cell, a resolved scenario: SCENARIO OUT [KEY.PATH=VALUE...].

Standard input is a pipe that nothing is written to. It ends with the program that started this one,
and then this one stops too, so that no run goes on unattended.
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import hpcsched
from hpcsched.dispatching.rules.recorded import FollowsRecord
from hpcsched.errors import HpcschedError
from hpcsched.runs.assembly import assemble
from hpcsched.runs.kept_workload import kept_source
from hpcsched.runs.runner import replay_into_folder
from hpcsched.scenario.resolved import read_resolved_values

_WATCHER = "end of standard input"

AGAIN = 20.0
"""Seconds after which to interrupt again: an interrupt can be lost while modules load."""


def main(arguments: Sequence[str]) -> int:
    """Run a cell; return 0, 1 for a failure with a message, or 130 for an interrupt."""
    scenario, out, *overrides = arguments
    # A daemon: the wait for the end of the pipe must not keep a run that is done.
    if all(thread.name != _WATCHER for thread in threading.enumerate()):
        threading.Thread(target=_stop_with_starter, name=_WATCHER, daemon=True).start()
    try:
        # Not as a file of a user: nobody needs the places of its keys, which take time to find.
        values = read_resolved_values(Path(scenario))
        _replay(hpcsched.load_scenario(values, overrides), Path(out))
    except KeyboardInterrupt:
        return 130
    except HpcschedError as error:
        print(error, file=sys.stderr)  # noqa: T201 (who started this program reads it)
        return 1
    return 0


def _replay(scenario: hpcsched.Scenario, out: Path) -> None:
    """Replay a scenario as `hpcsched.run` does; jobs that are in memory are not read again."""
    assembly = assemble(scenario, folder=out)
    kept = kept_source(scenario)
    # Recorded waits belong to the reading of a log.
    if kept is not None and not isinstance(assembly.dispatcher, FollowsRecord):
        assembly.source = kept
    if replay_into_folder(assembly.build_all(), force=True).manifest.status == "interrupted":
        raise KeyboardInterrupt


def _stop_with_starter() -> None:
    # Not through sys.stdin, whose lock would be held when Python ends.
    if os.read(0, 1):
        return
    while True:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(AGAIN)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
