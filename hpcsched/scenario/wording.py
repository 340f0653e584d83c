"""Plain words for expected and found values."""

from collections.abc import Mapping
from typing import Any

_LONGEST = 60

_EXPECTED = {
    "bool_type": "true or false",
    "bytes_type": "a text",
    "dataclass_type": "a mapping of keys",
    "dict_type": "a mapping of keys",
    "enum": "{expected}",
    "finite_number": "a finite number",
    "float_parsing": "a number",
    "float_type": "a number",
    "frozen_set_type": "a list",
    "greater_than": "a value above {gt}",
    "greater_than_equal": "a value of at least {ge}",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "int_type": "a whole number",
    "less_than": "a value below {lt}",
    "less_than_equal": "a value of at most {le}",
    "list_type": "a list",
    "literal_error": "{expected}",
    "mapping_type": "a mapping of keys",
    "model_attributes_type": "a mapping of keys",
    "model_type": "a mapping of keys",
    "multiple_of": "a multiple of {multiple_of}",
    "none_required": "nothing",
    "set_type": "a list",
    "string_pattern_mismatch": "a text that matches {pattern}",
    "string_too_long": "a text of at most {max_length} characters",
    "string_too_short": "a text of at least {min_length} characters",
    "string_type": "a text",
    "too_long": "a list of at most {max_length} items",
    "too_short": "a list of at least {min_length} items",
    "tuple_type": "a list",
}
_YAML_1_1_BOOLEANS = {"on": True, "yes": True, "y": True, "off": False, "no": False, "n": False}


def expected(error_type: str, context: Mapping[str, Any]) -> str | None:
    """Return the expectation of a pydantic error, or None for one with its own message."""
    template = _EXPECTED.get(error_type)
    if template is None:
        return None
    if context.get("min_length") == 1:
        return f"{'a text' if error_type == 'string_too_short' else 'a list'} that is not empty"
    return template.format_map(context)


def sentence(details: Mapping[str, Any]) -> str:
    """Return one error of a validation by pydantic in plain words."""
    context = details.get("ctx", {})
    if details["type"] in ("value_error", "assertion_error"):
        return str(context["error"])
    if details["type"] == "missing":
        return f"the key {details['loc'][-1]!r} is missing"
    wanted = expected(details["type"], context)
    if wanted is None:
        return f"{details['msg']}; found {found(details['input'])}"
    return f"expected {wanted}, found {found(details['input'])}"


def found(value: Any) -> str:
    """Return a value for a message: short, and on one line."""
    if value is None:
        return "nothing"
    # Before numbers and texts: YAML's `true` would read as Python's `True`.
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "a mapping" if value else "an empty mapping"
    if isinstance(value, list | tuple):
        return "a list" if value else "an empty list"
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def boolean_hint(value: Any) -> str:
    """Return advice for a word that older YAML took for true or false; empty for anything else."""
    meant = _YAML_1_1_BOOLEANS.get(value.lower()) if isinstance(value, str) else None
    return "" if meant is None else f"; write {found(meant)}"
