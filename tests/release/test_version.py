"""One version in all places, and change notes that a release can collect."""

import re
import tomllib
from pathlib import Path

import yaml

from hpcsched.version import __version__

ROOT = Path(__file__).parents[2]
KINDS = {"added", "changed", "fixed", "removed"}


def test_all_distributions_have_one_version() -> None:
    """The packages in `plugins/`, the citation and the notes state that of hpcsched."""
    for path in ROOT.glob("plugins/*/pyproject.toml"):
        project = tomllib.loads(path.read_text())["project"]
        assert project["version"] == __version__, path
        minor = __version__.rpartition(".")[0]
        needed = [name for name in project["dependencies"] if name.startswith("hpcsched")]
        # hpcsched-slurm is built on modules that are not public.
        exact = path.parent.name == "hpcsched-slurm"
        assert needed == [f"hpcsched=={__version__}" if exact else f"hpcsched>={minor}"], path
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"] == __version__


def test_change_notes_can_be_collected() -> None:
    """Each is one line, and its name ends in a kind that the settings know."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["towncrier"]
    assert {kind["directory"] for kind in settings["type"]} == KINDS
    assert settings["start_string"].strip() in (ROOT / "CHANGELOG.md").read_text()
    for path in (ROOT / "changes").glob("*.md"):
        name = re.fullmatch(r"[a-z0-9-]+\.([a-z]+)\.md", path.name)
        assert name is not None and name[1] in KINDS, path
        assert re.fullmatch(r"[A-Z`].*\.\n", path.read_text()), path
