"""New packages with one plugin, written from the templates beside this module."""

import re
import shutil
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from string import Template

from hpcsched.errors import Finding, InputError, Place
from hpcsched.plugin_faults import spoken
from hpcsched.plugins.index import built_in
from hpcsched.version import __version__

_TEMPLATES = files("hpcsched.plugins") / "templates"
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


def kinds() -> tuple[str, ...]:
    """Return the kinds of plugin that have a template, in alphabetical order.

    Returns
    -------
    tuple[str, ...]
        The kinds of `hpcsched.registration.KINDS`, and `formulation`: a dispatcher that solves a
        model of its own.
    """
    ends = "_test.txt"
    found = (file.name for file in _TEMPLATES.iterdir())
    return tuple(sorted(name.removesuffix(ends) for name in found if name.endswith(ends)))


def write_package(kind: str, name: str, folder: Path) -> list[Path]:
    """Write an installable package with a plugin and its tests.

    Returns
    -------
    list[Path]
        The files, in the order in which a newcomer reads them.

    Raises InputError if kind or name will not do, a built-in plugin has the name, or the folder
    exists or cannot be written.
    """
    kind = kind.replace("-", "_")
    if kind not in kinds():
        _refuse("unknown-kind", f"expected a kind of plugin, {', '.join(kinds())}; found {kind!r}")
    if not _NAME.fullmatch(name):
        _refuse(
            "bad-name",
            f"expected small letters and digits, words joined by hyphens, found {name!r}",
        )
    _refuse_taken(kind, name)
    if folder.exists():
        message = "expected a folder that does not exist yet"
        raise InputError(Finding("folder-exists", message, Place(str(folder))))
    written = []
    try:
        for path, text in _content(kind, name):
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
            written.append(target)
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        message = f"cannot be written: {error.strerror}"
        raise InputError(Finding("cannot-write", message, Place(str(folder)))) from None
    return written


def _registered(kind: str, name: str) -> tuple[str, str]:
    """Return kind and name under which the plugin of a template is registered."""
    if kind == "metric":
        return kind, _names(name)["metric"]
    return "dispatcher" if kind == "formulation" else kind, name


def _refuse_taken(kind: str, name: str) -> None:
    """Refuse the name of a built-in plugin: all commands would fail once it is installed."""
    registered, wanted = _registered(kind, name)
    for row in built_in():
        if row.kind == registered and wanted in (row.name, *row.aliases):
            message = (
                f"expected a name that is free; the {spoken(registered)} {wanted!r} is built in"
            )
            _refuse("name-taken", message)


def _refuse(rule: str, message: str) -> None:
    raise InputError(Finding(rule, message))


def _names(name: str) -> dict[str, str]:
    """Return the name of a plugin as templates need it."""
    underscored = name.replace("-", "_")
    return {
        "name": name,
        "metric": underscored,
        "Class": "".join(map(str.capitalize, name.split("-"))),
        "module": f"hpcsched_{underscored}",
        "distribution": f"hpcsched-{name}",
    }


def _content(kind: str, name: str) -> Iterator[tuple[str, str]]:
    """Yield the paths and the contents of the files."""
    words = _names(name) | {
        "words": spoken(kind),
        "registered": " ".join(_registered(kind, name)).replace("_", "-", kind.count("_")),
        "version": ".".join(__version__.split(".")[:2]),
    }
    module = words["module"]
    for path, template in (
        ("README.md", "readme"),
        ("pyproject.toml", "pyproject"),
        (f"src/{module}/__init__.py", kind),
        ("tests/conftest.py", "conftest"),
        (f"tests/test_{module}.py", f"{kind}_test"),
    ):
        text = (_TEMPLATES / f"{template}.txt").read_text(encoding="utf-8")
        yield path, Template(text).substitute(words)
