"""Hooks and built-in plugins are described, so that lists, schemas and pages can be."""

import importlib
import re

import pytest

from hpcsched.parameters import Params, field_descriptions
from hpcsched.plugins import spec
from hpcsched.plugins.manager import build_registry
from hpcsched.plugins.registry import Installed
from hpcsched.registration import KINDS

COMMANDS = "hpcsched_commands"
HOOKS = {
    name: hook
    for name, hook in vars(spec).items()
    if name.startswith("hpcsched_") and name != COMMANDS
}
REGISTRY = build_registry(external=False)
BUILT_IN = [REGISTRY.get(kind, name) for kind, name, *_ in REGISTRY.listed()]


def test_a_hook_for_each_kind() -> None:
    """There is one hook for each kind of plugin; the only other one is that of commands."""
    assert hasattr(spec, COMMANDS)
    assert set(HOOKS) == {f"hpcsched_{kind}s" for kind in KINDS}


@pytest.mark.parametrize("name", HOOKS)
def test_a_hook_names_its_protocol(name: str) -> None:
    """A hook's docstring says what to return, and names a protocol that can be imported."""
    text = HOOKS[name].__doc__ or ""
    assert text.startswith("Return ")
    named = re.search(r"A factory returns an? `([\w.]+)\.(\w+)`", text)
    assert named, text
    protocol = getattr(importlib.import_module(named[1]), named[2])
    assert protocol.__doc__
    assert [member for member in vars(protocol) if not member.startswith("_")]


@pytest.mark.parametrize("installed", BUILT_IN, ids=lambda i: f"{i.kind} {i.plugin.name}")
def test_a_built_in_plugin_is_described(installed: Installed) -> None:
    """A plugin has a summary of one line, and each of its parameters a description."""
    plugin = installed.plugin
    assert plugin.summary
    assert "\n" not in plugin.summary
    assert not plugin.summary.endswith(".")
    assert plugin.params is Params or plugin.params.__doc__ != Params.__doc__
    texts = field_descriptions(plugin.params)
    assert list(texts) == list(plugin.params.model_fields)
    assert [name for name, text in texts.items() if not text.endswith(".")] == []
