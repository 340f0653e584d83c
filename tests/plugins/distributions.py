"""Distributions that are installed for one test, in folders of its own."""

import importlib.metadata
import sys
import textwrap
from pathlib import Path

import pytest

from hpcsched.plugins import manager


class Distributions:
    """All that is installed beside hpcsched, as far as plugins are concerned.

    `path` is where distributions are looked for, first to last.
    """

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.path = [str(folder)]
        self._modules: list[str] = []
        found = importlib.metadata.Distribution.discover
        monkeypatch.setattr(importlib.metadata, "distributions", lambda: found(path=self.path))
        monkeypatch.delenv(manager.OFF_SWITCH, raising=False)
        monkeypatch.syspath_prepend(folder)
        self._look_again()

    def install(self, name: str, version: str, source: str) -> None:
        """Install a distribution with one module, which its entry point names."""
        module = name.lower().replace("-", "_")
        self._modules.append(module)
        (self.folder / f"{module}.py").write_text(textwrap.dedent(source), encoding="utf-8")
        describe(self.folder, name, version, module)

    def forget(self) -> None:
        """Let later tests see what is really installed."""
        self._look_again()
        for module in self._modules:
            sys.modules.pop(module, None)

    @staticmethod
    def _look_again() -> None:
        manager.installed.cache_clear()
        manager.added_commands.cache_clear()


def describe(folder: Path, name: str, version: str, module: str) -> None:
    """Write what says that a distribution is installed in a folder, with a module of plugins."""
    about = folder / f"{module}-{version}.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (about / "entry_points.txt").write_text(f"[hpcsched]\nplugin = {module}\n")
