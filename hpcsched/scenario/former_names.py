"""Former names of plugins and keys in a document, with their present names."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from pydantic import BaseModel

from hpcsched.parameters import Params
from hpcsched.plugins.registry import Registry
from hpcsched.scenario.choices import Choice
from hpcsched.scenario.key_path import KeyPath

RULE = "former-name"

FORMER_KEYS: Mapping[str, frozenset[str]] = {
    "bias": frozenset({"front_bias"}),
    "carry": frozenset({"warm_start"}),
    "critical": frozenset({"scarce_resources"}),
    "growth": frozenset({"area_exponent"}),
    "level": frozenset({"dinkelbach_parameter"}),
    "patience": frozenset({"discount_time_constant", "placement_timeout"}),
    "pooling": frozenset({"aggregate_nodes"}),
    "pools": frozenset({"shared_resources"}),
    "pursuit": frozenset({"surrogate_objective"}),
    "scatter": frozenset({"one_unit_per_node"}),
    "shortest": frozenset({"minimum_run_time"}),
}
"""Present names of each former key, of all blocks together: a block has one of them.

Overrides need it: they change plain values, before any model has seen those.
"""


def key_in(node: Mapping[Any, Any], key: str) -> str:
    """Return the name by which a mapping has a key: its other name if it has that alone."""
    if key in node:
        return key
    former = {old for old, names in FORMER_KEYS.items() if key in names}
    others = (former | FORMER_KEYS.get(key, frozenset())) & node.keys()
    # A block has one present name of a former key, so that there is one other name at most.
    return others.pop() if others else key


class FormerName(NamedTuple):
    """A former name in a document: its key path, a message, and whether it is a key."""

    path: KeyPath
    message: str
    is_key: bool


def former_names(
    value: Any, document: Any, registry: Registry, path: KeyPath = ()
) -> Iterator[FormerName]:
    """Yield the former names that a document uses.

    Defaults are not looked at: only what is written can be written anew.
    """
    if isinstance(value, BaseModel):
        if isinstance(value, Choice):
            yield from _of_plugin(value, document, registry, path)
        if isinstance(document, Mapping):
            yield from _of_keys(value, document, registry, path)
    elif isinstance(value, Mapping) and isinstance(document, Mapping):
        # A validated mapping may have numbers as keys where the document has texts.
        by_text = {str(key): inner for key, inner in value.items()}
        for key, inner in document.items():
            yield from former_names(by_text.get(str(key)), inner, registry, (*path, key))
    elif isinstance(value, list | tuple) and isinstance(document, list):
        for k, (inner, written) in enumerate(zip(value, document, strict=False)):
            yield from former_names(inner, written, registry, (*path, k))


def _of_plugin(
    choice: Choice, document: Any, registry: Registry, path: KeyPath
) -> Iterator[FormerName]:
    tag = choice.plugin_tag
    at, name = (path, document) if isinstance(document, str) else ((*path, tag), document[tag])
    if registry.is_former(choice.plugin_kind, name):
        kind = choice.plugin_kind.replace("_", " ")
        message = f"the {kind} {name!r} is now called {choice.plugin_name!r}"
        yield FormerName(at, message, is_key=False)


def _of_keys(
    block: BaseModel, document: Mapping[str, Any], registry: Registry, path: KeyPath
) -> Iterator[FormerName]:
    former = block.former_keys if isinstance(block, Params) else {}
    for key, inner in document.items():
        name = former.get(key, key)
        if name != key:
            message = f"the key {key!r} is now called {name!r}"
            yield FormerName((*path, key), message, is_key=True)
        yield from former_names(getattr(block, name, None), inner, registry, (*path, key))
