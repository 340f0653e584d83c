"""Recipes of other package managers, the action and the catalogue say what the project says."""

import json
import os
import re
import subprocess
import sys
import tomllib
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from hpcsched.scenario.document import read_document
from hpcsched.version import __version__

ROOT = Path(__file__).parents[2]
RECIPES = ROOT / "docs" / "packaging"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
EXTRAS = PROJECT["project"]["optional-dependencies"]
NEEDED = {
    "python": PROJECT["project"]["requires-python"],
    **dict(
        re.fullmatch(r"([\w-]+)(>=[\d.]+)", one).groups()
        for one in (*PROJECT["project"]["dependencies"], *EXTRAS["figures"])
    ),
}
BUILD = {
    one.partition(">=")[0]: f">={one.partition('>=')[2]}"
    for one in PROJECT["build-system"]["requires"]
}
CONDA = {"ortools": "ortools-python", "tzdata": "python-tzdata"}
"""Packages that have another name there."""


def test_the_conda_recipe_requires_what_the_project_does() -> None:
    """With the names of conda-forge; its own parser accepts it."""
    path = RECIPES / "conda" / "recipe.yaml"
    recipe = yaml.safe_load(path.read_text())
    assert recipe["context"]["version"] == __version__
    required = {
        part: dict(one.split() for one in recipe["requirements"][part] if " >=" in one)
        for part in ("host", "run")
    }
    assert required["run"] == {CONDA.get(name, name): least for name, least in NEEDED.items()}
    assert required["host"] == {"python": NEEDED["python"], **BUILD}
    rattler = pytest.importorskip("rattler_build", reason="no rattler-build for this platform")
    assert rattler.Stage0Recipe.from_file(path).as_single_output().package.name == "hpcsched"


def test_the_spack_package_requires_what_the_project_does() -> None:
    """Run with a stand-in for Spack that notes what is declared."""
    declared: list[tuple[str, str, dict[str, Any]]] = []

    def noted(directive: str) -> Any:
        return lambda text, **keywords: declared.append((directive, text, keywords))

    @contextmanager
    def default_args(**_: object) -> Any:
        yield

    names = {name: noted(name) for name in ("depends_on", "license", "variant", "version")}
    text = (RECIPES / "spack" / "py_hpcsched" / "package.py").read_text()
    plain = "".join(line for line in text.splitlines(True) if not line.startswith("from spack"))
    exec(
        compile(plain, "package.py", "exec"),
        {"PythonPackage": object, "default_args": default_args, **names},
    )
    assert [text for directive, text, _ in declared if directive == "version"] == [__version__]
    required = [(text, of.get("type", "run")) for d, text, of in declared if d == "depends_on"]
    run = {spec for spec, kind in required if kind != "build"}
    assert run == {_spec(name, least) for name, least in NEEDED.items()}
    built = {spec for spec, kind in required if kind == "build"}
    assert built >= {_spec(name, least) for name, least in BUILD.items()}


def _spec(name: str, least: str) -> str:
    return f"{name if name == 'python' else f'py-{name}'}@{least.removeprefix('>=')}:"


def test_the_container_installs_what_there_is() -> None:
    """Its sections are those of a definition, and the extras that it names exist."""
    text = (RECIPES / "apptainer" / "hpcsched.def").read_text()
    assert re.findall(r"^%(\w+)", text, re.MULTILINE) == ["files", "post", "test", "runscript"]
    [extras] = re.findall(r"hpcsched\[([\w,]+)\]", text)
    assert set(extras.split(",")) <= set(EXTRAS)
    for line in re.findall(r"^    (?!dist)(.+)$", text, re.MULTILINE):
        subprocess.run(["sh", "-n", "-c", line], check=True)


def test_the_action_marks_errors_at_their_lines(tmp_path: Path) -> None:
    """Its last step is run as a runner does; the matcher finds file, line and message."""
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    step = action["runs"]["steps"][-1]
    used = set(re.findall(r"inputs\.(\w+)", str(action["runs"])))
    assert used == set(action["inputs"])
    (tmp_path / "good.yaml").write_text((ROOT / "scenarios/small-easy.yaml").read_text())
    (tmp_path / "bad.yaml").write_text("name: bad\nsytem: eurora\n")
    environment = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "GITHUB_ACTION_PATH": str(ROOT),
        "FILES": "*.yaml",
        "OPTIONS": "--strict",
    }
    done = subprocess.run(
        ["bash", "-e", "-c", step["run"]],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    command, *lines = done.stdout.splitlines()
    assert command.startswith("::add-matcher::")
    [pattern] = json.loads(Path(command.removeprefix("::add-matcher::")).read_text())[
        "problemMatcher"
    ][0]["pattern"]
    found = [match for line in lines if (match := re.match(pattern["regexp"], line))]
    assert ("bad.yaml", "2", "error") in {
        tuple(match[pattern[key]] for key in ("file", "line", "severity")) for match in found
    }


def test_the_catalogue_names_our_schemas() -> None:
    """Each entry has the keys of SchemaStore; its schema accepts our files, and no mistake."""
    entries = json.loads((RECIPES / "schemastore.json").read_text())
    for entry, kind in zip(entries, ("scenario", "experiment"), strict=True):
        assert list(entry) == ["name", "description", "fileMatch", "url"]
        name = Path(entry["url"]).name
        assert name == f"{kind}.schema.json"
        schema = jsonschema.Draft7Validator(json.loads((ROOT / "schemas" / name).read_text()))
        for path in (ROOT / f"{kind}s").glob(
            "small-*.yaml" if kind == "scenario" else "*2023.yaml"
        ):
            content = read_document(path).value
            assert list(schema.iter_errors(content)) == [], path
            assert list(schema.iter_errors(content | {"sytem": "eurora"}))
        # A scenario is not taken for an experiment by its name.
        named = "mine.hpcsched.yaml" if kind == "scenario" else "mine.hpcsched-experiment.yaml"
        assert [e for e in entries if any(fnmatch(named, glob) for glob in e["fileMatch"])] == [
            entry
        ]
