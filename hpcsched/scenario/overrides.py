"""Overrides of values beside the file: `--set key.path=value`."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any

from hpcsched.errors import Finding, InputError
from hpcsched.scenario.document import parse_document
from hpcsched.scenario.key_path import KeyPath, parse_key_path, show_key_path
from hpcsched.scenario.positions import Positions, override_place
from hpcsched.scenario.wording import found


def apply_overrides(
    root: Any, overrides: Iterable[str], positions: Positions, tags: Mapping[str, str]
) -> Iterator[Finding]:
    """Write each override into the document, in order; yield a finding for each that fails.

    Parameters
    ----------
    root
        Plain values.
    overrides
        Texts such as `dispatcher.depth=100`.
    positions
        Places of values, which are updated.
    tags
        Keys that name a plugin where it has parameters: a bare name becomes such a mapping when a
        parameter of it is set.
    """
    for text in overrides:
        try:
            path, value = _parse(text)
            _put(root, path, value, text, positions, tags=tags)
        except ValueError as error:
            yield Finding("bad-override", str(error), override_place(text))
        except InputError as error:
            yield from error.findings


def _parse(text: str) -> tuple[KeyPath, Any]:
    key, equals, value = text.partition("=")
    if not equals:
        raise ValueError("expected key.path=value")
    path = parse_key_path(key.strip())
    document = parse_document(value)
    if document.problems:
        place = override_place(text)
        raise InputError(
            Finding(problem.rule, problem.message, place, show_key_path(path + problem.key))
            for problem in document.problems
        )
    return path, document.value


def _put(
    root: Any,
    path: KeyPath,
    value: Any,
    text: str,
    positions: Positions,
    *,
    tags: Mapping[str, str],
) -> None:
    node = root
    done: KeyPath = ()
    for step, below in pairwise(path):
        here = _step(node, step, done)
        done = (*done, here)
        if isinstance(node, dict) and here not in node:
            node[here] = {}
            positions.override(done, text)
        if isinstance(below, str) and isinstance(node[here], str) and node[here] in tags:
            node[here] = {tags[node[here]]: node[here]}
        node = node[here]
    last = _step(node, path[-1], done)
    node[last] = value
    positions.override((*done, last), text)


def _step(node: Any, step: str | int, done: KeyPath) -> Any:
    """Return the key or list position of a step at a node; ValueError if it has none."""
    name = show_key_path(done) or "the scenario"
    if isinstance(node, dict):
        if isinstance(step, int):
            raise ValueError(f"{name} is a mapping; it has keys, not positions such as [{step}]")
        return step
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
