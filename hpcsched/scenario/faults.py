"""Errors of pydantic in plain language, each with its key path."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
    on_key
        Whether to point at the key instead of the value.
    wanted
        Expectation, where the message has the form 'expected …, found …'.
    member
        True if one member of a union of types complained.
    """

    rule: str
    message: str
    key: KeyPath
    on_key: bool = False
    wanted: str = ""
    member: bool = False

    @property
    def at(self) -> KeyPath:
        """Key path to point at: the mapping that lacks a key."""
        return self.key[:-1] if self.rule == "missing-key" else self.key


def faults_of(
    error: ValidationError, root: Any, known_keys: Mapping[int, tuple[str, ...]]
) -> list[Fault]:
    """Return the faults of a validation of `root`; those of union members are merged."""
    return _merge(
        _fault(details, root, known_keys)
        for details in error.errors(include_url=False)
        # A list counts as too short because of faults in its items, too.
        if details["type"] != "too_short" or len(details["input"]) < details["ctx"]["min_length"]
    )


def _fault(details: ErrorDetails, root: Any, known_keys: Mapping[int, tuple[str, ...]]) -> Fault:
    key, parent, member = _locate(details, root)
    if details["type"] == REFUSED:
        rule, message = details["ctx"]["rule"], details["ctx"]["message"]
        return Fault(rule, message, key, rule == "missing-key")
    if details["type"] == "extra_forbidden":
        message = f"there is no key {key[-1]!r} here"
        message += _alternatives(str(key[-1]), known_keys.get(id(parent), ()))
        return Fault("unknown-key", message, key, on_key=True)
    message = sentence(details)
    if details["type"] == "missing":
        return Fault("missing-key", message, key, on_key=True)
    form = _EXPECTED_FOUND.match(message)
    on_key = details["loc"][-1:] == (_IN_KEY,)
    return Fault("bad-value", message, key, on_key, form[1] if form else "", member)


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
        if not fault.member
        or all(
            other.at == fault.at or other.at[: len(fault.at)] != fault.at
            for other in merged.values()
        )
    ]


REFUSED = "refused"
"""The pydantic error type of every refusal; its context holds `rule` and `message`."""


def refusal(rule: str, message: str, value: Any = None, at: KeyPath = ()) -> InitErrorDetails:
    """Return one refusal, to be raised by `refuse`."""
    error = PydanticCustomError(REFUSED, "{message}", {"rule": rule, "message": message})
    return InitErrorDetails(type=error, loc=at, input=value)


def unknown_names(
    rule: str, what: str, names: Iterable[str], known: Iterable[str], at: KeyPath
) -> Iterator[InitErrorDetails]:
    """Yield the names in a list that are not known."""
    for k, name in enumerate(names):
        if name not in known:
            message = f"there is no {what} {name!r}; there are: {', '.join(known)}"
            yield refusal(rule, message, at=(*at, k))


def equal_names(what: str, names: Sequence[str], at: KeyPath = ()) -> Iterator[InitErrorDetails]:
    """Yield the names of items of a list that an item in front of them has."""
    for n, name in enumerate(names):
        if name in names[:n]:
            message = f"two {what} are called {name!r}"
            yield refusal("duplicate-name", message, at=(*at, n, "name"))


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
    "dict_type": "a mapping of keys",
    "enum": "{expected}",
    "finite_number": "a finite number",
    "float_parsing": "a number",
    "float_type": "a number",
    "greater_than": "a value above {gt}",
    "greater_than_equal": "a value of at least {ge}",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "int_type": "a whole number",
    "less_than": "a value below {lt}",
    "less_than_equal": "a value of at most {le}",
    "list_type": "a list",
    "literal_error": "{expected}",
    "model_type": "a mapping of keys",
    "multiple_of": "a multiple of {multiple_of}",
    "none_required": "nothing",
    "string_pattern_mismatch": "a text that matches {pattern}",
    "string_too_long": "a text of at most {max_length} characters",
    "string_too_short": "a text of at least {min_length} characters",
    "string_type": "a text",
    "too_long": "a list of at most {max_length} items",
    "too_short": "a list of at least {min_length} items",
    "tuple_type": "a list",
}
_YAML_1_1_BOOLEANS = {"on": True, "yes": True, "y": True, "off": False, "no": False, "n": False}


def sentence(details: Mapping[str, Any]) -> str:
    """Return one error of a validation by pydantic in plain words."""
    kind, value, context = details["type"], details["input"], details.get("ctx", {})
    if kind == "missing":
        return f"the key {details['loc'][-1]!r} is missing"
    if kind in ("value_error", "assertion_error"):
        return str(context["error"])
    what = {"string_too_short": "a text", "too_short": "a list"}.get(kind)
    if what and context["min_length"] == 1:
        wanted = f"expected {what} that is not empty,"
    elif kind in _EXPECTED:
        wanted = f"expected {_EXPECTED[kind].format_map(context)},"
    else:
        wanted = f"{details['msg']};"
    meant = _YAML_1_1_BOOLEANS.get(str(value).lower()) if kind == "bool_type" else None
    hint = "" if meant is None else f"; write {found(meant)}"
    return f"{wanted} found {found(value)}{hint}"


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
