"""The pages on plugins: the first plugin works as shown, and every hook is described."""

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from hpcsched import cli
from hpcsched import testing as shipped
from hpcsched.plugins import spec
from hpcsched.scenario import load_scenario
from tests.docs.pages import DOCS, ROOT, blocks
from tests.plugins.distributions import Distributions

TUTORIAL = DOCS / "first-plugin.md"
PAGE = DOCS / "plugins.md"
BLOCKS = blocks(TUTORIAL)
FILES = {name[1]: block.text for block in BLOCKS if (name := re.match(r"# ([\w.]+)\n", block.text))}
HOOKS = {name: hook for name, hook in vars(spec).items() if name.startswith("hpcsched_")}


@pytest.fixture
def _installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install the plugin of the page: its module, under the name that the project declares."""
    about = tomllib.loads(FILES["pyproject.toml"])["project"]
    (module,) = about["entry-points"]["hpcsched"].values()
    assert module == about["name"].replace("-", "_")
    distributions = Distributions(tmp_path, monkeypatch)
    distributions.install(about["name"], about["version"], FILES[f"{module}.py"])
    yield
    distributions.forget()


def test_files() -> None:
    """The page shows a whole project."""
    assert list(FILES) == [
        "hpcsched_per_user.py",
        "pyproject.toml",
        "test_per_user.py",
        "conftest.py",
    ]


@pytest.mark.slow
def test_tests_of_the_project(tmp_path: Path) -> None:
    """The tests that the page shows pass, in a folder with nothing but what it shows."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 passed" in done.stdout


@pytest.mark.usefixtures("_installed")
def test_the_list_as_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """`hpcsched plugins list` prints the line that is shown, but for the width of columns."""
    (shown,) = (block for block in BLOCKS if "\n$ hpcsched plugins list\n" in block.text)
    (line,) = (line for line in shown.text.splitlines() if line.startswith("dispatcher "))
    assert cli.main(["plugins", "list"]) == 0
    assert line.split() in [printed.split() for printed in capsys.readouterr().out.splitlines()]


@pytest.mark.usefixtures("_installed")
def test_keys_of_a_scenario(tmp_path: Path) -> None:
    """The keys that are shown are valid in a scenario."""
    (keys,) = (block.text for block in BLOCKS if block.language == "yaml")
    base = "name: a\nsystem: {groups: [{name: n, count: 1, resources: {core: 1}}]}\n"
    scenario = tmp_path / "scenario.yaml"
    scenario.write_text(f"{base}trace: {{source: swf, path: a.swf}}\n{keys}", encoding="utf-8")
    assert load_scenario(scenario).dispatcher.plugin_name == "per-user"


@pytest.mark.parametrize("name", HOOKS)
def test_a_hook_is_described(name: str) -> None:
    """Each hook has a part that says what it registers, and how it is selected."""
    part = PAGE.read_text(encoding="utf-8").split(f"### `{name}`\n", 1)[1].split("\n#", 1)[0]
    assert part.startswith("\nRegisters ")
    assert re.search("Selected by|Listed under|None is selected", part)


def test_capabilities_are_described() -> None:
    """A capability that a plugin may declare is named."""
    assert "`capabilities=frozenset({SEES_RUN_TIME})`" in PAGE.read_text(encoding="utf-8")


def test_what_is_shipped_is_described() -> None:
    """Everything in `hpcsched.testing` but types has its line."""
    page = TUTORIAL.read_text(encoding="utf-8")
    for name in shipped.__all__:
        if name[0].islower():
            assert re.search(rf"^\| (fixture )?`{name}[(`]", page, re.MULTILINE), name
