"""Values of Slurm's files as text of YAML."""

import json
import re
from collections.abc import Iterable
from pathlib import Path

from hpcsched.errors import Place
from hpcsched.parameters import SECONDS

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
"""What some readers of YAML take for something else than a text."""


def scalar(text: str) -> str:
    """Return a text as YAML, in quotes if it could be taken for another value.

    Examples
    --------
    >>> scalar("main"), scalar("on"), scalar("7")
    ('main', '"on"', '"7"')
    """
    plain = _PLAIN.fullmatch(text) and text.lower() not in _WORDS
    return text if plain else json.dumps(text)


def one_line(text: str) -> str:
    """Return a text as the content of a comment: printable characters on one line."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def duration(seconds: int) -> str:
    """Return a duration with the largest unit from minutes to days that divides it.

    Examples
    --------
    >>> duration(172800), duration(5400), duration(90)
    ('2d', '90min', '90')
    """
    for unit, size in reversed(SECONDS.items()):
        if seconds and seconds % size == 0 and unit in {"d", "h", "min"}:
            return f"{seconds // size}{unit}"
    return str(seconds)


def origin(places: Iterable[Place | None]) -> str:
    """Return the files and lines of places; places without a line are left out.

    Examples
    --------
    >>> origin([Place("etc/slurm.conf", 9), Place("etc/slurm.conf", 3), Place("more.conf", 1)])
    'slurm.conf:3-9, more.conf:1'
    """
    lines: dict[str, list[int]] = {}
    for place in places:
        if place is not None and place.line:
            lines.setdefault(Path(place.file).name, []).append(place.line)
    spans = {file: sorted({min(told), max(told)}) for file, told in lines.items()}
    return ", ".join(f"{file}:{'-'.join(map(str, span))}" for file, span in spans.items())


def commented(line: str, places: Iterable[Place | None]) -> str:
    """Return a line of YAML with a comment on its origin, if that is known."""
    where = origin(places)
    return f"{line}  # {where}" if where else line
