"""Which tests share a fixture: a line that runs as it is set up is run by them all."""

from collections.abc import Callable, Generator, Sequence
from typing import Any

import pytest


class SharedFixtures:
    """Pytest's part: says what runs now, a test or the making of a fixture that tests share.

    A fixture of a module is made in the first test that wants it. What that runs would otherwise
    count for this test alone, and the others would not be asked about it.
    """

    def __init__(self, items: Sequence[pytest.Item], say: Callable[[str], None]) -> None:
        self._items = items
        self._say = say
        self._test = ""
        self._tests_of: dict[str, list[str]] = {}

    def begin(self, test: str) -> None:
        """Say that a test runs now."""
        self._test = test
        self._say(test)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
    ) -> Generator[None, object, object]:
        """Say that a fixture is made, if tests share it, and that the test goes on."""
        if fixturedef.scope == "function":
            return (yield)
        name = f"{fixturedef.argname} of {request.node.nodeid}"
        self._tests_of[name] = [
            item.nodeid
            for item in self._items
            if item.nodeid.startswith(request.node.nodeid)
            and fixturedef.argname in getattr(item, "fixturenames", ())
        ]
        self._say(name)
        try:
            return (yield)
        finally:
            self._say(self._test)

    def tests(self, name: str) -> list[str]:
        """Return the tests that run what was said to run: the test itself, or those that share."""
        return self._tests_of.get(name, [name])
