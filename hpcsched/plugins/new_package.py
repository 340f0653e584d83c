"""New packages with one plugin, written from the templates beside this module."""

import re
import shutil
from importlib.resources import files
from pathlib import Path
from string import Template

from hpcsched.errors import Finding, InputError
from hpcsched.plugin_faults import spoken
from hpcsched.version import __version__
from hpcsched.whole_files import file_error, make_folder, write_text

_TEMPLATES = files("hpcsched.plugins") / "templates"
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


def kinds() -> tuple[str, ...]:
    """Return the kinds of plugin that have a template, and `formulation`, in alphabetical order."""
    ends = "_test.txt"
    found = (file.name for file in _TEMPLATES.iterdir())
    return tuple(sorted(name.removesuffix(ends) for name in found if name.endswith(ends)))


def write_package(kind: str, name: str, folder: Path) -> list[Path]:
    """Write an installable package with a plugin and its tests; return its files.

    Raises InputError if kind or name will not do, or the folder exists or cannot be written.
    """
    kind = kind.replace("-", "_")
    if kind not in kinds():
        message = f"expected a kind of plugin, {', '.join(kinds())}; found {kind!r}"
        raise InputError(Finding("unknown-kind", message))
    if not _NAME.fullmatch(name):
        message = f"expected small letters and digits, words joined by hyphens, found {name!r}"
        raise InputError(Finding("bad-name", message))
    if folder.exists():
        raise file_error("folder-exists", folder, "expected a folder that does not exist yet")
    underscored = name.replace("-", "_")
    module = f"hpcsched_{underscored}"
    registered = "dispatcher" if kind == "formulation" else kind.replace("_", "-")
    words = {
        "name": name,
        "metric": underscored,
        "Class": "".join(map(str.capitalize, name.split("-"))),
        "module": module,
        "distribution": f"hpcsched-{name}",
        "words": spoken(kind),
        "registered": f"{registered} {underscored if kind == 'metric' else name}",
        "version": ".".join(__version__.split(".")[:2]),
    }
    written = []
    for path, template in (
        ("README.md", "readme"),
        ("pyproject.toml", "pyproject"),
        (f"src/{module}/__init__.py", kind),
        ("tests/conftest.py", "conftest"),
        (f"tests/test_{module}.py", f"{kind}_test"),
    ):
        text = (_TEMPLATES / f"{template}.txt").read_text(encoding="utf-8")
        try:
            make_folder((folder / path).parent)
            write_text(folder / path, Template(text).substitute(words))
        except InputError:
            # Half a package is none.
            shutil.rmtree(folder, ignore_errors=True)
            raise
        written.append(folder / path)
    return written
