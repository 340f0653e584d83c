"""Checks that build the parts of a scenario and replay nothing."""

from collections.abc import Sequence

from hpcsched.errors import Finding, HpcschedError, InputError
from hpcsched.plugins.registry import Registry
from hpcsched.runs.assembly import assemble
from hpcsched.scenario import LoadedScenario, Scenario
from hpcsched.scenario.review import not_reproducible


def build_faults(loaded: LoadedScenario) -> Sequence[Finding]:
    """Return the errors of building the parts of a scenario, as at the begin of a run.

    Nothing is replayed. Of a trace no more is read than its source reads when it is made.

    Raises
    ------
    PluginError
        If a plugin fails.
    """
    try:
        # A run begins with its metrics; observers write into its directory, so they are left out.
        assemble(loaded.scenario, loaded.registry).build_all().metrics()
    except InputError as error:
        return loaded.located(error.findings)
    return ()


def seed_matters(scenario: Scenario, registry: Registry | None = None) -> bool:
    """Return whether runs of a scenario with several seeds may differ.

    False is certain, for plugins that take their random numbers from the seed: no part has asked
    for it, and none depends on the machine. True is a possibility. Where a part cannot be built,
    its own message says more, and the answer is True.

    Parameters
    ----------
    registry
        Plugins; the installed ones by default.
    """
    if next(not_reproducible(scenario), None) is not None:
        return True
    try:
        return assemble(scenario, registry).build_all().seed_read
    except HpcschedError:
        return True
