"""The fixtures that hpcsched ships, for explanations of runs under dispatchers of a test's own."""

from hpcsched.testing import use_plugins

__all__ = ["use_plugins"]
