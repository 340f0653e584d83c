"""Key paths: positions in a document, such as `system.groups[0].count`."""

import json
import re

KeyPath = tuple[str | int, ...]

_PLAIN = re.compile(r"[\w-]+")
_STEP = re.compile(r"\[(\d+)\]|\.?([^.\[\]]+)")


def show_key_path(path: KeyPath) -> str:
    """Return a key path as people write it, on one line."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            # A key with a dot or a line break in it would read as two steps, or break a one-line
            # message.
            name = step if _PLAIN.fullmatch(step) else json.dumps(step)
            text += f".{name}" if text else name
    return text


def parse_key_path(text: str) -> KeyPath:
    """Return the steps of a key path; steps in brackets are list positions.

    A number between dots stays a text, since only the document knows if it is a list position or a
    key.

    Raises
    ------
    ValueError
        If the text is no key path.

    Examples
    --------
    >>> parse_key_path("system.groups[0].count")
    ('system', 'groups', 0, 'count')
    """
    steps: list[str | int] = []
    end = 0
    while end < len(text):
        match = _STEP.match(text, end)
        # The first step has no separator in front, and every other one has.
        if match is None or (end == 0) == match[0].startswith((".", "[")):
            raise ValueError(f"{text!r} is not a key path such as system.groups[0].count")
        steps.append(int(match[1]) if match[1] else match[2])
        end = match.end()
    if not steps:
        raise ValueError("the key path is empty")
    return tuple(steps)
