"""Lists of host names as Slurm writes them: `c[1-3,5],g[01-02]`.

Source: the manual page `slurm.conf` of SchedMD, on node names.
"""

import re
from collections.abc import Iterator
from itertools import product

MOST_NAMES = 1_000_000
"""Largest number of names; a longer list is a mistake, and would fill the memory."""

_NOTHING = frozenset({"(null)", "n/a", "none assigned"})
_PARTS = re.compile(r"\[([^\[\]]*)\]")
_RANGE = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def expand(text: str) -> tuple[str, ...]:
    """Return the names in a list, in its order; numbers keep their leading zeros.

    Blanks around names and numbers and empty parts (`c1, c2,`) are ignored, as by Slurm; `(null)`,
    `N/A` and `None assigned` are no hosts.

    Examples
    --------
    >>> expand("c[08-10,12], g1")
    ('c08', 'c09', 'c10', 'c12', 'g1')
    """
    names: list[str] = []
    if text.strip().lower() in _NOTHING:
        return ()
    for item in _items(text):
        names += _expand_item(item, MOST_NAMES - len(names))
    return tuple(names)


def _items(text: str) -> Iterator[str]:
    """Yield the non-empty parts between commas outside brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "[") - (letter == "]")
        if depth not in {0, 1}:
            raise ValueError(f"expected hosts such as c[1-3,5], found {text!r}")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    if depth:
        raise ValueError(f"expected ']' in the list of hosts {text!r}")
    yield from filter(None, map(str.strip, parts))


def _expand_item(item: str, most: int) -> Iterator[str]:
    # `re.split` with a group alternates: text outside brackets, text inside, text outside, ...
    texts = _PARTS.split(item)  # by turns what is outside and inside of brackets
    choices = [_numbers(text, most) for text in texts[1::2]]
    total = 1
    for choice in choices:
        total *= len(choice)
    # Checked before the product is built: c[1-999][1-999][1-999] would fill the memory.
    if total > most:
        raise ValueError(f"expected at most {MOST_NAMES} hosts, found more in {item!r}")
    for chosen in product(*choices):
        name = "".join(a + b for a, b in zip(texts[::2], (*chosen, ""), strict=True))
        if not _NAME.fullmatch(name):
            raise ValueError(f"expected hosts such as c1 or c[1-3], found {item!r}")
        yield name


def _numbers(text: str, most: int) -> list[str]:
    """Return the numbers in brackets, with their leading zeros."""
    found: list[str] = []
    for part in filter(None, map(str.strip, text.split(","))):
        match = _RANGE.fullmatch(part)
        if match is None:
            raise ValueError(f"expected numbers such as 1-3,5 in brackets, found {text!r}")
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first or last - first >= most:
            raise ValueError(f"expected a range such as 1-3, found {part!r}")
        # The first number fixes the width of all: c[08-10] is c08, c09, c10.
        width = len(match[1])
        found += [f"{number:0{width}}" for number in range(first, last + 1)]
    if not found:
        raise ValueError(f"expected numbers such as 1-3,5 in brackets, found {text!r}")
    return found
