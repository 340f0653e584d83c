"""The page on solvers: its plugin works, and its tables are of what there is."""

import json
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import cpmpy as cp
import numpy as np
import pytest
import yaml

from hpcsched import cli
from hpcsched.dispatching.cp.backends.any_solver import AnySolver
from hpcsched.dispatching.cp.backends.backend import Budget
from hpcsched.dispatching.cp.backends.ortools import OrTools
from hpcsched.plugins.index import built_in
from tests.dispatching.cp.backends.test_backends import crowd, list_plan
from tests.dispatching.cp.making import FORMULATIONS
from tests.docs.pages import DOCS, ROOT, blocks, tables
from tests.plugins.distributions import Distributions

PAGE = DOCS / "backends.md"
NAMES = [row.name for row in built_in() if row.kind == "solver"]
BLOCKS = blocks(PAGE)
(MODULE,) = (
    block.text for block in BLOCKS if block.text.startswith("# hpcsched_plain_ortools.py\n")
)
(PROJECT,) = (block.text for block in BLOCKS if block.text.startswith("[build-system]"))
KEYS = [block.text for block in BLOCKS if block.language == "yaml"][-1]
SCENARIO = ROOT / "scenarios" / "small-joint-now.yaml"


@pytest.fixture
def _installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install the plugin of the page: its module, under the name that the project declares."""
    about = tomllib.loads(PROJECT)["project"]
    (module,) = about["entry-points"]["hpcsched"].values()
    assert module == about["name"].replace("-", "_")
    distributions = Distributions(tmp_path, monkeypatch)
    distributions.install(about["name"], about["version"], MODULE)
    yield
    distributions.forget()


def _optional(*solvers: str) -> list[Any]:
    """Return solvers of CPMpy, those that are not installed with a mark that says so."""
    return [
        pytest.param(
            name,
            marks=pytest.mark.skipif(
                not cp.SolverLookup.lookup(name).supported(),
                reason=f"CPMpy does not find the solver {name}",
            ),
        )
        for name in solvers
    ]


SOLVERS = _optional("ortools", "choco", "exact", "scip", "highs", "gcs")


def _check_run(folder: Path, dispatcher: object, why: str) -> None:
    """Run with a dispatcher: all jobs complete, `verify` agrees, and a clock is named."""
    out = folder / "run"
    asked = ["--set", f"dispatcher={json.dumps(dispatcher)}", "--out", str(out)]
    assert cli.main(["run", str(SCENARIO), "--set", "trace.jobs=60", *asked]) == 0
    assert cli.main(["verify", str(out)]) == 0
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    assert summary["jobs"]["completed"] == 60
    assert set(summary["rounds"]["solver"]) <= {"optimal", "feasible", "unknown"}
    assert sum(summary["rounds"]["solver"].values()) > 0
    manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["not_reproducible_because"] == [why]


@pytest.mark.usefixtures("_installed")
def test_the_plugin_of_the_page_solves_what_a_scenario_asks(tmp_path: Path) -> None:
    """Its name is a solver like any other."""
    why = "the solver plain-ortools stops by the clock"
    _check_run(tmp_path, yaml.safe_load(KEYS)["dispatcher"], why)


@pytest.mark.parametrize("solver", [s for s in SOLVERS if s.values != ("exact",)])
def test_any_solver_of_cpmpy_solves_what_a_scenario_asks(tmp_path: Path, solver: str) -> None:
    """Solvers that take no hint are asked without one."""
    chosen = {"name": "joint-now", "solver": {"name": "cpmpy", "solver": solver}, "budget": 0.5}
    _check_run(tmp_path, chosen, "the solver cpmpy stops by the clock")


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("hinted", [False, True], ids=["from nothing", "from a hint"])
@pytest.mark.parametrize("formulation", ["hcp19", "joint-now"])
def test_any_solver_of_cpmpy_proves_what_ortools_proves(
    solver: str, formulation: str, hinted: bool
) -> None:
    """Fixed tasks, of running jobs, are constants that every solver takes."""
    data = crowd(4)
    data = replace(
        data,
        allocated_until=np.array([3]),
        allocated_on=np.array([0]),
        allocated=np.array([[2, 1]]),
        horizon=data.horizon + 3,
    )
    built = FORMULATIONS[formulation].build(data)
    hint = built.hint(list_plan(data)) if hinted else None
    found = AnySolver(solver).load(built).solve(Budget(60), hint)
    expected = OrTools().load(FORMULATIONS[formulation].build(data)).solve(Budget(60), None)
    assert found.status == expected.status == "optimal"
    assert found.objective == expected.objective


@pytest.mark.parametrize("table", [0, 1], ids=["what there is", "how they differ"])
def test_every_solver_is_in_the_tables(table: int) -> None:
    """The page knows the solvers that a scenario can name, and no others."""
    _, *rows = tables(PAGE.read_text(encoding="utf-8"))[table]
    assert sorted(row[0].strip("`") for row in rows) == sorted(NAMES)
