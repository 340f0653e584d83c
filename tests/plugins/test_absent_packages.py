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
hidden = sys.argv.pop(1)
found = PathFinder.find_spec
PathFinder.find_spec = classmethod(
    lambda _, name, path=None, target=None:
        None if name.partition(".")[0] == hidden else found(name, path, target)
)
"""
COMMAND = f"{HIDING}\nfrom hpcsched.cli import main\nsys.exit(main())\n"
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
    for name, text in FILES.items():
        (folder / name).write_text(text)
    done = subprocess.run(
        [sys.executable, "-c", program, module, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **env},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("extra", "module", "package"),
    [
        ("choco", "pychoco", "pychoco"),
        ("cpo", "docplex", "docplex"),
        ("exact", "exact", "exact"),
        ("pumpkin", "pumpkin_solver", "pumpkin-solver"),
        ("z3", "z3", "z3-solver"),
    ],
)
def test_solvers(extra: str, module: str, package: str, tmp_path: Path) -> None:
    """The run is refused before it begins."""
    choice = f"dispatcher={{name: joint-now, solver: {extra}}}"
    told = hidden(module, COMMAND, tmp_path, "run", "easy.yaml", "--set", choice)
    assert told == (
        f"error: solver {extra}: the package {package} is not installed;"
        f" pip install 'hpcsched[{extra}]'"
    )
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
