"""Installs distributions for one test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.plugins.distributions import Distributions


@pytest.fixture
def distributions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Distributions]:
    """A folder in which to install distributions that have plugins."""
    folder = tmp_path / "installed"
    folder.mkdir()
    made = Distributions(folder, monkeypatch)
    yield made
    made.forget()
