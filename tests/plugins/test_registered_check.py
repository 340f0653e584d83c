"""Fields of a `Plugin` are checked when it is registered; commands are in `test_broken_plugins`."""

from typing import Annotated, Any

import pytest

from hpcsched import Params, Plugin, Selects
from hpcsched.errors import PluginError
from hpcsched.plugins.plugin_checks import CAPABILITIES, check_registered
from hpcsched.registration import KINDS, SEES_RUN_TIME


class Chooses(Params):
    """Parameters with a choice."""

    allocator: Annotated[Any, Selects("allocator")] = "first-fit"


def check(plugin: Plugin, kind: str = "predictor") -> None:
    """Check a plugin that a hook of `acme 2.0` has returned."""
    check_registered(plugin, kind, "plugin acme 2.0")


def test_a_plugin_without_a_fault() -> None:
    """It has a capability of its kind, and another name."""
    check(Plugin("a", "b", lambda *_: None, Chooses, frozenset({SEES_RUN_TIME}), aliases=("c",)))


def test_kinds() -> None:
    """Capabilities belong to kinds that there are."""
    assert set(CAPABILITIES) <= set(KINDS)


def test_kind_without_capabilities() -> None:
    """The message says that there are none."""
    plugin = Plugin("a", "b", lambda *_: None, capabilities=frozenset({SEES_RUN_TIME}))
    expected = "the queue order 'a': expected capabilities none of this kind, found 'sees_run_time'"
    with pytest.raises(PluginError, match=expected):
        check(plugin, "queue_order")


def test_params() -> None:
    """They are derived from the strict model."""
    plugin: Any = Plugin("a", "b", lambda *_: None, dict)  # type: ignore[arg-type]
    with pytest.raises(PluginError, match=r"expected params derived from hpcsched\.Params, found"):
        check(plugin)
