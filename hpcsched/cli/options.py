"""Arguments and options that several commands share, their completion, and groups of options."""

import inspect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import MISSING, fields, is_dataclass
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
    groups = {
        name: hint for name, hint in hints.items() if isinstance(hint, type) and is_dataclass(hint)
    }

    def parameters() -> Iterator[inspect.Parameter]:
        for parameter in inspect.signature(command).parameters.values():
            if parameter.name in groups:
                yield from _of_group(groups[parameter.name])
            else:
                yield parameter.replace(annotation=hints[parameter.name])

    @wraps(command)
    def flat(*args: object, **options: object) -> None:
        made = {
            name: group(**{f.name: options.pop(f.name) for f in fields(group) if f.name in options})
            for name, group in groups.items()
        }
        command(*args, **options, **made)

    seen = list(parameters())
    # Typer reads the annotations and the signature, each by itself.
    flat.__annotations__ = {one.name: one.annotation for one in seen} | {"return": None}
    flat.__signature__ = inspect.Signature(seen)  # type: ignore[attr-defined]
    return flat


def _of_group(group: type) -> Iterator[inspect.Parameter]:
    """Yield a keyword-only parameter for each field of a dataclass."""
    hints = get_type_hints(group, include_extras=True)
    for field in fields(group):
        default = inspect.Parameter.empty if field.default is MISSING else field.default
        yield inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=default,
            annotation=hints[field.name],
        )


_SCENARIO = ("scenario", "scenarios", "first")
"""Parameters of commands that hold a scenario's file."""


def offered_runs(incomplete: str) -> list[str]:
    """Return the runs and experiments that a beginning may mean, by name or path."""
    from hpcsched.report.run_choice import INDEX, RUNS
    from hpcsched.runs.files import MANIFEST

    marks = (MANIFEST, INDEX)
    there = RUNS.iterdir() if RUNS.is_dir() else ()
    named = [path.name for path in there if any((path / mark).is_file() for mark in marks)]
    typed = Path(incomplete)
    parent = typed if incomplete.endswith("/") else typed.parent
    inside = parent.iterdir() if parent.is_dir() else ()
    folders = [str(path) for path in inside if path.is_dir() and not path.name.startswith(".")]
    return sorted(text for text in {*named, *folders} if text.startswith(incomplete))


def offered_settings(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the settings `KEY.PATH=VALUE` that a beginning may mean.

    Keys are those of the scenario that the command line names, defaults included; without one they
    are the keys at the top. The values that are offered are names of plugins.
    """
    key, given, value = incomplete.partition("=")
    if given:
        return [f"{key}={name}" for name in _plugin_names(key) if name.startswith(value)]
    return [f"{path}=" for path in _key_paths(ctx.params) if path.startswith(key)]


def _plugin_names(key: str) -> list[str]:
    """Return the names that a key may have as its value; none if it names no plugin."""
    from hpcsched.plugins import manager
    from hpcsched.registration import KINDS
    from hpcsched.scenario.choices import tag_of

    registry = manager.registry()
    for kind in KINDS:
        # A scenario calls the source of its trace `trace`, and a queue order `order`.
        blocks = {kind, kind.removeprefix("queue_"), kind.removesuffix("_source")}
        steps = key.split(".")
        last = steps[-2:] if steps[-1] == tag_of(kind) else steps[-1:]
        if last[0] in blocks:
            return registry.names(kind)
    return []


def _key_paths(params: dict[str, Any]) -> list[str]:
    from hpcsched.errors import HpcschedError
    from hpcsched.scenario.loading import load_scenario
    from hpcsched.scenario.models import Scenario
    from hpcsched.scenario.resolved import resolved_values

    given = next((params[name] for name in _SCENARIO if params.get(name)), None)
    file = given[0] if isinstance(given, list | tuple) else given
    if file is not None:
        # A scenario that is not valid yet is just what --set may mend.
        try:
            return list(_paths(resolved_values(load_scenario(file)), ""))
        except HpcschedError:
            pass
    return sorted(Scenario.model_fields)


def _paths(value: Any, path: str) -> Iterator[str]:
    """Yield the key paths of all values within a value, in their order."""
    if path:
        yield path
    if isinstance(value, dict):
        for key, inside in value.items():
            yield from _paths(inside, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for number, inside in enumerate(value):
            yield from _paths(inside, f"{path}[{number}]")


def offered_kinds(incomplete: str) -> list[str]:
    """Return the kinds of plugin that a beginning may mean."""
    from hpcsched.registration import KINDS

    return _hyphened(KINDS, incomplete)


def offered_new_kinds(incomplete: str) -> list[str]:
    """Return the kinds for which a new package can be written that a beginning may mean."""
    from hpcsched.plugins.new_package import kinds

    return _hyphened(kinds(), incomplete)


def offered_plugins(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the plugins that a beginning may mean, of the kind that the command line names."""
    from hpcsched.plugins import manager

    kind = str(ctx.params.get("kind") or "").replace("-", "_")
    return [name for name in manager.registry().names(kind) if name.startswith(incomplete)]


def _hyphened(kinds: Iterable[str], incomplete: str) -> list[str]:
    names = [kind.replace("_", "-") for kind in kinds]
    return [name for name in names if name.startswith(incomplete)]


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

    Raises InputError if a folder holds no scenario.
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
    Path, typer.Argument(metavar="SCENARIO", help="The scenario file.", callback=_no_log)
]
ScenarioFiles = Annotated[
    list[Path],
    typer.Argument(
        metavar="SCENARIO", help="Scenario files, or folders of them.", callback=_no_logs
    ),
]
OneRun = Annotated[
    Path,
    typer.Argument(
        metavar="RUN",
        help="A run directory, or a run's name in runs/.",
        autocompletion=offered_runs,
    ),
]
SeveralRuns = Annotated[
    list[Path],
    typer.Argument(
        metavar="RUN",
        help="Run directories, folders of runs, or runs' names in runs/.",
        autocompletion=offered_runs,
    ),
]
Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY.PATH=VALUE",
        help="Replace a value of each scenario; can be repeated.",
        autocompletion=offered_settings,
    ),
]


def _allow(context: typer.Context, names: list[str] | None) -> None:
    """Let the scenarios of a command use variables of the environment."""
    from hpcsched.paths import variables_allowed

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
        callback=_allow,
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
