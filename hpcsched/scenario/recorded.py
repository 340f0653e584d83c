"""Restrictions of scenarios with a dispatcher that follows the starts of a log."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pydantic_core import InitErrorDetails

from hpcsched.plugins.registry import FOLLOWS_RECORD, KEEPS_WAITS, RECORDS_WAITS, Registry
from hpcsched.scenario.choices import NamedChoice, Transformed
from hpcsched.scenario.key_path import KeyPath
from hpcsched.scenario.refusal import refusal

if TYPE_CHECKING:
    from hpcsched.scenario.models import Scenario

RULE = "not-recorded"
PREDICTOR = "requested-time"
"""The predictor of scenarios that name none."""


def not_recorded(scenario: "Scenario", registry: Registry) -> Iterator[InitErrorDetails]:
    """Yield the settings of a scenario that contradict a dispatcher that follows a log."""
    name = scenario.dispatcher.plugin_name
    if FOLLOWS_RECORD not in registry.get("dispatcher", name).plugin.capabilities:
        return
    for at, message, value in without_waits(scenario, registry, f"the dispatcher {name}"):
        yield refusal(RULE, message, value, at=at)
    if scenario.predictor.plugin_name != PREDICTOR:
        message = (
            f"the dispatcher {name} starts jobs when the log says, whatever a predictor says;"
            f" expected {PREDICTOR}, or no predictor"
        )
        yield refusal(RULE, message, scenario.predictor.plugin_name, at=("predictor",))
    declared = {
        ("outages",): scenario.outages is not None,
        ("system", "shared_resources"): bool(scenario.system.shared_resources),
        ("simulation", "dispatch_latency"): scenario.simulation.dispatch_latency is not None,
        ("trace", "dependencies"): getattr(scenario.trace, "dependencies", None) == "honour",
        ("live",): scenario.live is not None,
    }
    for at, is_there in declared.items():
        if is_there:
            message = (
                f"the dispatcher {name} starts jobs when the log says, where nothing else holds"
                f" them back; expected no {at[-1]}"
            )
            yield refusal(RULE, message, None, at=at)


def without_waits(
    scenario: "Scenario", registry: Registry, who: str
) -> Iterator[tuple[KeyPath, str, str]]:
    """Yield the settings of a trace for which its log records no schedule of its jobs.

    Returns
    -------
    Iterator
        Key path, message and value of each.
    """
    source = scenario.trace.plugin_name
    if RECORDS_WAITS not in registry.get("trace_source", source).plugin.capabilities:
        able = [
            installed.plugin.name
            for installed in registry.of_kind("trace_source")
            if RECORDS_WAITS in installed.plugin.capabilities
        ]
        message = (
            f"{who} needs a log that records when jobs started, and {source} does"
            f" not; there are: {', '.join(able)}"
        )
        yield ("trace", "source"), message, source
    trace = scenario.trace
    chosen: Sequence[NamedChoice] = trace.transforms if isinstance(trace, Transformed) else ()
    # Recorded waits are relative to submissions: moving a submission would move the start with it.
    for k, transform in enumerate([choice.plugin_name for choice in chosen]):
        if KEEPS_WAITS not in registry.get("transform", transform).plugin.capabilities:
            message = (
                f"the transform {transform} changes submissions or jobs, so that the recorded"
                f" starts are no schedule of them; leave it out, or {who}"
            )
            yield ("trace", "transforms", k), message, transform
