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
    from hpcsched.registration import SEES_RUN_TIME

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


NOT_LOADED = f"cannot be loaded by hpcsched {__version__}"
REFUSED = {
    "import error": Broken(
        "import a_module_that_is_not_there",
        f"{NOT_LOADED}: broken: ModuleNotFoundError: No module named 'a_module_that_is_not_there'",
    ),
    "error on import": Broken("1 / 0", f"{NOT_LOADED}: broken: ZeroDivisionError: division"),
    "syntax error": Broken("def", f"{NOT_LOADED}: broken: SyntaxError: "),
    "unknown hook": Broken(
        hook("return []", kind="brain"),
        f"does not fit this hpcsched {__version__}: unknown hook 'hpcsched_brains' in plugin",
    ),
    "hook with a misspelt name": Broken(
        hook("return []").replace("hpcsched_dispatchers", "hpcsched_dispatcher"),
        "unknown hook 'hpcsched_dispatcher' in plugin",
    ),
    "name that went": Broken(
        "from hpcsched import Scheduler",
        f"{NOT_LOADED}: broken: ImportError: cannot import name",
    ),
    "exit on import": Broken("exit(3)", f"{NOT_LOADED}: broken: SystemExit: 3"),
    "name with a space": Broken(
        hook("yield Plugin('a b', 'a', make)"),
        "the dispatcher 'a b': expected names of letters, digits, '.', '_' and '-', found 'a b'",
    ),
    "capability of another kind": Broken(
        hook("yield Plugin('a', 'a', make, capabilities=frozenset({SEES_RUN_TIME}))"),
        "the dispatcher 'a': expected capabilities among follows_record, plans_offline, found"
        " 'sees_run_time'",
    ),
    "parameters without a schema": Broken(
        "    from collections.abc import Callable\n"
        + hook("yield Plugin('a', 'a', make, P)").replace(
            "def make(", "class P(Params):\n        n: Callable = print\n\n    def make("
        ),
        "the dispatcher 'a': its parameters P have no JSON Schema: Cannot generate a JsonSchema",
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
        "the dispatcher 'a': expected params derived from hpcsched.Params, found ",
    ),
    "a model that is not strict": Broken(
        "    from pydantic import BaseModel" + hook("yield Plugin('a', 'a', make, BaseModel)"),
        "the dispatcher 'a': expected params derived from hpcsched.Params, found ",
    ),
    "parameters that are no class": Broken(
        hook("yield Plugin('a', 'a', make, Params())"),
        "the dispatcher 'a': expected params derived from hpcsched.Params, found ",
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
    assert "both register the dispatcher 'luck'; uninstall one of them" in message


def test_name_twice(distributions: Distributions) -> None:
    """One distribution with two plugins of one kind and name is named once."""
    twice = hook("yield Plugin('luck', 'a', make); yield Plugin('luck', 'b', make)")
    distributions.install("lotto", "1.0", twice)
    with pytest.raises(PluginError, match=r"lotto 1.0 registers the dispatcher 'luck' twice;"):
        registry()


def test_alias_that_a_built_in_plugin_has(distributions: Distributions) -> None:
    """It would never be found."""
    distributions.install("faster", "3", hook("yield Plugin('a', 'a', make, aliases=('easy',))"))
    with pytest.raises(PluginError, match=r"the dispatcher 'easy'; give it another name"):
        registry()


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
    "factory that exits": Failing(
        hook("yield Plugin('a', 'a', lambda params, context: exit(3))"),
        "dispatcher a (broken 0.7): cannot be built: raised SystemExit: 3",
        choice="dispatcher: a",
    ),
    "factory that returns a class": Failing(
        "    class D:\n        def dispatch(self, problem): pass\n"
        + hook("yield Plugin('a', 'a', lambda params, context: D)"),
        "dispatcher a (broken 0.7): expected a method dispatch(problem), found dispatch(self,"
        " problem)",
        choice="dispatcher: a",
    ),
    "validator that raises": Failing(
        "    from pydantic import field_validator\n"
        "    class V(__import__('hpcsched').Params):\n        n: int = 3\n"
        "        @field_validator('n')\n        @classmethod\n"
        "        def check(cls, value): raise KeyError('oops')\n"
        + hook("yield Plugin('a', 'a', make, V)"),
        "plugin broken 0.7: raised KeyError: 'oops'",
        choice="dispatcher: {name: a, n: 4}",
    ),
    "factory of an objective": Failing(
        hook("yield Plugin('a', 'a', lambda params, context: 1 / 0)", "objective"),
        "objective a (broken 0.7): cannot be built: raised ZeroDivisionError: division by zero",
        choice="dispatcher: easy\nobjective: a",
    ),
    "solver that fails when it is looked for": Failing(
        "    class S:\n        deterministic, largest, largest_objective = True, 9, 9\n"
        "        def check_installed(self): 1 / 0\n"
        "        def load(self, built): pass\n"
        + hook("yield Plugin('a', 'a', lambda params, context: S())", "solver"),
        "solver a (broken 0.7), asked by dispatcher joint-now: raised ZeroDivisionError: division",
        choice="dispatcher: {name: joint-now, solver: a}",
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


def test_validate_builds_metrics(
    distributions: Distributions, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No scenario selects a metric, and each would end the run before it begins."""
    source = hook("yield Plugin('a', 'a', lambda params, context: 1 / 0)", "metric")
    distributions.install("broken", "0.7", source)
    (tmp_path / "trace.swf").write_text("1 0 -1 10 1 -1 -1 1 10 -1 1 1 1 1 1 1 -1 -1\n")
    (tmp_path / "scenario.yaml").write_text(f"{SCENARIO}dispatcher: easy\n", encoding="utf-8")
    assert cli.main(["validate", str(tmp_path / "scenario.yaml")]) == 1
    assert "metric a (broken 0.7): cannot be built: raised" in capsys.readouterr().err
