"""A broken plugin is one clear error that names its distribution, and never a traceback."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from hpcsched import __version__, cli
from hpcsched.errors import PluginError
from hpcsched.plugins.manager import registry
from tests.plugins.distributions import Distributions

START = """
    from hpcsched import Params, Plugin, hookimpl
    from hpcsched.plugins.registry import SEES_RUN_TIME

    def make(params, context):
        return object()

    class Foresees:
        def foresee(self, job, run_time):
            return run_time

        def observe(self, job, run_time):
            pass

    class Predicts:
        def predict(self, job):
            return job.requested_time

        def observe(self, job, run_time):
            pass
"""


def hook(body: str, kind: str = "dispatcher") -> str:
    """Return a module with one hook."""
    return f"{START}\n    @hookimpl\n    def hpcsched_{kind}s():\n        {body}\n"


@dataclass(frozen=True)
class Broken:
    """A module that cannot be used, and what is said of it after the distribution's name."""

    source: str
    message: str


REFUSED = {
    "import error": Broken(
        "import a_module_that_is_not_there",
        "cannot be loaded: broken: ModuleNotFoundError: No module named"
        " 'a_module_that_is_not_there'",
    ),
    "error on import": Broken("1 / 0", "cannot be loaded: broken: ZeroDivisionError: division"),
    "syntax error": Broken("def", "cannot be loaded: broken: SyntaxError: "),
    "unknown hook": Broken(
        hook("return []", kind="brain"),
        f"does not fit this hpcsched {__version__}: unknown hook 'hpcsched_brains' in plugin",
    ),
    "unknown argument of a hook": Broken(
        hook("return []").replace("dispatchers()", "dispatchers(config)"),
        f"does not fit this hpcsched {__version__}: ",
    ),
    "no hook": Broken(
        hook("return []").replace("@hookimpl", ""),
        "registers nothing: no function in broken is marked with hpcsched.hookimpl",
    ),
    "hook that raises": Broken(
        hook("raise KeyError('weights')"),
        "failed in hpcsched_dispatchers: KeyError: 'weights'",
    ),
    "generator that raises": Broken(
        hook("yield Plugin('a', 'fine', make); 1 / 0"),
        "failed in hpcsched_dispatchers: ZeroDivisionError: division by zero",
    ),
    "hook that returns nothing": Broken(
        hook("pass"),
        "hpcsched_dispatchers must return or yield several hpcsched.Plugin objects,"
        " found one NoneType",
    ),
    "hook that returns one plugin": Broken(
        hook("return Plugin('a', 'alone', make)"),
        "hpcsched_dispatchers must return or yield several hpcsched.Plugin objects,"
        " found one Plugin",
    ),
    "no plugins": Broken(
        hook("return [make]"),
        "hpcsched_dispatchers must return hpcsched.Plugin objects, found function",
    ),
    "parameters that are no model": Broken(
        hook("yield Plugin('a', 'a', make, params=dict)"),
        "the parameters of the dispatcher 'a' must be a model derived from hpcsched.Params",
    ),
    "a model that is not strict": Broken(
        "    from pydantic import BaseModel" + hook("yield Plugin('a', 'a', make, BaseModel)"),
        "the parameters of the dispatcher 'a' must be a model derived from hpcsched.Params",
    ),
    "parameters that are no class": Broken(
        hook("yield Plugin('a', 'a', make, Params())"),
        "the parameters of the dispatcher 'a' must be a model derived from hpcsched.Params",
    ),
}


@pytest.mark.parametrize("broken", REFUSED.values(), ids=REFUSED.keys())
def test_refused_at_once(
    broken: Broken, distributions: Distributions, capsys: pytest.CaptureFixture[str]
) -> None:
    """What can be seen without building anything is an error of every command."""
    distributions.install("broken", "0.7", broken.source)
    with pytest.raises(PluginError) as caught:
        registry()
    message = str(caught.value)
    assert message.startswith(("plugin broken 0.7 ", "plugin broken 0.7: "))
    assert broken.message in message

    assert cli.main(["plugins", "list"]) == 1
    written = capsys.readouterr()
    assert written.out == ""
    assert written.err == f"error: {message}\n"


