"""The index of built-in plugins is current, and reading it imports none of them."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hpcsched.parameters import Params
from hpcsched.plugins.index import FILE, built_in, load, make_index
from hpcsched.registration import KINDS, BuiltIn

HEAVY = ("pyarrow", "cpmpy", "ortools", "altair", "pandas", "distributed")


def test_the_index_is_current() -> None:
    """The file is what the decorators give: `python -m hpcsched.plugins.index` writes it anew."""
    assert FILE.read_text(encoding="utf-8") == make_index()


def test_decorators_are_read_as_text(tmp_path: Path) -> None:
    """A module that cannot be imported registers its plugin; a name of two kinds is two rows."""
    package = tmp_path / "odd"
    package.mkdir()
    (package / "deep.py").write_text(
        "import no_such_module\n"
        "from odd import models\n"
        "from hpcsched.registration import KEEPS_WAITS, KEEPS_REQUESTS, builtin\n"
        "def check(params, system): ...\n"
        "@builtin('solver', 'deep', models.Deep, summary='goes deep', review=check,\n"
        "    capabilities={KEEPS_WAITS, KEEPS_REQUESTS}, aliases=('d',))\n"
        "def make(params, context): ...\n"
        "@builtin(('objective', 'metric'), 'depth', aliases=('x',))\n"
        "class Depth:\n"
        '    """Metric: how deep: in metres.\n\n    Not at sea.\n    """\n'
    )
    solver, objective, metric = json.loads(make_index(package))
    assert solver == {
        "kind": "solver",
        "name": "deep",
        "summary": "goes deep",
        "made_by": "odd.deep:make",
        "params": "odd.models:Deep",
        "review": "odd.deep:check",
        "capabilities": ["keeps_requests", "keeps_waits"],
        "aliases": ["d"],
    }
    assert (objective["made_by"], objective["aliases"]) == ("odd.deep:Depth", ["x"])
    assert (metric["kind"], metric["aliases"]) == ("metric", [])
    assert objective["summary"] == metric["summary"] == "how deep: in metres"


def test_each_kind_has_a_plugin() -> None:
    """Every kind has at least one plugin of our own, and no name stands twice."""
    rows = list(built_in())
    assert {row.kind for row in rows} == set(KINDS)
    assert len({(row.kind, row.name) for row in rows}) == len(rows)


def test_the_list_and_a_validation_import_nothing_heavy() -> None:
    """Listing all plugins, and all parameters, needs neither compiled code nor solvers."""
    program = (
        "import sys; from hpcsched.plugins.manager import build_registry\n"
        "registry = build_registry(external=False)\n"
        "assert len(registry.listed()) > 60\n"
        "assert not [name for name in sys.modules if name.startswith('hpcsched.dispatching')]\n"
        "assert [registry.of_kind(kind) for kind, *_ in registry.listed()]\n"
        f"assert not set({HEAVY!r}) & set(sys.modules), sys.modules.keys()\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_what_a_factory_returns() -> None:
    """A function is called, `build` is preferred, and a class may take parameters or nothing."""

    def factory(made_by: str, params: str = "hpcsched.parameters:Params") -> Any:
        return load(BuiltIn("metric", "x", "x", f"{__name__}:{made_by}", params)).factory

    assert factory("made")("params", "context") == ("params", "context")
    assert factory("Built")("params", "context") == Built("params context")
    assert factory("Plain")(Params(), "context") == Plain()
    assert factory("Built", f"{__name__}:Plain")("params", "context") == Built("params context")
    assert factory("Plain", f"{__name__}:Plain")("params", "context") == Plain("params")


def made(params: object, context: object) -> object:
    """Return both arguments."""
    return params, context


@dataclass(frozen=True)
class Plain:
    """Takes parameters, or nothing."""

    text: str = ""


class Built(Plain):
    """Is built from parameters and context."""

    @classmethod
    def build(cls, params: str, context: str) -> "Built":
        """Return an object made of both."""
        return cls(f"{params} {context}")
