"""Progress bar over the problems of a file."""

import sys
from collections.abc import Iterator

from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.runs.terminal_views import TerminalConsole
from hpcsched.studies.problems.files import InstancesFile
from hpcsched.studies.problems.solving import Problems
from hpcsched.terminal import can_draw


class SolvingProgress:
    """Progress of a scenario's dispatcher through a file.

    Shown only if standard error is a terminal.
    """

    def __init__(self, instances: InstancesFile) -> None:
        self._instances = instances

    def __call__(self, name: str, problems: Problems) -> Iterator[DispatchingProblem]:
        """Yield the problems, and show the progress as they are asked for."""
        console = TerminalConsole(sys.stderr)
        with Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[problems]} problems"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not can_draw(sys.stderr),
        ) as progress:
            task = progress.add_task(name, total=1, problems=0)
            for number, problem in enumerate(problems):
                read = self._instances.fraction_read
                progress.update(task, completed=read, problems=number)
                yield problem
