"""A plugin whose package is not installed is named in one line, with the extra to install."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

HIDING = """
import sys
from importlib.machinery import PathFinder
hidden = sys.argv.pop(1).split(",")
found = PathFinder.find_spec
PathFinder.find_spec = classmethod(
    lambda _, name, path=None, target=None:
        None if name.partition(".")[0] in hidden else found(name, path, target)
)
"""
COMMAND = f"{HIDING}\nfrom hpcsched.cli import main\nsys.exit(main())\n"
SOLVERS = {
    "choco": ("pychoco", "pychoco"),
    "cpo": ("docplex", "docplex"),
    "exact": ("exact", "exact"),
    "pumpkin": ("pumpkin_solver", "pumpkin-solver"),
    "z3": ("z3", "z3-solver"),
}
"""Modules and packages of solvers, by the extras that bring them."""
EACH_SOLVER = f"""{HIDING}
from hpcsched.cli import main
chosen = "dispatcher={{name: joint-now, solver: %s}}"
codes = {{main(["run", "easy.yaml", "--set", chosen % solver]) for solver in sys.argv[1:]}}
sys.exit(max(codes) if len(codes) == 1 else "not all refused")
"""
SYSTEM = "name: small\nsystem: {groups: [{name: node, count: 4, resources: {core: 1}}]}\n"
RUN = f"{SYSTEM}trace: {{source: swf, path: a.swf}}\n"
LIVE = "live: {workload_manager: slurm, folder: state, partitions: [main], nodes: {node: 'n[1-4]'}}"
FILES = {
    "easy.yaml": f"{RUN}dispatcher: easy\n",
    "live.yaml": f"{RUN}dispatcher: easy\n{LIVE}\n",
    "experiment.yaml": (
        "name: e\nscenario: easy.yaml\nmatrix: [{seed: [1]}]\nexecutor: {name: dask, workers: 1}\n"
    ),
    "space.yaml": "name: s\nparameters: {seed: {low: 1, high: 9}}\ntrials: 2\n",
    "a.swf": "".join(
        f"{k} {60 * k} -1 10 1 -1 -1 1 10 -1 1 1 1 1 1 1 -1 -1\n" for k in range(1, 41)
    ),
}


def hidden(module: str, program: str, folder: Path, *arguments: str, **env: str) -> str:
    """Return the last line on standard error of a program that cannot import a module."""
    return all_told(module, program, folder, *arguments, **env)[-1]


def all_told(modules: str, program: str, folder: Path, *arguments: str, **env: str) -> list[str]:
    """Return the lines on standard error of a program that cannot import some modules."""
    for name, text in FILES.items():
        (folder / name).write_text(text)
    done = subprocess.run(
        [sys.executable, "-c", program, modules, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **env},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stderr.splitlines()


def test_solvers(tmp_path: Path) -> None:
    """Each run is refused before it begins."""
    modules = ",".join(module for module, _ in SOLVERS.values())
    told = all_told(modules, EACH_SOLVER, tmp_path, *SOLVERS)
    assert told == [
        f"error: solver {extra}: the package {package} is not installed;"
        f" pip install 'hpcsched[{extra}]'"
        for extra, (_, package) in SOLVERS.items()
    ]
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("module", ["dask", "distributed"])
def test_dask(module: str, tmp_path: Path) -> None:
    """Each of its packages is needed."""
    assert hidden(module, COMMAND, tmp_path, "experiment", "experiment.yaml") == (
        f"experiment.yaml:4:11: error: executor: executor dask: {module} is not installed;"
        " pip install 'hpcsched[dask]' [not-installed]"
    )


def test_tune(tmp_path: Path) -> None:
    """The search is refused."""
    told = hidden("optuna", COMMAND, tmp_path, "tune", "easy.yaml", "--space", "space.yaml")
    assert told == (
        "error: tune: the package optuna is not installed; pip install 'hpcsched[tune]'"
    )


def test_rl(tmp_path: Path) -> None:
    """Importing the environments fails with the sentence."""
    told = hidden("gymnasium", f"{HIDING}\nimport hpcsched.gym", tmp_path)
    assert told == (
        "hpcsched.errors.PluginError: hpcsched.gym: the package gymnasium is not installed;"
        " pip install 'hpcsched[rl]'"
    )


def test_slurm(tmp_path: Path) -> None:
    """A scenario that names Slurm is told where to get it."""
    arguments = ("live", "advise", "live.yaml")
    told = hidden("none", COMMAND, tmp_path, *arguments, HPCSCHED_EXTERNAL_PLUGINS="0")
    assert told.endswith(
        "error: live.workload_manager: no workload manager is called 'slurm'; it is not"
        " installed; pip install 'hpcsched[slurm]' [unknown-plugin]"
    )
