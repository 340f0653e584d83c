"""The command line: the list of commands, each imported when it is named."""

import atexit
import errno
import gc
import logging
import os
import re
import sys
import traceback
from ast import literal_eval
from collections import UserDict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command, get_group

from hpcsched.errors import (
    DecisionError,
    HpcschedError,
    InputError,
    PluginError,
)
from hpcsched.interrupts import raised_as_interrupts
from hpcsched.paths import too_long
from hpcsched.plugin_faults import plugin_faults_named
from hpcsched.terminal import plain_streams
from hpcsched.version import __version__

if TYPE_CHECKING:
    from hpcsched.plugins.manager import AddedCommand

DEBUG = "HPCSCHED_DEBUG"
"""Set this environment variable to `1` to see the traceback of an internal or plugin error."""

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)
"""What the system says of a disk, a quota or a file size that is used up."""

PANELS = ("Start", "Run", "Look", "Study", "Site", "Extend")
"""Panels of `--help`, by what people come for; those of other packages follow."""

_PREFIX = "Value error, "


@cache
def commands() -> dict[str, tuple[str, str, str]]:
    """Return module, panel and summary of each built-in command, in the order of `--help`.

    They are in the table `COMMANDS` of each module of commands, which is read as text: none is
    imported before a command of it is named.
    """
    found = []
    for file in Path(__file__).parent.glob("*_commands.py"):
        table = re.search(r"^COMMANDS = (\{.*?^\})", file.read_text(encoding="utf-8"), re.M | re.S)
        rows = literal_eval(table[1]) if table else {}
        found += [(name, (file.stem, *row)) for name, row in rows.items()]
    return dict(sorted(found, key=lambda one: (PANELS.index(one[1][1]), one[0])))


class _StandardError(logging.Handler):
    """Writes messages to the standard error of the moment, which tests and shells replace."""

    def emit(self, record: logging.LogRecord) -> None:
        label = "" if record.levelno < logging.WARNING else f"{record.levelname.lower()}: "
        sys.stderr.write(f"{label}{record.getMessage()}\n")


_HANDLER = _StandardError()
_LOG = logging.getLogger("hpcsched")


def show_logs(*, verbose: bool) -> None:
    """Show warnings of the program on standard error; `verbose` shows information, too."""
    # One handler, however many commands a process runs.
    if _HANDLER not in _LOG.handlers:
        _LOG.addHandler(_HANDLER)
    # Every command sets the level anew: tests and notebooks call several in one process.
    _LOG.setLevel(logging.INFO if verbose else logging.WARNING)


class PlainGroup(TyperGroup):
    """Commands with usage errors in plain words."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that was named; say which package adds one that is not installed."""
        if args and self.get_command(ctx, args[0]) is None:
            from hpcsched.plugins.registry import OF_SLURM

            name = " ".join([*ctx.command_path.split()[1:], args[0]])
            if name in OF_SLURM["command"]:
                ctx.fail(f"the command {name!r} is not installed; pip install 'hpcsched[slurm]'")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was given."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = _plain(error)
            raise

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands without importing them."""
        return list(self.commands)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write a panel of commands for each purpose."""
        panels: dict[str, list[Any]] = {}
        for name in self.list_commands(ctx):
            if ctx.parent is None and name in commands():
                _, panel, summary = commands()[name]
            else:
                command: Any = self.get_command(ctx, name)
                panel = getattr(command, "rich_help_panel", None) or "Commands"
                summary = command.get_short_help_str(formatter.width - 6 - len(name))
            panels.setdefault(panel, []).append((name, summary))
        for panel in sorted(panels, key=lambda one: (*PANELS, one).index(one)):
            with formatter.section(panel):
                formatter.write_dl(panels[panel])


def _plain(error: Any) -> str:
    """Return the message of an error about a value, which pydantic may have found."""
    message = str(error.message)
    # Other versions of typer have no such cause, and say it themselves.
    if hasattr(error.__cause__, "errors"):
        from hpcsched.scenario.faults import sentence

        return sentence(error.__cause__.errors()[0])
    return message.removeprefix(_PREFIX)


