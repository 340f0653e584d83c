"""The architecture: each package imports only from the floors below its own."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "hpcsched"

# From the ground up; what stands on one floor does not import its neighbours.
FLOORS = (
    ("errors", "paths", "arrow_arrays"),
    ("parameters",),
    ("slurm",),  # the syntax alone, of no scenario and no trace
    ("system", "workload", "metrics", "execution"),
    ("prediction", "dispatching"),
    ("simulation",),
    ("results",),
    ("plugin",),  # registers what the floors below offer, observers among it
    ("scenario",),
    ("assembly", "report"),
    ("watching",),
    ("column_run", "event_run"),  # the two ways to replay a run
    ("runner",),
    ("replaying",),
    ("instances", "experiment", "live"),
    ("evaluation",),
    ("testing", "cli"),
)
LEVEL = {name: level for level, floor in enumerate(FLOORS) for name in floor}

# A trace source skips jobs that no node can hold, so it asks the system.
NEIGHBOURS = {("workload", "system")}


def imports(tree: ast.AST) -> Iterator[str]:
    """Yield the part of hpcsched that each import names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("hpcsched."):
            yield str(node.module).split(".")[1]
        elif isinstance(node, ast.ImportFrom) and node.module == "hpcsched":
            yield from (alias.name for alias in node.names if alias.name in LEVEL)


MODULES = [
    p for p in sorted(PACKAGE.rglob("*.py")) if p.relative_to(PACKAGE).parts[0] != "__init__.py"
]


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_a_module_imports_only_from_below(path: Path) -> None:
    """An import of a higher floor, or of a neighbour, turns the house upside down."""
    own = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    for other in imports(ast.parse(path.read_text())):
        allowed = other == own or LEVEL[other] < LEVEL[own] or (own, other) in NEIGHBOURS
        assert allowed, f"{own} must not import {other}"


# Dispatchers are built in storeys of their own; what is not in one of them stands below.
STOREYS = ("", "core", "heuristic", "planning", "search", "cp", "offline", "hyper")


def storey(parts: tuple[str, ...]) -> int:
    """Return the storey of a module within `dispatching`, by the parts of its name below that."""
    return STOREYS.index(parts[0]) if parts and parts[0] in STOREYS else 0


@pytest.mark.parametrize(
    "path", sorted((PACKAGE / "dispatching").rglob("*.py")), ids=lambda p: p.name
)
def test_a_dispatcher_imports_only_from_below(path: Path) -> None:
    """What dispatchers share knows nothing of those that use it."""
    own = path.relative_to(PACKAGE / "dispatching").parts
    for node in ast.walk(ast.parse(path.read_text())):
        module = (node.module or "") if isinstance(node, ast.ImportFrom) else ""
        if module.startswith("hpcsched.dispatching."):
            other = tuple(module.split(".")[2:])
            assert storey(other) <= storey(own), f"{path.name} must not import {module}"