def test_clash_of_names(distributions: Distributions, capsys: pytest.CaptureFixture[str]) -> None:
    """Two distributions with a plugin of one kind and name are both named."""
    distributions.install("lotto", "1.0", hook("yield Plugin('luck', 'a', make)"))
    distributions.install("bingo", "2.5", hook("yield Plugin('luck', 'b', make)"))
    assert cli.main(["plugins", "list"]) == 1
    message = capsys.readouterr().err
    assert "lotto 1.0" in message
    assert "bingo 2.5" in message
    assert "both register the dispatcher 'luck'" in message


def test_clash_with_a_built_in_one(distributions: Distributions) -> None:
    """What comes with hpcsched cannot be replaced."""
    distributions.install("faster", "3", hook("yield Plugin('easy', 'a', make)"))
    with pytest.raises(PluginError, match=r"faster 3 and hpcsched .* the dispatcher 'easy'"):
        registry()


SCENARIO = """\
name: broken
system: {groups: [{name: node, count: 4, resources: {core: 1}}]}
trace: {source: swf, path: trace.swf}
"""


@dataclass(frozen=True)
class Failing(Broken):
    """A module that can be loaded, and the choice in a scenario that brings out its fault."""

    choice: str


FAILING = {
    "factory that raises": Failing(
        hook("yield Plugin('a', 'a', lambda params, context: 1 / 0)"),
        "dispatcher a (broken 0.7): cannot be built: raised ZeroDivisionError: division by zero",
        choice="dispatcher: a",
    ),
    "factory that is none": Failing(
        hook("yield Plugin('a', 'a', None)"),
        "dispatcher a (broken 0.7): cannot be built: raised TypeError: ",
        choice="dispatcher: a",
    ),
    "factory of an objective": Failing(
        hook("yield Plugin('a', 'a', lambda params, context: 1 / 0)", "objective"),
        "objective a (broken 0.7): cannot be built: raised ZeroDivisionError: division by zero",
        choice="dispatcher: easy\nobjective: a",
    ),
    "oracle that does not declare it": Failing(
        hook("yield Plugin('a', 'a', lambda params, context: Foresees())", "predictor"),
        "predictor a (broken 0.7): it does not declare the capability 'sees_run_time' and has a"
        " method 'foresee'",
        choice="dispatcher: easy\npredictor: a",
    ),
    "oracle that is none": Failing(
        hook(
            "yield Plugin('a', 'a', lambda params, context: Predicts(),"
            " capabilities=frozenset({SEES_RUN_TIME}))",
            "predictor",
        ),
        "predictor a (broken 0.7): it declares the capability 'sees_run_time' and"
        " has no method 'foresee'",
        choice="dispatcher: easy\npredictor: a",
    ),
    "parameter whose name is taken": Failing(
        "    class Named(__import__('hpcsched').Params):\n        name: str = 'x'\n"
        + hook("yield Plugin('a', 'a', make, Named)"),
        "dispatcher a (broken 0.7): it has a parameter 'name', which is taken by what names the"
        " plugin",
        choice="dispatcher: a",
    ),
}


@pytest.mark.parametrize("failing", FAILING.values(), ids=FAILING.keys())
def test_fails_when_chosen(
    failing: Failing,
    distributions: Distributions,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """What fails while a scenario is put together ends the run before it begins."""
    distributions.install("broken", "0.7", failing.source)
    (tmp_path / "trace.swf").write_text("1 0 -1 10 1 -1 -1 1 10 -1 1 1 1 1 1 1 -1 -1\n")
    scenario = tmp_path / "scenario.yaml"
    scenario.write_text(f"{SCENARIO}{failing.choice}\n", encoding="utf-8")
    assert cli.main(["run", str(scenario), "--out", str(tmp_path / "run")]) == 1
    written = capsys.readouterr()
    assert written.err.startswith(f"error: {failing.message}")
    assert written.err.count("\n") == 1
    assert not (tmp_path / "run").exists()
