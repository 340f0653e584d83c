"""Parts of a scenario that answer a dispatching problem, without trace and predictor."""

from pathlib import Path

from hpcsched.dispatching.objective import Objective
from hpcsched.errors import Finding, InputError
from hpcsched.plugins import manager
from hpcsched.plugins.registry import FOLLOWS_RECORD
from hpcsched.runs.assembly import Assembly
from hpcsched.scenario import Scenario


class _WithoutTrace(Assembly):
    """An assembly of which the source, the predictor and the dispatcher are left out."""

    def __post_init__(self) -> None:
        self.system = self.scenario.system.build()
        self.seed = self.scenario.seed
        self.objective = self.make("objective", self.scenario.objective)


def answering_parts(scenario: Scenario) -> Assembly:
    """Return the system, objective and dispatcher of a scenario, seeded as in its run.

    Raises
    ------
    InputError
        If the dispatcher follows a log.
    PluginError
        If a plugin fails.
    """
    name = scenario.dispatcher.plugin_name
    capabilities = manager.registry().get("dispatcher", name).plugin.capabilities
    if FOLLOWS_RECORD in capabilities:
        message = f"the dispatcher {name} follows a log, which dispatching problems come without"
        raise InputError(Finding("not-recorded", message, key="dispatcher"))
    parts = _WithoutTrace(scenario, manager.registry(), Path())
    parts.dispatcher = parts.make("dispatcher", scenario.dispatcher)
    return parts


def objective_of(scenario: Scenario) -> Objective:
    """Return the objective of a scenario.

    Raises
    ------
    PluginError
        If its plugin fails.
    """
    return _WithoutTrace(scenario, manager.registry(), Path()).objective
