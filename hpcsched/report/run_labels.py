"""Labels of runs: their names without the beginning and the end that all of them share.

Runs of one study are often called alike, such as `kth-easy` and `kth-list-sjf`. Tables, figures and
pages show `easy` and `list-sjf`; data exports keep the names.
"""

import re
from collections.abc import Iterable, Sequence
from typing import TypeAlias

_Parts: TypeAlias = tuple[str, ...]

_AXES = ", "
"""Separator of the labels of an experiment's cell, which are left whole."""
_CUTS = re.compile(r"(?<=[-_/])")
"""Places within a word at which a name may be cut: after a separator, which ends a part."""
_LETTER = re.compile(r"[^\W\d_]")


def short_labels(names: Iterable[str]) -> dict[str, str]:
    """Return a label for each name: the name without what all names share at its ends.

    Names are cut at `-`, `_`, `/` and before brackets, those of experiments between axes. Each
    label has a letter, and different names have different labels.

    Examples
    --------
    >>> short_labels(["kth-easy", "kth-list-sjf"])
    {'kth-easy': 'easy', 'kth-list-sjf': 'list-sjf'}
    >>> short_labels(["easy (seed 0)", "easy (seed 1)"])
    {'easy (seed 0)': 'seed 0', 'easy (seed 1)': 'seed 1'}
    """
    whole = list(dict.fromkeys(names))
    by_axes = all(_AXES in name for name in whole)
    labels = _cut(whole, by_axes=by_axes)
    # What stands in brackets may itself have a shared beginning, such as a folder.
    while not by_axes and (shorter := _cut(labels, by_axes=False)) != labels:
        labels = shorter
    return dict(zip(whole, labels, strict=True))


def _cut(names: Sequence[str], *, by_axes: bool) -> list[str]:
    """Return names without their common parts at either end, or as they are."""
    if len(names) < 2:
        return list(names)
    parts = [_parts_of(name, by_axes=by_axes) for name in names]
    if not _are_labels(parts):
        return list(names)
    begin = _shared(parts)
    while begin and not _are_labels([own[begin:] for own in parts]):
        begin -= 1
    rest = [own[begin:] for own in parts]
    end = _shared([own[::-1] for own in rest])
    while end and not _are_labels([own[: len(own) - end] for own in rest]):
        end -= 1
    return [_label(own[: len(own) - end]) for own in rest]


def _parts_of(name: str, *, by_axes: bool) -> _Parts:
    """Return the parts of a name with their separators; a bracket is one part."""
    if by_axes:
        return tuple(re.split(f"(?<={_AXES})", name))
    found: list[str] = []
    for piece in _bracketed(name):
        found += [piece] if piece.startswith("(") else [part for part in _CUTS.split(piece) if part]
    return tuple(found)


def _bracketed(name: str) -> list[str]:
    """Return a name in pieces: each that begins with a bracket ends where that is closed."""
    pieces, depth = [""], 0
    for sign in name:
        if sign == "(" and depth == 0:
            pieces.append("")
        depth += (sign == "(") - (sign == ")")
        pieces[-1] += sign
        if sign == ")" and depth == 0:
            pieces.append("")
    return [piece for piece in pieces if piece]


def _shared(parts: Sequence[_Parts]) -> int:
    """Return the number of first parts that all names share."""
    count = 0
    for same in zip(*parts, strict=False):
        if len({part.strip(" ,-_/") for part in same}) > 1:
            break
        count += 1
    return count


def _are_labels(parts: Sequence[_Parts]) -> bool:
    """Return whether parts are labels: each has a letter, and no two are the same."""
    labels = [_label(own) for own in parts]
    return len(set(labels)) == len(labels) and all(_LETTER.search(one) for one in labels)


def _label(parts: _Parts) -> str:
    """Return parts as text, without separators at the ends and brackets around it."""
    text = "".join(parts).strip().rstrip(",-_/ ")
    if len(_bracketed(text)) == 1 and text.startswith("(") and text.endswith(")"):
        text = text[1:-1]
    return text
