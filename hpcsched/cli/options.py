"""Arguments and options that several commands share, and groups of options."""

import inspect
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

_Command = Callable[..., None]


def with_option_groups(command: _Command) -> _Command:
    """Return a command with an option for each field of its groups.

    A group is a keyword-only parameter whose type is a dataclass; the fields are annotated as
    typer's parameters are, and each has a default.

    Examples
    --------
    >>> import typer
    >>> from dataclasses import dataclass
    >>> from typing import Annotated
    >>> @dataclass(frozen=True)
    ... class Size:
    ...     nodes: Annotated[int, typer.Option(help="Number of nodes.")] = 1
    ...     cores: Annotated[int, typer.Option(help="Cores of each.")] = 8
    >>> @with_option_groups
    ... def show(name: str, *, size: Size) -> None:
    ...     print(name, size.nodes * size.cores)
    >>> show("small", nodes=4)
    small 32
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    seen: list[inspect.Parameter] = []
    for parameter in inspect.signature(command).parameters.values():
        group = groups.get(parameter.name)
        if group is None:
            seen.append(parameter.replace(annotation=hints[parameter.name]))
            continue
        of_fields = get_type_hints(group, include_extras=True)
        seen += [
            inspect.Parameter(
                field.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=field.default,
                annotation=of_fields[field.name],
            )
            for field in fields(group)
        ]

    @wraps(command)
    def flat(*args: object, **options: object) -> None:
        made = {
            name: group(**{f.name: options.pop(f.name) for f in fields(group) if f.name in options})
            for name, group in groups.items()
        }
        command(*args, **options, **made)

    # Typer reads the annotations and the signature, each by itself.
    flat.__annotations__ = {one.name: one.annotation for one in seen} | {"return": None}
    flat.__signature__ = inspect.Signature(seen)  # type: ignore[attr-defined]
    return flat


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


def _no_log(given: Path | list[Path]) -> Path | list[Path]:
    """Refuse a log where a scenario is expected, with the command that replays it."""
    from hpcsched.workload.log_recognition import refuse_log

    for path in given if isinstance(given, list) else [given]:
        # Only a file that is not called like a scenario is looked into.
        if path.suffix not in (".yaml", ".yml"):
            refuse_log(path)
    return given


def scenario_files(given: Iterable[Path]) -> list[Path]:
    """Return the files given, and of folders the YAML files directly in them, by name.

    Raises InputError if a folder holds none.
    """
    found: list[Path] = []
    for path in given:
        if path.is_dir():
            inside = sorted(one for one in path.iterdir() if one.suffix in (".yaml", ".yml"))
            if not inside:
                from hpcsched.errors import Finding, InputError, Place

                message = "the folder holds no YAML file"
                raise InputError(Finding("no-scenarios", message, Place(str(path))))
            found += inside
        else:
            found.append(path)
    return found


ScenarioFile = Annotated[
    Path, typer.Argument(metavar="SCENARIO", help="The scenario file.", callback=_no_log)
]
ScenarioFiles = Annotated[
    list[Path],
    typer.Argument(
        metavar="SCENARIO", help="Scenario files, or folders of them.", callback=_no_log
    ),
]
OneRun = Annotated[
    Path, typer.Argument(metavar="RUN", help="A run directory, or a run's name in runs/.")
]
SeveralRuns = Annotated[
    list[Path],
    typer.Argument(metavar="RUN", help="Run directories, folders of runs, or names in runs/."),
]
Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY.PATH=VALUE",
        help="Replace a value of each scenario; can be repeated.",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print warnings and errors only.")]


# Eager: `--out` looks at it, wherever it stands.
Force = Annotated[bool, typer.Option("--force", help="Replace existing files.", is_eager=True)]
Baseline = Annotated[
    str | None, typer.Option(help="The run or configuration to compare with; the first by default.")
]
ByClass = Annotated[
    list[JobClass] | None, typer.Option(help="Also by class of jobs; can be repeated.")
]
Recorded = Annotated[
    bool,
    typer.Option("--recorded", help="Add the log's own schedule, also for --baseline recorded."),
]
Verbose = Annotated[
    bool,
    typer.Option("--verbose", "-v", help="Show the log: failures and tracebacks."),
]
