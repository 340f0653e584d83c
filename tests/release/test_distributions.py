"""Wheels and sdists of all distributions, installed in an environment of their own."""

import os
import subprocess
import sys
import sysconfig
import tarfile
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLUGINS = ("hpcsched_example", "hpcsched_learned", "hpcsched_slurm")
TIMEOUT = 900
"""Seconds for one command; an installation from a registry is the longest."""


def _run(*command: object, cwd: Path) -> str:
    """Run a command outside the project, and return its output."""
    kept = ("PATH", "HOME", "TMPDIR", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_CONFIG_FILE")
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={name: os.environ[name] for name in kept if name in os.environ},
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Wheels and sdists: those of `make release`, or built here."""
    if "HPCSCHED_DIST" in os.environ:
        return Path(os.environ["HPCSCHED_DIST"])
    folder = tmp_path_factory.mktemp("dist")
    for source in (ROOT, *sorted((ROOT / "plugins").iterdir())):
        _run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, source, cwd=ROOT)
    return folder


@pytest.fixture(scope="module")
def clean(dist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of commands of an environment in which the wheels are installed.

    What they depend on is taken from the environment of the tests, whose editable installation of
    hpcsched is not seen: Python reads no `.pth` files in folders that a `.pth` file names.
    """
    folder = tmp_path_factory.mktemp("clean")
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = Path(_run(python, "-c", where, cwd=folder).strip())
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    wheels = sorted(dist.glob("*.whl"))
    assert len(wheels) == 1 + len(PLUGINS)
    _run(python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", *wheels, cwd=folder)
    return python.parent


@pytest.mark.slow
def test_wheels_work_outside_the_project(clean: Path, tmp_path: Path) -> None:
    """A scenario that names a system by its name is replayed and audited; plugins are found."""
    package = "import hpcsched, pathlib; print(pathlib.Path(hpcsched.__file__).parent)"
    installed = Path(_run(clean / "python", "-c", package, cwd=tmp_path).strip())
    assert clean.parent in installed.parents
    assert (installed / "py.typed").is_file()
    scenario = tmp_path / "scenario.yaml"
    scenario.write_text(
        "name: made-up\nsystem: eurora\ntrace: {source: eurora-like, jobs: 20}\n"
        "predictor: requested-time\ndispatcher: easy\n"
    )
    assert "20 completed" in _run(clean / "hpcsched", "run", scenario, "--out", "run", cwd=tmp_path)
    assert "not ok" not in _run(clean / "hpcsched", "verify", "run", cwd=tmp_path)
    tried = _run(clean / "hpcsched", "try", "--example", "--jobs", "50", cwd=tmp_path)
    assert "50 completed" in tried
    listed = _run(clean / "hpcsched", "plugins", "list", cwd=tmp_path)
    for name in PLUGINS:
        assert name.replace("_", "-") in listed


@pytest.mark.slow
def test_sdists_hold_what_tests_need(dist: Path) -> None:
    """The sdist of hpcsched can be tested: it has the tests, scenarios and Makefile."""
    [sdist] = dist.glob("hpcsched-*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {
        "Makefile",
        "constraints.txt",
        "hpcsched/version.py",
        "scenarios/small-easy.yaml",
        "schemas/scenario.schema.json",
        "tests/release/test_distributions.py",
        "docs/develop/architecture.md",
    } <= names
