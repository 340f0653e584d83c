"""Arguments, options and output that several commands share."""

import inspect
import json
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, is_dataclass
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from hpcsched.errors import Finding, InputError, Place

if TYPE_CHECKING:
    from hpcsched.report.tables.report_table import Table

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
    seen: list[inspect.Parameter] = []
    groups: dict[str, tuple[Any, list[str]]] = {}
    for name, parameter in inspect.signature(command).parameters.items():
        group: Any = parameter.annotation
        if isinstance(group, type) and is_dataclass(group):
            inside = inspect.signature(group).parameters.values()
            seen += [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in inside]
            groups[name] = group, [one.name for one in inside]
        else:
            seen.append(parameter)

    @wraps(command)
    def flat(*args: object, **options: object) -> None:
        made = {
            name: group(**{one: options.pop(one) for one in fields if one in options})
            for name, (group, fields) in groups.items()
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


def _free(context: typer.Context, out: Path | None) -> Path | None:
    """Refuse a file that is there without --force, before work that may take minutes."""
    if out is not None:
        from hpcsched.whole_files import check_target

        check_target(out, force=bool(context.params.get("force")))
    return out


def _quantiles(text: str) -> tuple[float, ...]:
    """Return quantiles in ascending order, each once."""
    try:
        shares = sorted({float(part) for part in text.split(",")})
    except ValueError:
        shares = []
    if not shares or not all(0 <= share <= 1 for share in shares):
        message = f"expected numbers from 0 to 1, with commas between them; found {text!r}"
        raise typer.BadParameter(message, param_hint="--quantiles")
    return tuple(shares)


def _mapping(text: str) -> dict[str, Any]:
    import yaml

    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError:
        value = None
    if not isinstance(value, dict):
        message = f"expected a mapping such as '{{units: 4, time: 2h}}'; found {text!r}"
        raise typer.BadParameter(message, param_hint="--if")
    return value


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
LogFile = Annotated[Path, typer.Argument(metavar="LOG", help="The log, plain or compressed.")]
PluginKind = Annotated[
    str, typer.Argument(metavar="KIND", help="Kind of plugin, such as dispatcher.")
]
PluginName = Annotated[str, typer.Argument(metavar="NAME", help="Name of the plugin.")]
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
NewFile = Annotated[Path, typer.Option("--out", help="The file to write.", callback=_free)]
StudyFolder = Annotated[
    Path | None, typer.Option("--out", help="The study's folder; runs/NAME by default.")
]
Preset = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Known data set of the log; by its columns by default."),
]
OutFile = Annotated[
    Path | None,
    typer.Option("--out", help="Write to this file instead of printing.", callback=_free),
]
TableFormat = Literal["text", "markdown", "latex", "csv", "json"]
TableFormatOption = Annotated[TableFormat, typer.Option("--format", help="The output format.")]
DataFormatOption = Annotated[
    Literal["text", "json"], typer.Option("--format", help="The output format.")
]
Quantiles = Annotated[
    Any, typer.Option(parser=_quantiles, metavar="Q,...", help="The quantiles, from 0 to 1.")
]
QUANTILES = "0.05,0.25,0.5,0.75,0.95"
Samples = Annotated[int, typer.Option(min=1, help="The number of sampled futures.")]
Supposed = Annotated[
    Any,
    typer.Option(
        "--if",
        parser=_mapping,
        metavar="JOB",
        help="A possible job: '{units: 4, core: 2, time: 2h, user: 7}'.",
    ),
]


def scenario_files(given: Iterable[Path]) -> list[Path]:
    """Return the files given, and of folders the YAML files directly in them, by name.

    Raises InputError if a folder holds none.
    """
    found: list[Path] = []
    for path in given:
        inside = [path]
        if path.is_dir():
            inside = sorted(one for one in path.iterdir() if one.suffix in (".yaml", ".yml"))
        if not inside:
            message = "the folder holds no YAML file"
            raise InputError(Finding("no-scenarios", message, Place(str(path))))
        found += inside
    return found


@contextmanager
def resumable() -> Iterator[None]:
    """Say after an interrupt that the command, started again, goes on."""
    try:
        yield
    except KeyboardInterrupt:
        typer.echo("interrupted; started again, it goes on from here", err=True)
        raise typer.Exit(130) from None


def json_text(content: Any) -> str:
    """Return content as indented JSON, keys in the order given."""
    return json.dumps(content, indent=2, ensure_ascii=False)


def warn(*messages: str) -> None:
    """Print warnings on standard error."""
    for message in messages:
        typer.echo(f"warning: {message}", err=True)


def emit(text: str, out: Path | None = None, *, force: bool = False) -> None:
    """Print text, or write it to a file and say so.

    Raises InputError if the file is there already and is not to be replaced, or cannot be written.
    """
    if out is None:
        typer.echo(text)
        return
    from hpcsched.whole_files import check_target, write_text

    check_target(out, force=force)
    write_text(out, f"{text}\n")
    typer.echo(f"wrote {out}")


def tables_text(
    tables: "Sequence[Table]",
    format_: TableFormat,
    content: Callable[[], Any],
    *,
    out: Path | None = None,
) -> str:
    """Return tables in a format.

    Parameters
    ----------
    out
        The file that text is for; None if it is printed, which on a terminal draws the tables.
    """
    if format_ == "json":
        return json_text(content())
    if format_ != "text":
        return "\n\n".join(getattr(table, f"as_{format_}")() for table in tables)
    # A drawn table in a file would have escape sequences and the width of a terminal.
    drawn = out is None and sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if drawn else None
    return "\n\n".join(table.as_text(width) for table in tables)


@dataclass(frozen=True)
class TextOutput:
    """Options on where text goes."""

    out: OutFile = None
    force: Force = False

    def write(self, text: str) -> None:
        """Print text, or write it to the file of `--out` and say so."""
        emit(text, self.out, force=self.force)


@dataclass(frozen=True)
class DataOutput(TextOutput):
    """Options on the output of sentences and lists."""

    format_: DataFormatOption = "text"

    def show(self, text: Callable[[], str], content: Callable[[], Any]) -> None:
        """Print text, or content as JSON, or write it to the file of `--out`."""
        self.write(json_text(content()) if self.format_ == "json" else text())


@dataclass(frozen=True)
class TableOutput(TextOutput):
    """Options on the output of tables."""

    format_: TableFormatOption = "text"

    def show(self, tables: "Sequence[Table]", content: Callable[[], Any]) -> None:
        """Print tables in the format, or write them to the file of `--out`."""
        self.write(tables_text(tables, self.format_, content, out=self.out))
