"""Names of hosts as a short list, as Slurm writes it: `c[1-3,5],g1`; see `expand`."""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby

_LAST_NUMBER = re.compile(r"(.*?)([0-9]{1,9})")


def fold(names: Iterable[str]) -> str:
    """Return names as a short list, with ranges of consecutive numbers.

    Only numbers at the end of names are ranges: Slurm reads no text behind the last bracket.

    Examples
    --------
    >>> fold(["c1", "c2", "c3", "g1"])
    'c[1-3],g1'
    """
    found: list[str] = []
    split = [(name, _LAST_NUMBER.fullmatch(name)) for name in names]
    for key, members in groupby(split, key=lambda pair: _before(pair[1])):
        if key is None:
            found += [name for name, _ in members]
            continue
        numbers = [match[2] for _, match in members if match is not None]
        folded = ",".join(_ranges(numbers))
        found.append(f"{key}{numbers[0]}" if len(numbers) == 1 else f"{key}[{folded}]")
    return ",".join(found)


def _before(match: re.Match[str] | None) -> str | None:
    """Return the text before the number at the end of a name; None without a number there."""
    return None if match is None else match[1]


def _follows(before: str, number: str) -> bool:
    """Return whether a number is the successor, with the leading zeros of a range."""
    as_wide = len(number) == len(before) or not (before.startswith("0") or number.startswith("0"))
    return int(number) == int(before) + 1 and as_wide


def _ranges(numbers: list[str]) -> Iterator[str]:
    begin = 0
    for n in range(1, len(numbers) + 1):
        if n < len(numbers) and _follows(numbers[n - 1], numbers[n]):
            continue
        last = n - 1
        yield numbers[begin] if begin == last else f"{numbers[begin]}-{numbers[last]}"
        begin = n
