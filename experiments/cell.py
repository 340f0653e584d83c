"""A cell of a comparison: one run, with its scenario and its run directory."""

from dataclasses import dataclass
from pathlib import Path

from hpcsched.errors import InputError
from hpcsched.results.directory import RunDirectory
from hpcsched.scenario import Scenario, load_scenario, resolved_yaml


@dataclass(frozen=True, slots=True)
class Cell:
    """One run: its group and label, the scenario file, what is put into it, its run directory."""

    group: str
    label: str
    scenario: Path
    overrides: tuple[str, ...]
    folder: Path

    @property
    def name(self) -> str:
        """How it is called where it is reported."""
        return f"{self.group}/{self.label}"

    def load(self) -> Scenario:
        """Return its scenario; raises InputError with all that is wrong with it."""
        return load_scenario(self.scenario, self.overrides)


def finished(cell: Cell, scenario: Scenario) -> RunDirectory | None:
    """Return a cell's run if it is complete and is of just this scenario, else None."""
    try:
        run = RunDirectory.open(cell.folder)
        stored = run.scenario_path.read_text(encoding="utf-8")
    except (InputError, OSError, UnicodeDecodeError):
        return None
    return None if run.partial or stored != resolved_yaml(scenario) else run
