"""Plugins of a module take part for one test."""

from hpcsched.testing import use_plugins

__all__ = ["use_plugins"]
