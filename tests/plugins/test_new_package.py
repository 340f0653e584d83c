"""Packages with new plugins: each kind has one, and its tests pass as it is written."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from hpcsched.errors import InputError
from hpcsched.plugins.new_package import kinds, write_package
from hpcsched.registration import KINDS

ROOT = Path(__file__).parents[2]


def test_each_kind_has_a_template() -> None:
    """Every kind that can be registered, and formulations."""
    assert set(kinds()) == {*KINDS, "formulation"}


def run_tests(folder: Path, *options: str) -> str:
    """Run the tests in a folder, with warnings as errors; return what is printed."""
    return python(folder, "pytest", "-q", "-p", "no:cacheprovider", "-W", "error", *options)


def check_style(folder: Path, *options: str) -> None:
    """Expect that ruff finds nothing in a folder."""
    python(folder, "ruff", "check", "-q", "--line-length=100", "--select=E,F,I,UP,B", *options, ".")


def python(folder: Path, *arguments: str) -> str:
    """Run a module in a folder and expect success; return what is printed."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "HPCSCHED_EXTERNAL_PLUGINS": "0"}
    done = subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_tests_of_all_pass(tmp_path: Path) -> None:
    """The tests of new packages of all kinds pass, in one process, and ruff finds nothing."""
    # As short as `my-own`, so that lines are no longer than with that name.
    names = {kind: f"my-{k}" for k, kind in enumerate(kinds())}
    for kind, name in names.items():
        write_package(kind, name, tmp_path / name)
    sources = " ".join(f"{name}/src" for name in names.values())
    said = run_tests(
        tmp_path,
        *("-v", "--import-mode=importlib", "--rootdir=.", "-o", f"pythonpath={sources}"),
        *(f"{name}/tests" for name in names.values()),
    )
    for name in names.values():
        module = f"hpcsched_{name.replace('-', '_')}"
        assert f"{name}/tests/test_{module}.py" in said
    check_style(tmp_path, "--config", f"src = {sources.split()}")


@pytest.mark.parametrize(
    "kind",
    [k if k == "transform" else pytest.param(k, marks=pytest.mark.slow) for k in kinds()],
)
def test_its_tests_pass(kind: str, tmp_path: Path) -> None:
    """The tests of a new package pass in its own folder, and ruff finds nothing."""
    write_package(kind, "my-own", tmp_path / "package")
    assert " passed" in run_tests(tmp_path / "package")
    check_style(tmp_path / "package")


def test_project(tmp_path: Path) -> None:
    """The module of the entry point is the one that is written."""
    written = write_package("trace-source", "my-own", tmp_path / "new")
    project = tomllib.loads((tmp_path / "new" / "pyproject.toml").read_text())
    assert project["project"]["name"] == "hpcsched-my-own"
    assert project["project"]["entry-points"]["hpcsched"] == {"hpcsched_my_own": "hpcsched_my_own"}
    assert tmp_path / "new" / "src" / "hpcsched_my_own" / "__init__.py" in written
    assert all(path.is_file() for path in written)


@pytest.mark.parametrize("name", ["", "My-Own", "1st", "a b", "a_b", "-a", "a-", "a--b", "../a"])
def test_names_that_will_not_do(name: str, tmp_path: Path) -> None:
    """Nothing is written."""
    with pytest.raises(InputError, match="expected small letters and digits"):
        write_package("dispatcher", name, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_unknown_kind(tmp_path: Path) -> None:
    """The kinds are named."""
    with pytest.raises(InputError, match=r"allocator, correction, .*found 'dispatch'"):
        write_package("dispatch", "my-own", tmp_path / "new")


def test_folder_that_exists(tmp_path: Path) -> None:
    """It is left as it is."""
    with pytest.raises(InputError, match="expected a folder that does not exist yet"):
        write_package("dispatcher", "my-own", tmp_path)
    assert not list(tmp_path.iterdir())


def test_what_to_delete_for_an_objective_that_is_no_sum(tmp_path: Path) -> None:
    """Without `planned_cost` exactly the imports that the docstring names are unused."""
    write_package("objective", "longest-wait", tmp_path / "new")
    path = tmp_path / "new/src/hpcsched_longest_wait/__init__.py"
    module = ast.parse(path.read_text())
    (own,) = (one for one in module.body if isinstance(one, ast.ClassDef))
    told = set(re.findall(r"`(\w+)`", ast.get_docstring(own) or ""))
    (cost,) = (one for one in own.body if getattr(one, "name", "") == "planned_cost")
    own.body.remove(cost)
    imports = (one for one in module.body if isinstance(one, ast.Import | ast.ImportFrom))
    imported = {name.asname or name.name for one in imports for name in one.names}
    used = {one.id for one in ast.walk(module) if isinstance(one, ast.Name)}
    assert imported - used == told - {"planned_cost", "test_pursued"}
    assert "def test_pursued" in next((tmp_path / "new/tests").glob("test_*.py")).read_text()


def test_the_formulation_needs_public_names_alone(tmp_path: Path) -> None:
    """Everything of hpcsched comes from `hpcsched` itself."""
    write_package("formulation", "own-model", tmp_path / "new")
    text = (tmp_path / "new/src/hpcsched_own_model/__init__.py").read_text()
    modules = {one.module for one in ast.walk(ast.parse(text)) if isinstance(one, ast.ImportFrom)}
    assert modules == {"collections.abc", "dataclasses", "typing", "hpcsched"}
