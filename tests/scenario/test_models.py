"""The models made from a registry."""

import pytest

from hpcsched.errors import PluginError
from hpcsched.parameters import Params
from hpcsched.plugins.registry import Installed
from hpcsched.registration import Plugin
from hpcsched.scenario.choices import choice_model
from hpcsched.scenario.models import scenario_model
from tests.fake_plugins import fake_registry


def installed(kind: str, name: str, params: type[Params]) -> Installed:
    """Return a plugin of acme's."""
    return Installed(kind, Plugin(name, "Does things.", lambda p, _: p, params), "acme", "2.0")


def test_models_are_made_once() -> None:
    """The same plugins give the same models, so that scenarios compare."""
    assert scenario_model(fake_registry()) is scenario_model(fake_registry())


def test_a_parameter_cannot_hide_the_name() -> None:
    """A parameter called as the key that names the plugin is refused."""

    class Clash(Params):
        name: str = "x"

    with pytest.raises(PluginError, match="it has a parameter 'name'"):
        choice_model(installed("dispatcher", "mine", Clash))


def test_metrics_have_defaults() -> None:
    """A metric that cannot be computed without parameters is refused."""

    class Needy(Params):
        bound: int

    registry = fake_registry()
    registry.add(installed("metric", "needy", Needy))
    with pytest.raises(PluginError, match="its parameter 'bound' must have a default"):
        scenario_model(registry)


def test_metrics_cannot_hide_settings() -> None:
    """A metric called as another key of `metrics:` is refused."""

    class Bounded(Params):
        bound: int = 1

    registry = fake_registry()
    registry.add(installed("metric", "percentiles", Bounded))
    with pytest.raises(PluginError, match=r"metric percentiles .*: it is called as something else"):
        scenario_model(registry)
