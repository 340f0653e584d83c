"""Commands see the fake plugins instead of what is installed."""

from pathlib import Path

import pytest

from hpcsched.plugins import manager
from hpcsched.runs import assembly
from tests.fake_plugins import fake_registry


@pytest.fixture(autouse=True)
def _fake_plugins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    registry = fake_registry()
    monkeypatch.setattr(manager, "registry", lambda: registry)
    # The fakes have parameters and no parts to build.
    monkeypatch.setattr(assembly, "build_faults", lambda _: ())
    monkeypatch.chdir(tmp_path)
