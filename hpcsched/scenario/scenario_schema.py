"""The JSON Schema of scenarios, for editors: draft-07, with the plugins of a registry."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, models_json_schema

from hpcsched.parameters import SELECTS_KEYWORD, Params
from hpcsched.plugins.registry import Registry
from hpcsched.registration import KINDS
from hpcsched.scenario.choices import Choice, choice_model, tag_of
from hpcsched.scenario.models import scenario_model

SCHEMA_ID = "urn:hpcsched:scenario"
_DEFINITION = "#/definitions/{model}"

_BY_NAME = ("properties", "patternProperties", "definitions")


class _WithoutTitles(GenerateJsonSchema):
    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def scenario_schema(registry: Registry) -> dict[str, Any]:
    """Return the schema of scenarios that may use the plugins of a registry."""
    # A scenario chooses no metric and no executor.
    kinds = [kind for kind in KINDS if kind not in ("metric", "executor")]
    return model_schema(scenario_model(registry), registry, kinds, SCHEMA_ID, "hpcsched scenario")


def model_schema(
    root_model: type[Params], registry: Registry, kinds: Iterable[str], schema_id: str, title: str
) -> dict[str, Any]:
    """Return the JSON Schema of a model with fields that select plugins."""
    installed = {kind: registry.of_kind(kind) for kind in kinds}
    choices = {
        kind: {one.plugin.name: choice_model(one) for one in of_kind}
        for kind, of_kind in installed.items()
    }
    models = [root_model, *(model for of_kind in choices.values() for model in of_kind.values())]
    references, top = models_json_schema(
        [(model, "validation") for model in models],
        ref_template=_DEFINITION,
        schema_generator=_WithoutTitles,
    )
    # Definitions of all plugins at once, so that two that share a nested model have it once.
    definitions = top["$defs"]
    root = definitions.pop(references[root_model, "validation"]["$ref"].rpartition("/")[2])
    for kind, of_kind in choices.items():
        options = [references[model, "validation"] for model in of_kind.values()]
        aliases = {one.plugin.name: one.plugin.aliases for one in installed[kind]}
        definitions[kind] = _union(kind, of_kind, options, aliases)
    converted = {name: _draft_07(definitions[name]) for name in sorted(definitions)}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": schema_id,
        "title": title,
        **_draft_07(root),
        "definitions": {**converted, **_shared_properties(converted)},
    }


def _shared_properties(definitions: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return definitions of the properties that several models have, and refer to them there."""
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for definition in definitions.values():
        for name, schema in definition.get("properties", {}).items():
            if len(schema) > 1:
                key = name, json.dumps(schema, sort_keys=True)
                found.setdefault(key, []).append(definition["properties"])
    shared: dict[str, Any] = {}
    for (name, _), places in sorted(found.items()):
        if len(places) > 1:
            number = sum(other.startswith(f"{name}-") for other in shared) + 1
            shared[f"{name}-{number}"] = places[0][name]
            reference = {"$ref": _DEFINITION.format(model=f"{name}-{number}")}
            for properties in places:
                properties[name] = reference
    return shared


def _union(
    kind: str,
    models: dict[str, type[Choice]],
    options: list[dict[str, Any]],
    aliases: Mapping[str, Sequence[str]],
) -> dict[str, Any]:
    """Return the schema of a choice: a name alone if nothing else is required, or a mapping."""
    tag = tag_of(kind)
    title = kind.replace("_", " ")
    bare = [
        written
        for name, model in models.items()
        if not any(field.is_required() for key, field in model.model_fields.items() if key != tag)
        for written in (name, *aliases.get(name, ()))
    ]
    # A name alone is valid only where no other key is required, and editors should say so.
    if bare:
        description = f"The name of a {title}, with defaults for all its parameters."
        options = [{"type": "string", "enum": bare, "description": description}, *options]
    description = f"A {title}: {KINDS[kind]}. Given by its name, with parameters beside `{tag}`."
    return {"description": description, **({"anyOf": options} if options else {"not": {}})}


def _draft_07(schema: Any) -> Any:
    """Convert a schema from draft 2020-12 to draft-07, with references to the unions of choices."""
    if not isinstance(schema, dict):
        return schema
    result: dict[str, Any] = {}
    for keyword, value in schema.items():
        if keyword in ("title", "discriminator"):
            continue
        if keyword == SELECTS_KEYWORD:
            result["$ref"] = _DEFINITION.format(model=value)
        elif keyword in _BY_NAME:
            result[keyword] = {name: _draft_07(value[name]) for name in value}
        elif isinstance(value, list):
            result["items" if keyword == "prefixItems" else keyword] = list(map(_draft_07, value))
        else:
            result[keyword] = value if keyword in ("const", "default") else _draft_07(value)
    if "$ref" in result and len(result) > 1:
        # Draft-07 ignores what stands beside a reference.
        result = {"allOf": [{"$ref": result.pop("$ref")}], **result}
    return result
