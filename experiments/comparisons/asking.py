"""Records dispatching problems and has dispatchers asked them, by `hpcsched trace instances`."""

from collections.abc import Sequence
from pathlib import Path

from hpcsched.cli import main as hpcsched
from hpcsched.studies.problems.solving import SolvedTable


class FailedError(Exception):
    """A command came to no good end; it has said why."""


def record(scenario: Path, out: Path, options: Sequence[object]) -> None:
    """Save problems of a replay; raises FailedError where that fails."""
    _run("record", scenario, *options, "--out", out, "--force")


def ask(recorded: Path, scenario: Path, folder: Path, name: str, *values: str) -> SolvedTable:
    """Ask a scenario's dispatcher recorded problems, and return the table, FOLDER/NAME.parquet.

    `values` replace some of the scenario's, as with `--set`. Raises FailedError where that fails.
    """
    chosen = [part for value in (*values, f"name={name}") for part in ("--set", value)]
    _run("solve", recorded, scenario, "--out", folder, "--force", *chosen)
    return SolvedTable.open(table_of(folder, name))


def table_of(folder: Path, name: str) -> Path:
    """Return where the table of a name is."""
    return folder / f"{name}.parquet"


def _run(*arguments: object) -> None:
    if hpcsched(["trace", "instances", *map(str, arguments)]):
        raise FailedError(f"hpcsched trace instances {arguments[0]} failed")
