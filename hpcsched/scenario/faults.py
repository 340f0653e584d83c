"""Errors of pydantic in plain language, each with its key path."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError

from hpcsched.scenario.key_path import KeyPath

_EXPECTED_FOUND = re.compile(r"expected (.+?), found ")
"""Beginning of a message of the form 'expected …, found …'."""

_IN_KEY = "[key]"
"""What pydantic puts last in the location of an error in a mapping's key."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault.

    Attributes
    ----------
    at, on_key
        Place to point at; the key instead of the value if `on_key`.
    wanted
        Expectation, where the message has the form 'expected …, found …'.
    member
        True if one member of a union of types complained.
    """

    rule: str
    message: str
    key: KeyPath
    at: KeyPath
    on_key: bool = False
    wanted: str = ""
    member: bool = False


def faults_of(
    error: ValidationError, root: Any, known_keys: Mapping[int, tuple[str, ...]]
) -> list[Fault]:
    """Return the faults of a validation of `root`; those of union members are merged."""
    return _merge(
        [
            _fault(details, root, known_keys)
            for details in error.errors(include_url=False)
            if not _follows(details)
        ]
    )


def _follows(details: ErrorDetails) -> bool:
    """Return True if a list counts as too short only because of faults in its items."""
    wanted = details.get("ctx", {}).get("min_length", 0)
    return details["type"] == "too_short" and len(details["input"]) >= wanted


def _fault(details: ErrorDetails, root: Any, known_keys: Mapping[int, tuple[str, ...]]) -> Fault:
    key, parent, member = _locate(details, root)
    context = details.get("ctx", {})
    on_key = details["loc"][-1:] == (_IN_KEY,)
    value = details["input"]
    match details["type"]:
        case "missing":
            message = f"the key {details['loc'][-1]!r} is missing"
            return Fault("missing-key", message, key, key[:-1], on_key=True)
        case "extra_forbidden":
            known = known_keys.get(id(parent), ())
            message = f"there is no key {key[-1]!r} here{_alternatives(str(key[-1]), known)}"
            return Fault("unknown-key", message, key, key, on_key=True)
        case error_type if error_type == REFUSED:
            at_parent = context["rule"] == "missing-key"
            at = key[:-1] if at_parent else key
            return Fault(context["rule"], context["message"], key, at, at_parent)
        case "value_error" | "assertion_error":
            message = str(context["error"])
            form = _EXPECTED_FOUND.match(message)
            wanted = form[1] if form else ""
            return Fault("bad-value", message, key, key, on_key, wanted, member)
        case error_type:
            wanted = expected(error_type, context) or ""
            hint = boolean_hint(value) if error_type == "bool_type" else ""
            message = f"expected {wanted}, found {found(value)}{hint}" if wanted else details["msg"]
            return Fault("bad-value", message, key, key, on_key, wanted, member)


def _locate(details: ErrorDetails, root: Any) -> tuple[KeyPath, Any, bool]:
    """Follow pydantic's location through the document, past the names of union members.

    Returns the key path, the mapping or list that holds it, and True if a union was passed.
    """
    path: KeyPath = ()
    node, parent, skipped = root, None, False
    location, error = details["loc"], details["type"]
    for n, step in enumerate(location):
        last = n == len(location) - 1
        inside = (isinstance(node, dict) and step in node) or (
            isinstance(node, list) and isinstance(step, int) and step < len(node)
        )
        if inside:
            path, node, parent = (*path, step), node[step], node
        elif last and (error == "missing" or (error == REFUSED and not skipped)):
            path = (*path, step)
        elif step != _IN_KEY:
            skipped = True
    return path, parent, skipped


def _alternatives(name: str, known: Iterable[str]) -> str:
    names = list(known)
    close = get_close_matches(name, names, n=1)
    if close:
        return f"; did you mean {close[0]!r}?"
    return f"; there are: {', '.join(names)}" if names else ""


def _merge(faults: Iterable[Fault]) -> list[Fault]:
    merged: dict[tuple[KeyPath, bool], Fault] = {}
    others: list[Fault] = []
    for fault in faults:
        if not (fault.member and fault.wanted):
            others.append(fault)
            continue
        place = (fault.at, fault.on_key)
        other = merged.get(place)
        if other is None:
            merged[place] = fault
        elif fault.wanted not in other.wanted:
            wanted = f"{other.wanted} or {fault.wanted}"
            # The rest names the value; the longer one also says what was perhaps meant.
            rest = max((one.message.partition(one.wanted)[2] for one in (other, fault)), key=len)
            merged[place] = replace(other, wanted=wanted, message=f"expected {wanted}{rest}")
    return [
        fault
        for fault in (*others, *merged.values())
        if not (fault.member and any(_below(other, fault) for other in merged.values()))
    ]


def _below(other: Fault, fault: Fault) -> bool:
    return len(other.at) > len(fault.at) and other.at[: len(fault.at)] == fault.at


REFUSED = "refused"
"""The pydantic error type of every refusal; its context holds `rule` and `message`."""


def refusal(rule: str, message: str, value: Any, at: KeyPath = ()) -> InitErrorDetails:
    """Return one refusal, to be raised by `refuse`."""
    error = PydanticCustomError(REFUSED, "{message}", {"rule": rule, "message": message})
    return InitErrorDetails(type=error, loc=at, input=value)


def refuse_all(refusals: Iterable[InitErrorDetails]) -> None:
    """Raise an exception with all refusals, if there are any."""
    found = list(refusals)
    if found:
        raise refuse(*found)


def refuse(*refusals: InitErrorDetails) -> ValidationError:
    """Return the exception that carries refusals, to be raised by a validator."""
    return ValidationError.from_exception_data("scenario", list(refusals))


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
