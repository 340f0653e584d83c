"""Parts of a scenario that answer a dispatching problem, without trace and predictor."""

from hpcsched.dispatching.problem import Objective
from hpcsched.errors import Finding, InputError
from hpcsched.plugins import manager
from hpcsched.registration import FOLLOWS_RECORD
from hpcsched.runs.assembly import Assembly, assemble
from hpcsched.scenario import Scenario


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
    # Looked up by name before anything is built, so that the message is about the scenario.
    capabilities = manager.registry().get("dispatcher", name).plugin.capabilities
    if FOLLOWS_RECORD in capabilities:
        message = f"the dispatcher {name} follows a log, which dispatching problems come without"
        raise InputError(Finding("not-recorded", message, key="dispatcher"))
    return assemble(scenario)


def objective_of(scenario: Scenario) -> Objective:
    """Return the objective of a scenario.

    Raises
    ------
    PluginError
        If its plugin fails.
    """
    return assemble(scenario).objective
