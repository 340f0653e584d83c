"""The JSON Schema accepts what the models accept, and says what everything is."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from hpcsched.plugins.manager import build_registry
from hpcsched.scenario.document import parse_document
from hpcsched.scenario.scenario_schema import scenario_schema
from tests.fake_plugins import fake_registry
from tests.scenario.samples import BAD, GOOD, Bad

COMMITTED = Path(__file__).parents[2] / "schemas" / "scenario.schema.json"
# What a schema cannot know: spelling, uniqueness across a list, sums, and choices without end.
BEYOND = {
    "octal number",
    "nothing to offer",
    "duplicate group",
    "duplicate key",
    "merge key",
    "list as a key",
    "tag",
    "syntax",
    "tabulator",
    "control character",
    "second document",
    "endless choice",
    "bounds that do not ascend",
}


@pytest.fixture(scope="module")
def validator() -> Draft7Validator:
    """A validator of scenarios that may use the fake plugins."""
    schema = scenario_schema(fake_registry())
    Draft7Validator.check_schema(schema)
    return Draft7Validator(schema)


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        GOOD.replace("order: fcfs", "order: {name: weighted, weight: 2}"),
        GOOD.replace("  name: list\n  order: fcfs\n  depth: 3", "  easy"),
        GOOD.replace("seed: 1", "metrics: {percentiles: [1], mean_bounded_slowdown: {tau: 1min}}"),
        GOOD.replace("seed: 1", "observers: [progress, {name: progress}]"),
    ],
)
def test_good_scenarios_fit(validator: Draft7Validator, text: str) -> None:
    """What loads fits the schema."""
    assert list(validator.iter_errors(parse_document(text).value)) == []


@pytest.mark.parametrize("bad", [BAD[name] for name in BAD if name not in BEYOND])
def test_bad_scenarios_do_not_fit(validator: Draft7Validator, bad: Bad) -> None:
    """What does not load does not fit the schema, as far as a schema can tell."""
    assert not validator.is_valid(parse_document(bad.text).value)


def test_a_bare_name_needs_no_more(validator: Draft7Validator) -> None:
    """A plugin that needs parameters cannot be chosen by its name alone."""
    data = parse_document(GOOD).value
    assert validator.is_valid({**data, "trace": "synthetic"})
    assert not validator.is_valid({**data, "trace": "file"})


def properties(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every property of a schema and of its definitions; shared ones at each place."""
    definitions = schema["definitions"]
    for name, part in [("", schema), *definitions.items()]:
        for key, value in part.get("properties", {}).items():
            shared = value.get("$ref", "").rpartition("/")[2]
            yield f"{name}.{key}", definitions[shared] if shared else value


def test_properties_that_several_models_have_stand_once() -> None:
    """Trace sources share policies: each refers to the one definition."""
    definitions = scenario_schema(build_registry(external=False))["definitions"]
    swf, alea = (definitions[f"TraceSource{name}"]["properties"] for name in ("Swf", "Alea"))
    assert (
        swf["zero_run_time"] == alea["zero_run_time"] == {"$ref": "#/definitions/zero_run_time-1"}
    )
    assert definitions["zero_run_time-1"]["enum"] == ["skip", "keep"]


def test_the_schema_keeps_to_draft_07() -> None:
    """References stand alone, and nothing of later drafts or of our own is left."""
    text = json.dumps(scenario_schema(fake_registry()))
    assert not [
        word for word in ("$defs", "x-selects", "prefixItems", "discriminator") if word in text
    ]
    for _, value in properties(scenario_schema(fake_registry())):
        assert "$ref" not in value or len(value) == 1


def test_the_committed_schema_is_current() -> None:
    """The file in the repository is what this repository's plugins give: see `make schema`."""
    schema = scenario_schema(build_registry(external=["hpcsched-slurm"]))
    assert json.loads(COMMITTED.read_text(encoding="utf-8")) == schema
    Draft7Validator.check_schema(schema)


def test_every_key_is_described() -> None:
    """Every key says in a sentence what it is."""
    schema = scenario_schema(build_registry(external=["hpcsched-slurm"]))
    assert [name for name, value in properties(schema) if not value.get("description")] == []