class _Commands(UserDict[str, Any]):
    """The commands of a group by name, in the order of `--help`.

    Those of other packages are looked for when a name is none of the built-in ones, or for the list
    of all.
    """

    def __init__(self, built_in: Mapping[str, Any], group: str = "") -> None:
        super().__init__(built_in)
        self._group = group

    def __contains__(self, name: object) -> bool:
        return name in self.data or name in self._added()

    def __iter__(self) -> Iterator[str]:
        yield from self.data
        yield from sorted(self._added())

    def __getitem__(self, name: str) -> Any:
        if name not in self.data:
            added = self._added()[name]
            return _command(name, added.load(), added.command.panel)
        if self._group:
            return self.data[name]
        module, panel, _ = commands()[name]
        # `try` is a word of Python.
        made = getattr(import_module(f"{__name__}.{module}"), name.replace("try", "try_"))
        return _command(name, made, panel)

    def _added(self) -> "dict[str, AddedCommand]":
        """Return the commands of other packages within the group, by name."""
        from hpcsched.plugins.manager import added_commands

        found = {}
        for whole_name, added in added_commands().items():
            group, _, name = whole_name.rpartition(" ")
            if group == self._group:
                found[name] = added
                if name in self.data:
                    raise PluginError(
                        f"plugin clash: {added.distribution} adds the command {whole_name!r},"
                        " which hpcsched has; uninstall it"
                    )
        return found


@cache
def _command(name: str, made: Any, panel: str) -> Any:
    """Build the command of a function or a group of typer."""
    alone = typer.Typer(rich_markup_mode=None)
    group = isinstance(made, typer.Typer)
    if group:
        alone.add_typer(made, name=name)
    else:
        alone.command(name)(made)
    command: Any = get_group(alone).commands[name]
    command.rich_help_panel = panel
    if group:
        command.commands = _Commands(command.commands, name)
    return command


class _Hpcsched(PlainGroup):
    """The command `hpcsched`."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**{**given, "commands": _Commands(commands())})


app = typer.Typer(
    name="hpcsched",
    cls=_Hpcsched,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    # Rich would double the time that --help takes.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"hpcsched {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    context: typer.Context,
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
    verbose: Annotated[
        bool,
        typer.Option("--verbose", "-v", help="Show the log: failures and tracebacks."),
    ] = False,
) -> None:
    """Simulate job dispatching in HPC systems, and report the outcome."""
    show_logs(verbose=verbose)
    # Else click would drop what `plain_streams` is to show.
    context.color = True


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code.

    Parameters
    ----------
    arguments
        The arguments of the command line; those of the process if None.

    Returns
    -------
    int
        0 success, 1 fault in the user's input, 2 usage, 3 internal fault, 130 interrupted.
    """
    if arguments is None:
        _spare_processor_time()
    with plain_streams():
        try:
            given = sys.argv[1:] if arguments is None else list(arguments)
            with raised_as_interrupts(), plugin_faults_named():
                get_command(app)(args=given, prog_name="hpcsched")
        # Click ends by SystemExit; callers of `main` want a code.
        except SystemExit as leaving:
            if leaving.code is None or isinstance(leaving.code, int):
                return leaving.code or 0
            return _report(leaving)
        except KeyboardInterrupt:
            return 130
        except BaseException as error:
            return _report(error)
        return 0


def _spare_processor_time() -> None:
    # A replay has one thread. Those of OpenBLAS, which NumPy starts, would wait for work by turning
    # round.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # What is imported stays: looking for garbage in it, as often as by default and once more at the
    # end, takes a fifth of the time of a short command.
    gc.set_threshold(100_000)
    atexit.register(gc.freeze)


def _report(error: BaseException) -> int:
    """Print a line for each finding of an error, and return its exit code."""
    match error:
        case InputError():
            for finding in error.findings:
                _complain(str(finding))
            return 1
        case HpcschedError():
            # A plugin's own error is the cause; its traceback helps only the plugin's author.
            if error.__cause__ and (
                _LOG.isEnabledFor(logging.INFO) or os.environ.get(DEBUG) == "1"
            ):
                traceback.print_exception(error.__cause__)
            _complain(f"error: {error}")
            return 3 if isinstance(error, DecisionError) else 1
        # The limit is the file system's, so no check beforehand can know it.
        case OSError(filename=str() | PathLike() as path) if error.errno == errno.ENAMETOOLONG:
            _complain(f"error: {too_long(str(path))}")
            return 1
        # Of files in which hpcsched writes while it reads others; those in one piece name the path.
        case OSError() if error.errno in _FULL:
            where = f"{error.filename}: " if error.filename else ""
            _complain(f"error: {where}a file cannot be written: {error.strerror}")
            return 1
    if os.environ.get(DEBUG) == "1":
        traceback.print_exception(error)
    what = " ".join(f"{type(error).__name__}: {error}".split())
    _complain(f"internal error: {what}; set {DEBUG}=1 for the traceback")
    return 3


def _complain(line: str) -> None:
    typer.echo(line, err=True, color=True)
