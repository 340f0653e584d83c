"""A plugin whose package is not installed is named in one line, with the extra to install."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

PROGRAM = """
import io, json, sys, traceback
from contextlib import redirect_stderr
from importlib.machinery import PathFinder
hidden, found = [], PathFinder.find_spec
PathFinder.find_spec = classmethod(
    lambda _, name, path=None, target=None:
        None if name.partition(".")[0] in hidden else found(name, path, target)
)
from hpcsched.cli import main
told = []
for modules, arguments in json.loads(sys.argv[1]):
    hidden[:] = modules
    with redirect_stderr(io.StringIO()) as errors:
        try:
            assert main(arguments) == 1
        except Exception:
            traceback.print_exc()
    told.append(errors.getvalue().splitlines()[-1])
print(json.dumps(told))
"""
"""Prints the last line of each command without some modules."""

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
    "sacct.txt": "JobID|Submit|Start|End|State\n1|2024-03-04T00:51:14|None|Unknown|PENDING\n",
    "a.swf": "".join(
        f"{k} {60 * k} -1 10 1 -1 -1 1 10 -1 1 1 1 1 1 1 -1 -1\n" for k in range(1, 41)
    ),
}


EXPERIMENT = ["experiment", "experiment.yaml"]
# A module that has been imported is no longer looked for: none is before the case that hides it.
CASES: dict[str, tuple[list[str], list[str]]] = {
    "dask": (["dask"], EXPERIMENT),
    "distributed": (["distributed"], EXPERIMENT),
    "optuna": (["optuna"], ["tune", "easy.yaml", "--space", "space.yaml"]),
    "figures": (["vl_convert"], ["plot", "ecdf", "runs/none", "--out", "waits.svg"]),
    "slurm": ([], ["run", "live.yaml"]),
    "log": ([], ["try", "sacct.txt", "--time-zone", "Europe/Prague"]),
    "sacct": ([], ["run", "easy.yaml", "--set", "trace.source=slurm-sacct"]),
}
"""Modules that are not there, and arguments of the command."""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the last line on standard error of each case; all are tried in one process."""
    folder = tmp_path_factory.mktemp("absent")
    for name, text in FILES.items():
        (folder / name).write_text(text)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(list(CASES.values()))],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "HPCSCHED_EXTERNAL_PLUGINS": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not (folder / "runs" / "small").exists()  # runs are refused before they begin
    return dict(zip(CASES, json.loads(done.stdout.splitlines()[-1]), strict=True))


@pytest.mark.parametrize("module", ["dask", "distributed"])
def test_dask(module: str, told: dict[str, str]) -> None:
    """Each of its packages is needed."""
    assert told[module] == (
        f"experiment.yaml:4:11: error: executor: executor dask: not installed: {module};"
        " pip install 'hpcsched[dask]' [not-installed]"
    )


def test_tune(told: dict[str, str]) -> None:
    """The search is refused."""
    assert told["optuna"] == (
        "error: tune: the package optuna is not installed; pip install 'hpcsched[tune]'"
    )


def test_figures(told: dict[str, str]) -> None:
    """A file is refused before runs are read."""
    assert told["figures"].startswith("error: to draw files install hpcsched[figures]")


def test_slurm(told: dict[str, str]) -> None:
    """A scenario that names Slurm is told where to get it."""
    assert told["slurm"].endswith(
        "error: live.workload_manager: no workload manager is called 'slurm'; it is not"
        " installed; pip install 'hpcsched[slurm]' [unknown-plugin]"
    )
    assert told["log"].startswith(
        "sacct.txt: error: no trace source is called 'slurm-sacct'; it is"
    )
    assert told["sacct"].endswith(
        "trace.source: no trace source is called 'slurm-sacct'; it is not"
        " installed; pip install 'hpcsched[slurm]' [unknown-plugin]"
    )
