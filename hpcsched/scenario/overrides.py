"""Overrides of values beside the file: `--set key.path=value`, and settings that programs make."""

from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from itertools import pairwise
from typing import Any

from hpcsched.errors import Finding, InputError
from hpcsched.scenario.document import parse_document
from hpcsched.scenario.former_names import key_in
from hpcsched.scenario.key_path import KeyPath, parse_key_path, show_key_path
from hpcsched.scenario.positions import Addition, Positions, Setting, override_place
from hpcsched.scenario.wording import found

Override = str | Setting
"""A text such as `dispatcher.depth=100`, or the setting that it stands for."""


def settings_of(overrides: Iterable[Override]) -> tuple[list[Setting], list[Finding]]:
    """Return overrides as settings, in order, and a finding for each text that is none."""
    settings: list[Setting] = []
    findings: list[Finding] = []
    for override in overrides:
        if isinstance(override, Setting):
            settings.append(override)
            continue
        try:
            settings.append(_parse(override))
        except ValueError as error:
            findings.append(Finding("bad-override", str(error), override_place(override)))
        except InputError as error:
            findings.extend(error.findings)
    return settings, findings


def apply_settings(
    root: Any, settings: Iterable[Setting], positions: Positions, tags: Mapping[str, str]
) -> Iterator[Finding]:
    """Write each setting into the document, in order; yield a finding for each that fails.

    Parameters
    ----------
    tags
        Keys that name a plugin where it has parameters: a bare name becomes such a mapping when a
        parameter of it is set.
    """
    for setting in settings:
        if isinstance(setting, Addition):
            _add(root, setting, positions, tags)
            continue
        try:
            _put(root, setting, positions, tags)
        except ValueError as error:
            yield Finding("bad-override", str(error), setting.source)


def _parse(text: str) -> Setting:
    # At the first `=` only: a value may have one, as in `description=a=b`.
    key, equals, value = text.partition("=")
    if not equals:
        raise ValueError("expected key.path=value")
    path = parse_key_path(key.strip())
    document = parse_document(value)
    place = override_place(text)
    if document.problems:
        raise InputError(
            Finding(problem.rule, problem.message, place, show_key_path(path + problem.key))
            for problem in document.problems
        )
    return Setting(path, document.value, place)


def _put(root: Any, setting: Setting, positions: Positions, tags: Mapping[str, str]) -> None:
    node = root
    done: KeyPath = ()
    for step, below in pairwise(setting.path):
        here = _step(node, step, done)
        done = (*done, here)
        if isinstance(node, dict) and here not in node:
            node[here] = {}
            positions.override(done, setting)
        # `dispatcher: easy` is short for `dispatcher: {name: easy}`; a parameter needs the long
        # form.
        if isinstance(below, str) and isinstance(node[here], str) and node[here] in tags:
            node[here] = {tags[node[here]]: node[here]}
        node = node[here]
    last = _step(node, setting.path[-1], done)
    # A copy: later settings may write into it, and an experiment gives one value to many cells.
    node[last] = deepcopy(setting.value)
    positions.override((*done, last), setting)


def _add(root: Any, addition: Addition, positions: Positions, tags: Mapping[str, str]) -> None:
    """Append a plugin's name to a list unless it is there, with or without parameters.

    A document without such a list is left as it is: its validation says what is wrong.
    """
    (key,) = addition.path
    if not isinstance(root, dict):
        return
    items = root.setdefault(key, [])
    if not isinstance(items, list):
        return
    name = addition.value
    if any(item == name or _named(item, tags.get(name)) == name for item in items):
        return
    items.append(name)
    positions.override((key, len(items) - 1), addition)


def _named(item: Any, tag: str | None) -> Any:
    return item.get(tag) if isinstance(item, dict) else None


def _step(node: Any, step: str | int, done: KeyPath) -> Any:
    """Return the key or list position of a step at a node; ValueError if it has none."""
    name = show_key_path(done) or "the scenario"
    if isinstance(node, dict):
        if isinstance(step, int):
            raise ValueError(f"{name} is a mapping; it has keys, not positions such as [{step}]")
        # A key by its former name and by its present one is one key, and is set once.
        return key_in(node, step)
    if isinstance(node, list):
        if not str(step).isdecimal():
            raise ValueError(f"{name} is a list; expected a position such as [0], found {step!r}")
        if int(step) >= len(node):
            raise ValueError(f"{name} has {len(node)} items; there is no [{step}]")
        return int(step)
    raise ValueError(
        f"{name} is {found(node)} and not a mapping, so {step!r} cannot be set within it;"
        f" set {name} as a whole"
    )
