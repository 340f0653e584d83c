"""The fixtures: plugins of a module take part for one test."""

from importlib.resources import files
from types import ModuleType

import pytest

import hpcsched.testing
from hpcsched import cli, hookimpl
from hpcsched.dispatching.rules.recorded import Reject
from hpcsched.errors import InputError, PluginError
from hpcsched.plugins.manager import build_registry, registry, stand_in
from hpcsched.registration import KINDS, Plugin
from hpcsched.testing import RunScenario, UsePlugins, make_jobs, make_system

SCENARIO = """\
name: refused
system: {groups: [{name: node, count: 4, resources: {core: 1}}]}
trace: {source: swf, path: trace.swf}
dispatcher: refuse
"""


@hookimpl
def hpcsched_dispatchers():
    """Return `refuse`."""
    return [Plugin("refuse", "refuses", lambda _params, _context: Reject())]


PLUGIN = ModuleType("my_refusal.plugin")
PLUGIN.hpcsched_dispatchers = hpcsched_dispatchers


def test_run(run_scenario: RunScenario) -> None:
    """A scenario runs with the module's plugin, on a log that lies beside it."""
    result = run_scenario(SCENARIO, PLUGIN)
    assert result.summary["jobs"]["rejected"] == result.summary["jobs"]["submitted"] > 0
    assert result.directory.manifest.plugins["my_refusal"] == "0"
    assert cli.main(["verify", str(result.directory.path)]) == 0


def test_run_with_jobs(run_scenario: RunScenario) -> None:
    """The log may be of given jobs."""
    jobs = make_jobs(make_system(), "job_id run_time user\n4 60 1\n5 60 -\n6 10 2\n")
    assert run_scenario(SCENARIO, PLUGIN, jobs=jobs).summary["jobs"]["rejected"] == 3


def test_without_the_module(run_scenario: RunScenario) -> None:
    """Without it the name is unknown."""
    with pytest.raises(InputError, match="no dispatcher is called 'refuse'"):
        run_scenario(SCENARIO)


def test_commands(use_plugins: UsePlugins, capsys: pytest.CaptureFixture[str]) -> None:
    """Commands that are called in the process know the plugin too, with the module's package."""
    PLUGIN.__version__ = "2.1"
    use_plugins(PLUGIN)
    assert cli.main(["plugins", "list"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["dispatcher", "refuse", "my_refusal", "2.1", "refuses"] in lines


def test_only_while_the_test_lasts() -> None:
    """What stands in goes, also after an error; the last one counts."""
    before = registry()
    inner, outer = (build_registry(external=False, modules=m) for m in ([], [PLUGIN]))
    with pytest.raises(RuntimeError), stand_in(outer):
        with stand_in(inner):
            assert registry() is inner
        assert registry() is outer
        raise RuntimeError
    assert registry() is before


def test_a_module_without_hooks(use_plugins: UsePlugins) -> None:
    """A module that registers nothing is an error, not a surprise later."""
    with pytest.raises(PluginError, match=r"plugin empty 0 registers nothing: .* in empty\.module"):
        use_plugins(ModuleType("empty.module"))


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_a_check(kind: str) -> None:
    """It is part of the kit, and the template of new plugins calls it."""
    name = f"check_{kind}"
    assert name in hpcsched.testing.__all__
    template = files("hpcsched.plugins") / "templates" / f"{kind}_test.txt"
    assert f"    {name}(" in template.read_text(encoding="utf-8")
