"""Distributions that are installed for one test, in a folder of its own."""

import importlib.metadata
import sys
import textwrap
from pathlib import Path

import pytest

from hpcsched.plugin import manager


class Distributions:
    """A folder that is all that is installed beside hpcsched, as far as plugins are concerned."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder = folder
        self._modules: list[str] = []
        found = importlib.metadata.Distribution.discover
        monkeypatch.setattr(
            importlib.metadata, "distributions", lambda: found(path=[str(folder), str(folder)])
        )
        monkeypatch.delenv(manager.OFF_SWITCH, raising=False)
        monkeypatch.syspath_prepend(folder)
        manager.installed.cache_clear()

    def install(self, name: str, version: str, source: str) -> None:
        """Install a distribution with one module, which its entry point names."""
        module = name.replace("-", "_")
        self._modules.append(module)
        (self._folder / f"{module}.py").write_text(textwrap.dedent(source), encoding="utf-8")
        about = self._folder / f"{module}-{version}.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        )
        (about / "entry_points.txt").write_text(f"[hpcsched]\nplugin = {module}\n")

    def forget(self) -> None:
        """Let later tests see what is really installed."""
        manager.installed.cache_clear()
        for module in self._modules:
            sys.modules.pop(module, None)
