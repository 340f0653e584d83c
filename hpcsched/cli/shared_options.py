"""Arguments and options that several commands share, declared once so that they stay alike."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from hpcsched.cli.completion import offered_runs, offered_settings


class JobClass(StrEnum):
    """The names of classes of jobs; Slurm's qos is a log's queue, its account a group."""

    PARTITION = "partition"
    QUEUE = "queue"
    QOS = "qos"
    GROUP = "group"
    ACCOUNT = "account"
    USER = "user"
    SIZE = "size"
    GPU = "gpu"
    HOUR = "hour"


def class_kinds(by: Iterable[JobClass]) -> list[str]:
    """Return the kinds of classes with these names, each once."""
    from hpcsched.report import job_classes

    return job_classes.class_kinds(map(str, by))


def _no_log(path: Path) -> Path:
    """Refuse a log where a scenario is expected, with the command that replays it."""
    # Only a file that is not called like a scenario is looked into.
    if path.suffix not in (".yaml", ".yml"):
        from hpcsched.workload.log_recognition import refuse_log

        refuse_log(path)
    return path


def _no_logs(paths: list[Path]) -> list[Path]:
    """Refuse logs where scenarios are expected."""
    return [_no_log(path) for path in paths]


def scenario_files(given: Iterable[Path]) -> list[Path]:
    """Return the files given, and of folders the scenarios directly in them, by name.

    YAML files of other programs in a folder are left out, which is told.

    Raises
    ------
    InputError
        A folder holds no scenario.
    """
    found: list[Path] = []
    for path in given:
        if not path.is_dir():
            found.append(path)
            continue
        inside = sorted(one for one in path.iterdir() if one.suffix in (".yaml", ".yml"))
        ours = [one for one in inside if _is_ours(one)]
        for one in inside:
            if one not in ours:
                typer.echo(f"{one}: skipped: it has no key of a scenario or experiment", err=True)
        if not ours:
            from hpcsched.errors import Finding, InputError, Place

            message = "the folder holds no scenario" if inside else "the folder holds no YAML file"
            raise InputError(Finding("no-scenarios", message, Place(str(path))))
        found += ours
    return found


def _is_ours(path: Path) -> bool:
    """Return whether a line of a YAML file begins with a key of ours, even if it is damaged."""
    import re

    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        # What cannot be read is an error of its own.
        return True
    keys = "system|trace|dispatcher|scenarios?|matrix|variants|parameters"
    flow = text.lstrip().startswith("{")
    return re.search(rf"""{"" if flow else "^"}["']?({keys})["']?[ \t]*:""", text, re.M) is not None


ScenarioFile = Annotated[
    Path,
    typer.Argument(
        metavar="SCENARIO", help="The scenario file.", show_default=False, callback=_no_log
    ),
]
ScenarioFiles = Annotated[
    list[Path],
    typer.Argument(
        metavar="SCENARIO",
        help="Scenario files, or folders of them.",
        show_default=False,
        callback=_no_logs,
    ),
]
OneRun = Annotated[
    Path,
    typer.Argument(
        metavar="RUN",
        help="A run directory, or a run's name in runs/.",
        show_default=False,
        autocompletion=offered_runs,
    ),
]
SeveralRuns = Annotated[
    list[Path],
    typer.Argument(
        metavar="RUN",
        help="Run directories, folders of runs, or runs' names in runs/.",
        show_default=False,
        autocompletion=offered_runs,
    ),
]
Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY.PATH=VALUE",
        help="Replace a value of each scenario; can be repeated.",
        show_default=False,
        autocompletion=offered_settings,
    ),
]


def _allow(context: typer.Context, names: list[str] | None) -> None:
    """Let the scenarios of a command use variables of the environment."""
    from hpcsched.path_variables import variables_allowed

    for name in names or ():
        if not name.isidentifier() or not name.isascii():
            raise typer.BadParameter(f"expected the name of a variable, found {name!r}")
    context.with_resource(variables_allowed(names or ()))


Env = Annotated[
    list[str] | None,
    typer.Option(
        "--env",
        metavar="NAME",
        help="Let paths hold this variable of the environment; can be repeated.",
        show_default=False,
        callback=_allow,
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print warnings and errors only.")]
LivePageFile = Annotated[
    Path | None,
    typer.Option(
        "--page", help="Show the progress on a page in this HTML file.", show_default=False
    ),
]


@dataclass(frozen=True)
class Display:
    """Options on how progress is shown."""

    page: LivePageFile = None
    quiet: Quiet = False


# Eager: `--out` looks at it, wherever it stands.
Force = Annotated[bool, typer.Option("--force", help="Replace existing files.", is_eager=True)]
Baseline = Annotated[
    str | None,
    typer.Option(
        help="The run or configuration to compare with; the first by default.", show_default=False
    ),
]
ByClass = Annotated[
    list[JobClass] | None,
    typer.Option(help="Also by class of jobs; can be repeated.", show_default=False),
]
Recorded = Annotated[
    bool,
    typer.Option("--recorded", help="Add the log's own schedule, also for --baseline recorded."),
]
Verbose = Annotated[
    bool,
    typer.Option("--verbose", "-v", help="Show the log: slow rounds, failures and tracebacks."),
]
