"""Cells of an experiment: one scenario with its seed, and the address of its run."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from hpcsched.parameters import InputFile
from hpcsched.plugins.registry import Registry
from hpcsched.runs.assembly import assemble
from hpcsched.runs.manifest import FORMAT, package_versions, sha256
from hpcsched.scenario.choices import Choice
from hpcsched.scenario.key_path import blocks, mark_of, show_key_path, texts
from hpcsched.scenario.models import Scenario
from hpcsched.scenario.resolved import resolved_yaml
from hpcsched.studies.executors.executor import TaskFile

SOLVER_PACKAGES = ("cpmpy", "ortools", "pychoco", "pumpkin-solver", "z3-solver", "exact")
"""Packages whose version may change the answers of a solver."""


@dataclass(frozen=True)
class Cell:
    """One cell of an experiment.

    Attributes
    ----------
    replica
        Number of the replica, from 1.
    address
        SHA-256 of everything that the results depend on.
    """

    labels: Mapping[str, str]
    replica: int
    scenario: Scenario = field(repr=False)
    text: str = field(repr=False)
    files: tuple[TaskFile, ...] = field(repr=False)
    address: str

    @property
    def name(self) -> str:
        """Name of the scenario, made of the labels."""
        return self.scenario.name


def make_cell(
    labels: Mapping[str, str], replica: int, scenario: Scenario, registry: Registry
) -> Cell:
    """Return the cell of a validated scenario."""
    text = resolved_yaml(scenario)
    files = tuple(_input_files(scenario))
    return Cell(labels, replica, scenario, text, files, _address(text, files, scenario, registry))


def replica_seed(seed: int, replica: int) -> int:
    """Return the seed of a replica: the scenario's own for the first, then spawned from it.

    So the first runs of a cell stay as they are when more replicas are added. A spawned seed is
    below 2⁵³, which JSON holds exactly.
    """
    if replica == 1:
        return seed
    digest = hashlib.sha256(f"{seed}/replica/{replica}".encode()).digest()
    return int.from_bytes(digest[:8]) >> 11


def _input_files(scenario: Scenario) -> list[TaskFile]:
    """Return the input files of a scenario, with the key path of each."""
    found = []
    for path, block in blocks(scenario):
        for name, declared in type(block).model_fields.items():
            if mark_of(declared, InputFile) is None:
                continue
            for key, text in texts(getattr(block, name), (*path, name)):
                found.append(TaskFile(show_key_path(key), text, _content_of(text)))
    return found


def _content_of(path: str) -> str:
    """Return the SHA-256 of a file, which is read once for all cells unless it changes."""
    try:
        # A matrix of a thousand cells would read its trace a thousand times.
        now = Path(path).stat()
    except OSError:
        return sha256(Path(path))  # which says why
    return _content_as_of(path, now.st_ino, now.st_size, now.st_mtime_ns)


@cache
def _content_as_of(path: str, *_as_of: int) -> str:
    return sha256(Path(path))


def _address(text: str, files: tuple[TaskFile, ...], scenario: Scenario, registry: Registry) -> str:
    choices = [block for _, block in blocks(scenario) if isinstance(block, Choice)]
    packages = package_versions()
    # Scenarios without a solver keep their results, and so their address, when a solver is updated.
    if any(choice.plugin_kind == "solver" for choice in choices):
        packages |= solver_versions()
    content = {
        "format": FORMAT,
        "scenario": text,
        "packages": packages,
        "plugins": assemble(scenario, registry).distributions(),
        "files": {file.key: file.sha256 for file in files},
    }
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


@cache
def solver_versions() -> dict[str, str]:
    """Return the versions of the installed solvers, by package."""
    found = {}
    for name in SOLVER_PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue  # a scenario that names it cannot be run here anyway
    return found
