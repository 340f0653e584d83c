"""The distribution works on every version of Python that the classifiers name."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
INTERPRETERS = "HPCSCHED_TEST_PYTHONS"
"""Interpreters beside those on the PATH, with colons between them."""

TIMEOUT = 1800
"""Seconds for one command; an installation from a registry is the longest."""

CLASSIFIER = re.compile(r"Programming Language :: Python :: (3\.\d+)")


def versions() -> list[str]:
    """Return the versions of Python that the classifiers name."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return [found[1] for found in map(CLASSIFIER.fullmatch, project["classifiers"]) if found]


def interpreter(version: str) -> Path | None:
    """Return an interpreter of a version, from the variable or on the PATH; None without one."""
    given = [path for path in os.environ.get(INTERPRETERS, "").split(os.pathsep) if path]
    on_path = shutil.which(f"python{version}")
    for path in [*given, *([on_path] if on_path else [])]:
        if shutil.which(path) is None:
            continue
        command = [path, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0 and done.stdout.strip() == version:
            return Path(path)
    return None


def run(*command: object, cwd: Path, env: dict[str, str]) -> str:
    """Run a command, and return its output; standard error must hold no warning of Python."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert not re.search(r"\w+Warning:", done.stderr), done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of wheel and sdist: those of `make release`, or built here."""
    folder = tmp_path_factory.mktemp("dist")
    if "HPCSCHED_DIST" in os.environ:
        folder = Path(os.environ["HPCSCHED_DIST"])
    else:
        build = (sys.executable, "-m", "build", "--no-isolation", "--outdir", folder)
        run(*build, ROOT, cwd=ROOT, env=dict(os.environ))
    return folder


def fitting(dist: Path, version: str) -> Path:
    """Return a wheel for a version of Python, or the sdist, which is compiled."""
    # The stable ABI is that of 3.12: 3.11 has wheels of its own.
    tag = "cp311-cp311" if version == "3.11" else "cp312-abi3"
    [found] = [*dist.glob(f"hpcsched-*-{tag}-*.whl")] or dist.glob("hpcsched-*.tar.gz")
    return found


def test_versions_are_named() -> None:
    """The least version of the requirement is among them, and they are in order."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["requires-python"] == f">={versions()[0]}"
    assert versions() == sorted(versions())


def test_interpreters_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable names this interpreter; of a version that nobody has there is none."""
    monkeypatch.setenv(INTERPRETERS, os.pathsep.join(["/no/such/python", sys.executable]))
    assert interpreter("{}.{}".format(*sys.version_info[:2])) == Path(sys.executable)
    assert interpreter("3.999") is None


@pytest.mark.slow
@pytest.mark.parametrize("version", versions())
def test_works(version: str, dist: Path, tmp_path: Path) -> None:
    """In an empty folder and an empty environment: help, schema, example, run and audit."""
    python = interpreter(version)
    if python is None:
        pytest.skip(f"no Python {version} on the PATH or in {INTERPRETERS}")
    home = tmp_path / "home"
    home.mkdir()
    environment = tmp_path / "environment"
    plain = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    run(python, "-m", "venv", environment, cwd=tmp_path, env=plain)
    pip = (environment / "bin" / "python", "-m", "pip", "install", "--quiet")
    subprocess.run(
        [
            *map(str, pip),
            "--constraint",
            str(ROOT / "constraints.txt"),
            str(fitting(dist, version)),
        ],
        cwd=tmp_path,
        env=plain,
        timeout=TIMEOUT,
        check=True,
    )
    hpcsched = environment / "bin" / "hpcsched"
    empty = {"PATH": "/usr/bin:/bin", "HOME": str(home), "PYTHONWARNINGS": "default"}
    folder = tmp_path / "empty"
    folder.mkdir()

    def command(*arguments: object) -> str:
        return run(hpcsched, *arguments, cwd=folder, env=empty)

    assert "Usage: hpcsched" in command("--help")
    assert '"$id": "urn:hpcsched:scenario"' in command("schema")
    assert "50 completed" in command("try", "--example", "--jobs", "50", "--save", "scenarios")
    shutil.copytree(ROOT / "scenarios", folder / "quickstart")
    first = ("--set", "trace.jobs=60", "--set", "objective=af", "--out", "runs")
    names = ("small-easy", "small-order-search", "small-cp")
    scenarios = [f"quickstart/{name}.yaml" for name in names]
    assert "* is the best" in command("run", *scenarios, *first)
    for name in names:
        assert command("verify", f"runs/{name}").splitlines()[-1] == "ok"
