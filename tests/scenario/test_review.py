"""Warnings: what is legal and worth a second look."""

from pathlib import Path
from typing import Any

import pytest

from hpcsched.errors import Finding, PluginError
from hpcsched.parameters import Params
from hpcsched.plugins.registry import Installed
from hpcsched.registration import Plugin
from hpcsched.scenario import read_scenario
from hpcsched.scenario.review import missing_inputs, review
from tests.fake_plugins import fake_registry
from tests.scenario.samples import GOOD, write


def warnings_of(path: Path, *overrides: str) -> list[Finding]:
    """Return the warnings about a scenario."""
    return review(read_scenario(path, overrides, fake_registry()))


def test_nothing_to_say_of_a_good_scenario(tmp_path: Path) -> None:
    """A scenario without oddities has no warnings."""
    assert warnings_of(write(tmp_path)) == []


CAUTIONS = {
    "sees-run-time predictor": ("seed: 1", "predictor: actual", "2:12", "real run times"),
    "deep dispatcher.depth": ("depth: 3", "depth: 5", "14:10", "beyond the number of nodes"),
    "not-reproducible dispatcher.seconds": ("depth: 3", "seconds: 3", "14:12", "by the clock"),
    "path-not-found trace.path": (
        "source: synthetic\n  length: 30min",
        "source: file\n  path: none.swf\n  unit: {core: 1}",
        "10:9",
        "there is no file ",
    ),
}


@pytest.mark.parametrize("rule_and_key", CAUTIONS)
def test_cautions(rule_and_key: str, tmp_path: Path) -> None:
    """Each caution has its rule, place and key path, and is a warning."""
    old, new, position, message = CAUTIONS[rule_and_key]
    path = write(tmp_path, GOOD.replace(old, new))
    (finding,) = warnings_of(path)
    assert (f"{finding.rule} {finding.key}", finding.severity) == (rule_and_key, "warning")
    assert str(finding.place) == f"{path}:{position}"
    assert message in finding.message


def test_the_default_of_what_is_not_reproducible_is_fine(tmp_path: Path) -> None:
    """Saying what holds anyway is no reason to warn."""
    assert warnings_of(write(tmp_path), "dispatcher.seconds=null") == []


def test_unset_variables_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path with a variable that is not set names the variable; a run makes it an error."""
    monkeypatch.delenv("HPCSCHED_NOT_SET", raising=False)
    override = "trace={source: file, path: '${HPCSCHED_NOT_SET}/a.swf', unit: {core: 1}}"
    loaded = read_scenario(write(tmp_path), [override], fake_registry())
    (finding,) = missing_inputs(loaded, "error")
    assert finding.message == "the environment variable HPCSCHED_NOT_SET is not set"
    assert (finding.severity, str(finding.place)) == ("error", f"--set {override}")


def test_files_that_are_there_are_fine(tmp_path: Path) -> None:
    """An input file that exists is no reason to warn."""
    (tmp_path / "a.swf").touch()
    loaded = read_scenario(
        write(tmp_path), ["trace={source: file, path: a.swf, unit: {core: 1}}"], fake_registry()
    )
    assert missing_inputs(loaded) == []


def test_a_review_that_fails_names_its_plugin(tmp_path: Path) -> None:
    """An exception in a plugin's review is that plugin's fault."""

    def broken(_params: Params, _system: Any) -> list[Any]:
        raise ZeroDivisionError("oh")

    registry = fake_registry()
    plugin = Plugin("broken", "Breaks.", lambda p, _: p, review=broken)
    registry.add(Installed("dispatcher", plugin, "acme", "2.0"))
    loaded = read_scenario(write(tmp_path), ["dispatcher=broken"], registry)
    with pytest.raises(PluginError, match=r"broken \(acme 2.0\): its review raised"):
        review(loaded)
