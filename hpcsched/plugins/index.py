"""The index of built-in plugins: where each is found, without importing any.

`python -m hpcsched.plugins.index` writes it anew from the decorators `builtin`, which it reads
as text: no solver need be installed.
"""

import ast
import json
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

from hpcsched import registration
from hpcsched.registration import KINDS, BuiltIn, Plugin

PACKAGE = Path(__file__).parent.parent
FILE = Path(__file__).with_name("index.json")

NO_PARAMS = "hpcsched.parameters:Params"
"""The reference of the model of plugins without parameters."""


def built_in() -> Iterator[BuiltIn]:
    """Yield the registration of every built-in plugin, in the order of the index."""
    for row in json.loads(FILE.read_text(encoding="utf-8")):
        row |= {key: tuple(value) for key, value in row.items() if isinstance(value, list)}
        yield BuiltIn(**row)


def load(row: BuiltIn) -> Plugin:
    """Return the plugin of a registration; its parameters are imported, its factory is not."""
    return Plugin(
        row.name,
        row.summary,
        partial(_build, row),
        _resolve(row.params),
        frozenset(row.capabilities),
        None if row.review is None else _resolve(row.review),
        row.aliases,
    )


def _build(row: BuiltIn, params: Any, context: Any) -> object:
    """Import the factory and build the object."""
    made: Any = _resolve(row.made_by)
    if not isinstance(made, type):
        return made(params, context)
    build = getattr(made, "build", None)
    if build is not None:
        return build(params, context)
    taken = signature(made).parameters
    parts = {name: getattr(context, name) for name in ("system", "folder") if name in taken}
    if "context" in taken:
        parts["context"] = context
    return made(**parts) if row.params == NO_PARAMS else made(params, **parts)


def _resolve(reference: str) -> Any:
    module, _, name = reference.partition(":")
    return getattr(import_module(module), name)


class _Module:
    """The parsed text of a module, with the origins of imported names."""

    def __init__(self, file: Path, package: Path) -> None:
        self.package = package
        self.name = ".".join(file.relative_to(package.parent).with_suffix("").parts)
        self.body = ast.parse(file.read_text(encoding="utf-8")).body
        self._imported = {
            alias.asname or alias.name: (node.module or "", alias.name)
            for node in self.body
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }

    def built_in(self) -> Iterator[BuiltIn]:
        """Yield the plugins that the module registers."""
        for made in self.body:
            for decorator in getattr(made, "decorator_list", ()):
                if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "builtin":
                    yield from self._rows(decorator, made)

    def _rows(self, call: ast.Call, made: Any) -> Iterator[BuiltIn]:
        kind, name, *params = call.args
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        aliases = ast.literal_eval(given["aliases"]) if "aliases" in given else ()
        capable = getattr(given.get("capabilities"), "elts", ())
        kinds = ast.literal_eval(kind)
        kinds = (kinds,) if isinstance(kinds, str) else kinds
        for of_kind in kinds:
            yield BuiltIn(
                of_kind,
                ast.literal_eval(name),
                ast.literal_eval(given["summary"]) if "summary" in given else _summary(made),
                f"{self.name}:{made.name}",
                self._reference(params[0]) if params else NO_PARAMS,
                self._reference(given["review"]) if "review" in given else None,
                tuple(sorted(getattr(registration, ast.unparse(one)) for one in capable)),
                aliases if of_kind == kinds[0] else (),
            )

    def _reference(self, node: ast.expr) -> str:
        """Return where the thing that is called so can be imported from."""
        if isinstance(node, ast.Attribute):
            module, name = self._imported[ast.unparse(node.value)]
            return f"{module}.{name}:{node.attr}"
        name = ast.unparse(node)
        module, name = self._imported.get(name, (self.name, name))
        return f"{module}:{name}"


def _summary(made: Any) -> str:
    """Return what follows the first colon in the first line of a docstring."""
    first = (ast.get_docstring(made) or "").partition("\n")[0]
    return first.partition(": ")[2].removesuffix(".")


def make_index(package: Path = PACKAGE) -> str:
    """Return the text of the index, from the text of every module; none is imported."""
    kinds = list(KINDS)
    # Within a kind, the order of metrics is that of the summary, so modules keep their own order.
    rows = sorted(
        (
            row
            for file in sorted(package.rglob("*.py"))
            for row in _Module(file, package).built_in()
        ),
        key=lambda row: (kinds.index(row.kind), row.made_by.partition(":")[0]),
    )
    lines = (json.dumps(row._asdict(), ensure_ascii=False) for row in rows)
    return "[\n" + ",\n".join(lines) + "\n]\n"


if __name__ == "__main__":
    FILE.write_text(make_index(), encoding="utf-8")
