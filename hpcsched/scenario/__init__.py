"""Scenarios: declarations of users, read strictly and checked before anything runs."""

from hpcsched.scenario.loading import LoadedScenario, load_scenario, read_scenario
from hpcsched.scenario.models import Scenario
from hpcsched.scenario.resolved import resolved_yaml

__all__ = ["LoadedScenario", "Scenario", "load_scenario", "read_scenario", "resolved_yaml"]
