"""Names of many nodes in one text, as workload managers write them: `c[1-3,08-10],g1`."""

import re
from itertools import product

_BRACKETS = re.compile(r"([^\[\]]*)\[([^\[\]]*)\]")
_RANGE = re.compile(r"(\d+)(?:-(\d+))?")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_MOST = 1_000_000


def expand_names(text: str) -> tuple[str, ...]:
    """Return the names that a text stands for, in its order.

    Numbers in a range keep the leading zeros of its first. Raises ValueError where the text is not
    of this form, or stands for more than a million names.
    """
    names: list[str] = []
    for part in _split(text):
        pieces: list[list[str]] = []
        at = 0
        for match in _BRACKETS.finditer(part):
            if match.start() != at:
                raise ValueError(f"expected names such as c[1-3], found {part!r}")
            pieces += [[match[1]], _numbers(match[2], part)]
            at = match.end()
        pieces.append([part[at:]])
        for chosen in product(*pieces):
            name = "".join(chosen)
            if not _NAME.fullmatch(name):
                raise ValueError(f"expected names such as c[1-3], found {part!r}")
            names.append(name)
            if len(names) > _MOST:
                raise ValueError("expected at most a million names")
    return tuple(names)


def _split(text: str) -> list[str]:
    """Return the parts between the commas that are in no brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "[") - (letter == "]")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def _numbers(ranges: str, part: str) -> list[str]:
    found: list[str] = []
    for piece in ranges.split(","):
        match = _RANGE.fullmatch(piece.strip())
        if match is None:
            raise ValueError(f"expected numbers and ranges in brackets, found {part!r}")
        first, last = match[1], match[2] or match[1]
        if int(last) < int(first) or int(last) - int(first) >= _MOST:
            raise ValueError(f"expected a range that ascends, found {piece.strip()!r}")
        found += [str(n).zfill(len(first)) for n in range(int(first), int(last) + 1)]
    return found
