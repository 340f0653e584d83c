"""Closes what tests of drivers open."""

from collections.abc import Iterator

import pytest

from live.sessions import OPEN


@pytest.fixture(autouse=True)
def _closed_journals() -> Iterator[None]:
    yield
    while OPEN:
        OPEN.pop().close()
