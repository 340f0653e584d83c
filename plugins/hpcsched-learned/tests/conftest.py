"""Takes the fixtures that hpcsched ships, and registers the plugins of this package."""

import pytest

import hpcsched_learned
from hpcsched.testing import UsePlugins

pytest_plugins = ["hpcsched.testing"]


@pytest.fixture(autouse=True)
def _registered(use_plugins: UsePlugins) -> None:
    """Let scenarios name the plugins, which need not be installed."""
    use_plugins(hpcsched_learned)
