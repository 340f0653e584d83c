"""Parts of the pages that follow from the code: keys, plugins, commands, hooks, columns.

They are made when the site is built, and stand then between `<!-- begin NAME -->` and
`<!-- end NAME -->`. Of other distributions they have what hpcsched-slurm brings.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any, get_args

# Before the commands are built: the reference has those of this repository's packages.
os.environ["HPCSCHED_EXTERNAL_PLUGINS"] = "hpcsched-slurm"

from command_reference import command_list, command_sections
from hook_reference import hook_sections, plugin_fields
from type_reference import type_sections

from hpcsched.parameters import SELECTS_KEYWORD, InputFile, Params
from hpcsched.plugins.manager import build_registry
from hpcsched.plugins.registry import Registry
from hpcsched.registration import Plugin
from hpcsched.runs.columns import JOB_COLUMNS, ROUND_COLUMNS
from hpcsched.scenario.key_path import marked
from hpcsched.scenario.models import scenario_model
from hpcsched.scenario.policy_declarations import (
    AccountDeclaration,
    LimitsDeclaration,
    QosDeclaration,
)
from hpcsched.scenario.review import RULES
from hpcsched.studies.study_files import ExperimentDeclaration
from hpcsched.workload.job import Column
from hpcsched.workload.presets.preset_catalogue import read_presets

REGION = re.compile(r"(<!-- begin ([\w-]+) -->\n).*?(<!-- end \2 -->)", re.DOTALL)
PLUGIN_KINDS = (
    "trace_source",
    "transform",
    "predictor",
    "correction",
    "dispatcher",
    "queue_order",
    "allocator",
    "solver",
    "objective",
    "observer",
    "executor",
)


def make_page(page: str) -> str:
    """Return the text of a page with its parts from the code; those of experiments stay."""
    if not REGION.search(page):
        return page
    parts = make_tables()
    return REGION.sub(
        lambda old: f"{old[1]}\n{parts[old[2]]}\n\n{old[3]}" if old[2] in parts else old[0], page
    )


@cache
def make_tables() -> dict[str, str]:
    """Return every part of the pages by its name."""
    registry = build_registry(external=["hpcsched-slurm"])
    scenario = scenario_model(registry)
    blocks = {
        name: scenario.model_fields[name].annotation for name in ("system", "simulation", "metrics")
    }
    (partition, _) = get_args(scenario.model_fields["partitions"].annotation)
    optional = {
        name: get_args(scenario.model_fields[name].annotation)[0]
        for name in ("outages", "preempt", "checkpoint")
    }
    return {
        "scenario": keys_of(scenario, deep=False),
        "experiment": keys_of(ExperimentDeclaration, deep=False),
        **{name: keys_of(model, f"{name}.") for name, model in blocks.items()},
        "partitions": keys_of(partition, "partitions[]."),
        "qos": keys_of(QosDeclaration, "qos.*.", deep=False),
        "accounts": keys_of(AccountDeclaration, "accounts.*.", deep=False),
        "limits": keys_of(LimitsDeclaration, "limits."),
        **{name: keys_of(model, f"{name}.") for name, model in optional.items()},
        **{kind: plugin_tables(registry, kind) for kind in PLUGIN_KINDS},
        "commands": command_sections(),
        "command-list": command_list(),
        "plugin-fields": plugin_fields(),
        "hooks": hook_sections(),
        **type_sections(),
        "job-columns": column_list(JOB_COLUMNS),
        "round-columns": column_list(ROUND_COLUMNS),
        "presets": preset_list(),
        "rules": "\n".join(f"- `{rule}`: {text}" for rule, text in sorted(RULES.items())),
    }


def preset_list() -> str:
    """Return the known data sets: what they are, how to get them, and what presets read."""
    lines = []
    for preset in read_presets().values():
        files = [f"`{file.name}`" for file in preset.files if file.name not in preset.get]
        parts = [
            f"[{preset.title}]({preset.home}). {preset.about}. {preset.get}",
            *([f"Fetched: {', '.join(files)}."] if files else []),
            f"Unit: {preset.unit}. {preset.notes} Licence: {preset.licence}.",
        ]
        lines.append(f"- `{preset.name}`: {' '.join(parts)}")
    return "\n".join(lines)


def column_list(columns: Sequence[Column]) -> str:
    """Return the columns of a file, with their units."""
    return "\n".join(
        f"- `{column.name}`{f' ({column.unit})' if column.unit else ''}: {column.meaning}"
        for column in columns
    )


def plugin_tables(registry: Registry, kind: str) -> str:
    """Return what plugins there are of a kind, and their parameters."""
    plugins = [installed.plugin for installed in registry.of_kind(kind)]
    parts = ["\n".join(f"- {_names(p)}: {p.summary}" for p in plugins)]
    for owners, rows in _shared_rows(plugins).items():
        parts += [f"Parameters of {_listed(owners)}:", key_list(rows)]
    return "\n\n".join(parts)


def _shared_rows(plugins: Sequence[Plugin]) -> dict[tuple[str, ...], list[Sequence[str]]]:
    """Return parameters by the plugins that have them; those of most plugins come first."""
    defaults: dict[Sequence[str], dict[str, list[str]]] = {}
    for plugin in plugins:
        for key, value, default, meaning in _rows(plugin.params, "", deep=True):
            of = defaults.setdefault((key, value, meaning), {})
            of.setdefault(default, []).append(plugin.name)
    found: dict[tuple[str, ...], list[Sequence[str]]] = {}
    for (key, value, meaning), by_default in defaults.items():
        owners = tuple(sorted(name for names in by_default.values() for name in names))
        (usual, _), *others = sorted(by_default.items(), key=lambda item: -len(item[1]))
        shown = "; ".join([usual, *(f"{_listed(names)}: {value}" for value, names in others)])
        found.setdefault(owners, []).append((key, value, shown, meaning))
    return dict(sorted(found.items(), key=lambda item: (-len(item[0]), item[0])))


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _names(plugin: Plugin) -> str:
    """Return a plugin's name, and the others that are as good."""
    return ", ".join(f"`{name}`" for name in (plugin.name, *plugin.aliases))


