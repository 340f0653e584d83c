"""The fixtures that hpcsched ships, as a plugin author's `pytest_plugins` would bring them in."""

from hpcsched.testing import run_scenario, use_plugins

__all__ = ["run_scenario", "use_plugins"]
