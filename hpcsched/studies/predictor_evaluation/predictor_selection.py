"""Choice of the evaluated predictors: the scenario's own, named ones, and the baseline."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hpcsched.errors import Finding, InputError, Place
from hpcsched.prediction.predictor import Oracle, Predictor
from hpcsched.runs.assembly import assemble
from hpcsched.scenario import LoadedScenario, Scenario
from hpcsched.scenario.choices import Choice
from hpcsched.scenario.document import Document, parse_document, read_text
from hpcsched.scenario.loading import check_document
from hpcsched.scenario.positions import Setting
from hpcsched.scenario.review import missing_inputs
from hpcsched.workload.trace_source import TraceSource

BASELINE = "requested-time"


@dataclass(frozen=True, slots=True)
class Chosen:
    """A scenario, its trace, and the predictors to evaluate, by title."""

    scenario: Scenario
    source: TraceSource
    predictors: dict[str, Predictor | Oracle]


def choose(
    path: Path,
    overrides: Sequence[str] = (),
    named: str = "",
    document: Document | None = None,
) -> Chosen:
    """Return the scenario's predictor, then the named ones, then the baseline.

    Each predictor has the seed that it would have in a run of the scenario. A choice that occurs
    twice is taken once.

    Parameters
    ----------
    path
        The scenario.
    overrides
        Values of `--set`.
    named
        List in YAML without its brackets: names, or mappings with parameters, such as
        `last-two, {name: inflated, of: last-two, factor: 2}`.
    document
        Document of the scenario; None: that of its file.

    Raises
    ------
    InputError
        If the scenario or a name is wrong.
    PluginError
        If a plugin fails.
    """
    if document is None:
        document = parse_document(read_text(path))
    own = check_document(document, path, overrides)
    missing = list(_missing(own, ("trace", "predictor")))
    if missing:
        raise InputError(missing)
    scenarios = [own.scenario, *_scenarios(own, document, overrides, _listed(named))]
    predictors: dict[str, Predictor | Oracle] = {}
    source: TraceSource | None = None
    for scenario in scenarios:
        parts = assemble(scenario)
        if source is None:
            source = parts.source
        # The first of equal titles stays: the baseline often is the scenario's own predictor.
        predictors.setdefault(title(scenario.predictor), parts.predictor)
    assert source is not None
    return Chosen(own.scenario, source, predictors)


def title(choice: Any) -> str:
    """Return the name of a choice, with its parameters that are not defaults."""
    given = []
    for name, field in type(choice).model_fields.items():
        value = getattr(choice, name)
        default = field.get_default(call_default_factory=True, validated_data={})
        shown = title(value) if isinstance(value, Choice) else _plain(value)
        # What is chosen by default is declared by its name alone.
        if name != choice.plugin_tag and default not in (value, shown):
            given.append(f"{name}={shown}")
    return f"{choice.plugin_name}({', '.join(given)})" if given else str(choice.plugin_name)


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)


def _listed(named: str) -> list[Any]:
    """Return the choices of a text.

    Raises
    ------
    InputError
        If it is no list in YAML.
    """
    document = parse_document(f"[{named}]")
    place = Place(f"--predictors {' '.join(named.split())}")
    if document.problems:
        raise InputError(
            Finding(problem.rule, problem.message, place) for problem in document.problems
        )
    return list(document.value)


def _scenarios(
    own: LoadedScenario, document: Document, overrides: Sequence[str], choices: Sequence[Any]
) -> list[Scenario]:
    """Return the scenario with each choice as its predictor, and with the baseline.

    The scenario has been validated, so that any fault is one of the choice.
    """
    scenarios: list[Scenario] = []
    findings: list[Finding] = []
    for choice in (*choices, BASELINE):
        text = choice if isinstance(choice, str) else json.dumps(choice)
        place = Place(f"--predictors {text}")
        change = (
            # An oracle is only asked for by planning off-line, and nothing is planned here.
            Setting(("simulation", "mode"), "online", place),
            Setting(("predictor",), choice, place),
        )
        try:
            loaded = check_document(document, own.path, (*overrides, *change), own.registry)
            wrong = list(_missing(loaded, ("predictor",)))
        except InputError as error:
            wrong = list(error.findings)
        else:
            scenarios.append(loaded.scenario)
        findings.extend(replace(one, place=place) for one in wrong)
    if findings:
        raise InputError(findings)
    return scenarios


def _missing(loaded: LoadedScenario, keys: tuple[str, ...]) -> Iterator[Finding]:
    for finding in missing_inputs(loaded, "error"):
        if finding.key.startswith(keys):
            yield finding