def keys_of(model: type[Params], prefix: str = "", *, deep: bool = True) -> str:
    """Return a list of the keys of a model and, if `deep`, of the models within it."""
    return key_list(_rows(model, prefix, deep=deep))


def key_list(rows: Iterable[Sequence[str]]) -> str:
    """Return a line for each key: its value, its default and its meaning."""
    shown = []
    for key, value, default, meaning in rows:
        told = [value, *({"required": ["required"], "": []}.get(default, [f"default {default}"]))]
        shown.append(f"- {key} ({', '.join(told)}): {meaning}")
    return "\n".join(shown)


def _rows(model: type[Params], prefix: str, *, deep: bool) -> Iterator[Sequence[str]]:
    schema = model.model_json_schema()
    yield from _rows_of(schema, schema, prefix, deep=deep, files=_files(model), told={})


def _rows_of(
    block: dict[str, Any],
    root: dict[str, Any],
    prefix: str,
    *,
    deep: bool,
    files: set[str],
    told: dict[str, str],
) -> Iterator[Sequence[str]]:
    """Yield the rows of a block; a model that `told` has is shown at that key already."""
    for key, field in block["properties"].items():
        value = "file" if key in files else _value(field)
        default = _default(key, field, block)
        optional = next((part for part in field.get("anyOf", ()) if "$ref" in part), {})
        within = {**optional, **field.get("items", {}), **field}.get("$ref")
        meaning = field.get("description", "")
        if deep and within in told:
            meaning += f" Its keys are those of `{told[within]}`."
        yield f"`{prefix}{key}`", value, default, meaning
        if deep and within and within not in told:
            told[within] = f"{prefix}{key}"
            below = root["$defs"][within.rpartition("/")[2]]
            dots = "[]." if "items" in field else "."
            yield from _rows_of(
                below, root, f"{prefix}{key}{dots}", deep=True, files=set(), told=told
            )


def _files(model: type[Params]) -> set[str]:
    return {*marked(model, InputFile)}


def _default(key: str, field: dict[str, Any], block: dict[str, Any]) -> str:
    if key in block.get("required", ()):
        return "required"
    if "default" not in field or isinstance(field["default"], dict):
        return ""
    default = field["default"]
    if default is None:
        return ""
    return f"`{default}`" if isinstance(default, str) else f"`{json.dumps(default)}`"


def _value(schema: dict[str, Any]) -> str:
    """Say in words what a value may be."""
    if SELECTS_KEYWORD in schema:
        kind = schema[SELECTS_KEYWORD]
        page = "experiments.md" if kind == "executor" else "plugin-parameters.md"
        return f"[{kind.replace('_', ' ')}]({page}#{kind.replace('_', '-')}s)"
    if "anyOf" in schema:
        return _one_of(schema["anyOf"])
    if "enum" in schema:
        return ", ".join(f"`{name}`" for name in schema["enum"])
    if not schema:
        return "any value"
    kind = schema.get("type", "mapping")
    words = {"string": "name" if "pattern" in schema else "text", "boolean": "`true`, `false`"}
    if kind == "array":
        words[kind] = f"list: {_value(schema['items'])}"
    elif kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        of = _value(schema["additionalProperties"])
        words[kind] = f"mapping: {'resource type' if 'amount' in of else 'name'} to {of}"
    elif kind == "object":
        words[kind] = "mapping"
    elif kind in ("integer", "number"):
        words[kind] = _number("whole number" if kind == "integer" else "number", schema)
    return words.get(kind, kind)


def _one_of(members: Sequence[dict[str, Any]]) -> str:
    """Say what the members are; a number that may also be a text with a unit is one thing."""
    units = [member["pattern"] for member in members if "pattern" in member]
    quantity = ["duration" if "min" in units[0] else "amount"] if units else []
    plain = [member for member in members if "enum" in member or "type" not in member]
    if not units:
        plain = [member for member in members if member.get("type") != "null"]
    return ", ".join(dict.fromkeys([*map(_value, plain), *quantity]))


def _number(kind: str, schema: dict[str, Any]) -> str:
    least, most = schema.get("minimum"), schema.get("maximum")
    if least is None:
        return kind
    return f"{kind}, {least:,} or more" if most is None else f"{kind}, {least:,} to {most:,}"
