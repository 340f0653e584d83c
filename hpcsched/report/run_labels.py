"""Labels of runs: their names without the beginning and the end that all of them share.

Runs of one study are often called alike, such as `kth-easy` and `kth-list-sjf`. Tables, figures and
pages show `easy` and `list-sjf`; data exports keep the names.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import TypeAlias

_Parts: TypeAlias = tuple[str, ...]

_AXES = ", "
"""Separator of the labels of an experiment's cell, which are left whole."""
_LETTER = re.compile(r"[^\W\d_]")
_IN_BRACKETS = re.compile(r"\((?:[^()]|\([^()]*\))*\)")


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
    cuts = f"(?<={_AXES})" if all(_AXES in name for name in whole) else r"(?<=[-_/])|(?= \()"
    parts = [tuple(re.split(cuts, name)) for name in whole]
    if len(whole) < 2 or not _are_labels(parts):
        return {name: name for name in whole}
    for step in (1, -1):
        shared = len(list(takewhile(_alike, zip(*(own[::step] for own in parts), strict=False))))
        while shared:
            rest = [own[shared:] if step == 1 else own[:-shared] for own in parts]
            if _are_labels(rest):
                parts = rest
                break
            shared -= 1
    return dict(zip(whole, map(_label, parts), strict=True))


def _alike(parts: Sequence[str]) -> bool:
    return len({part.strip(" ,-_/") for part in parts}) == 1


def _are_labels(parts: Sequence[_Parts]) -> bool:
    """Return whether parts are labels: each has a letter, and no two are the same."""
    labels = [_label(own) for own in parts]
    whole = all(_LETTER.search(one) and one.count("(") == one.count(")") for one in labels)
    return whole and len(set(labels)) == len(labels)


def _label(parts: _Parts) -> str:
    """Return parts as text, without separators at the ends and brackets around it."""
    text = "".join(parts).strip(" ").rstrip(",-_/ ")
    # What stood before may have held the bracket that ends here.
    text = text[: len(text) - (text.count(")") > text.count("("))]
    return text[1:-1] if _IN_BRACKETS.fullmatch(text) else text
