"""The index of built-in plugins: where each is found, without importing any.

`python -m hpcsched.plugins.index` writes it anew from the decorators `builtin`.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from hpcsched import registration
from hpcsched.registration import KINDS, BuiltIn, Caution, OptionalPackage, Plugin

PACKAGE = Path(__file__).parent.parent
FILE = Path(__file__).with_name("index.json")

NO_PARAMS = "hpcsched.parameters:Params"
"""The reference of the model of plugins without parameters."""

MARK = "\n@builtin("
"""Stands in each module that registers a plugin."""


def built_in() -> Iterator[BuiltIn]:
    """Yield the registration of every built-in plugin, in the order of the index."""
    for row in json.loads(FILE.read_text(encoding="utf-8")):
        needs = row.pop("needs", None)
        row |= {key: tuple(value) for key, value in row.items() if isinstance(value, list)}
        yield BuiltIn(**row, needs=None if needs is None else OptionalPackage(*needs))


def load(row: BuiltIn) -> Plugin:
    """Return the plugin of a registration; its parameters are imported, its factory is not."""
    review: Any = None
    if row.needs is not None:
        # A plugin with an optional package is reviewed for that alone; its own module cannot be
        # imported yet.
        review = partial(_review_package, row.needs)
    elif row.review is not None:
        review = _resolve(row.review)
    return Plugin(
        row.name,
        row.summary,
        LazyFactory(row),
        _resolve(row.params),
        frozenset(row.capabilities),
        review,
        row.aliases,
    )


@dataclass(frozen=True, slots=True)
class LazyFactory:
    """A factory that is imported when it is first called."""

    row: BuiltIn

    def __call__(self, params: Any, context: Any) -> object:
        """Build the object; raises PluginError where a package that it needs is not there."""
        if self.row.needs is not None:
            self.row.needs.require()
        made: Any = _resolve(self.row.made_by)
        if not isinstance(made, type):
            return made(params, context)
        build = getattr(made, "build", None)
        if build is not None:
            return build(params, context)
        return made() if self.row.params == NO_PARAMS else made(params)


def _resolve(reference: str) -> Any:
    module, _, name = reference.partition(":")
    return getattr(import_module(module), name)


def _review_package(package: OptionalPackage, _params: Any, _system: Any) -> Iterator[Caution]:
    message = package.missing()
    if message is not None:
        yield Caution("not-installed", message, severity="error")


def make_index() -> str:
    """Return the text of the index; imports every module that registers a plugin."""
    for file in sorted(PACKAGE.rglob("*.py")):
        # Only modules that register: others may need packages that are not installed.
        if MARK in file.read_text(encoding="utf-8"):
            parts = file.relative_to(PACKAGE.parent).with_suffix("").parts
            import_module(".".join(parts))
    kinds = list(KINDS)
    # Within a kind, the order of metrics is that of the summary, so modules keep their own order.
    rows = sorted(
        registration.registered,
        key=lambda row: (kinds.index(row.kind), row.made_by.partition(":")[0]),
    )
    lines = (json.dumps(_without_defaults(row), ensure_ascii=False) for row in rows)
    return "[\n" + ",\n".join(lines) + "\n]\n"


def _without_defaults(row: BuiltIn) -> dict[str, Any]:
    defaults = BuiltIn._field_defaults
    return {
        name: value
        for name, value in row._asdict().items()
        if name not in defaults or value != defaults[name]
    }


if __name__ == "__main__":
    FILE.write_text(make_index(), encoding="utf-8")
