"""Requests in accounting logs of PBS Professional (`select`) and TORQUE (`nodes`).

Source: the reference guide of PBS Professional (Altair), chapter on resources, and the
administrator's guide of TORQUE (Adaptive Computing), on requesting resources.
"""

import re
from fractions import Fraction
from typing import NamedTuple

from hpcsched.parameters import LARGEST
from hpcsched.whole_numbers import is_count, parse_count
from hpcsched.workload.readers.quantities import exact_seconds

_SIZE = re.compile(r"([0-9]{1,15})([kmgtp]?)([bw]?)", re.IGNORECASE)
_POWERS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40, "p": 2**50}
_WORD = 8
_TIME = re.compile(r"[0-9]{1,10}(:[0-9]{1,4}){0,3}(\.[0-9]{1,9})?")
_TIME_PARTS = 1, 60, 3600, 86_400
"""Seconds of each part of a time, from the last."""
SIZES = frozenset({"mem"})
"""Resources of chunks that are amounts of memory."""


class Chunk(NamedTuple):
    """Identical parts of a job.

    Attributes
    ----------
    number
        Number of parts.
    amounts
        Amounts of each part, by the names of PBS.
    """

    number: int
    amounts: dict[str, int]


def parse_select(text: str, resources: frozenset[str]) -> list[Chunk]:
    """Return the chunks of a request such as `2:ncpus=8:mem=16gb:ngpus=1+1:ncpus=4`.

    A chunk without `ncpus` requests 1 core.

    Parameters
    ----------
    text
        The request.
    resources
        Resources to read; other entries, such as `mpiprocs` or `host`, are ignored.

    Raises
    ------
    ValueError
        If the text is no request.
    """
    return [_chunk(part, resources, cores="ncpus", names=False) for part in text.split("+")]


def parse_nodes(text: str, resources: frozenset[str]) -> list[Chunk]:
    """Return the chunks of a request such as `2:ppn=8:gpus=1+node07`.

    `ppn` becomes `ncpus`, and `gpus` and `mics` become `ngpus` and `nmics`. Properties of nodes,
    and names in place of their number, are ignored.

    Parameters
    ----------
    text
        The request.
    resources
        Resources to read, by the names of PBS Professional.

    Raises
    ------
    ValueError
        If the text is no request.
    """
    # What follows '#' is about the whole request, such as '#excl'.
    body = text.partition("#")[0]
    return [_chunk(part, resources, cores="ppn", names=True) for part in body.split("+")]


_TORQUE = {"ppn": "ncpus", "gpus": "ngpus", "mics": "nmics"}


def _chunk(text: str, resources: frozenset[str], *, cores: str, names: bool) -> Chunk:
    first, *words = text.split(":")
    count = 1
    if is_count(first):
        count = int(first)
    elif "=" in first or (names and first):
        words = [first, *words]
    else:
        raise ValueError(f"expected chunks such as 2:{cores}=8, found {text!r}")
    if count < 1:
        raise ValueError(f"expected chunks from 1 on, found {text!r}")
    amounts = {"ncpus": 1}
    for word in words:
        key, equals, value = word.partition("=")
        name = _TORQUE.get(key, key) if names else key
        if not equals:
            if not names:
                raise ValueError(f"expected resources such as {cores}=8, found {word!r}")
            continue
        if name == "ncpus" or name in resources:
            amounts[name] = parse_size(value) if name in SIZES else parse_count(value, key)
    return Chunk(count, amounts)


def parse_size(text: str) -> int:
    """Return a size such as `16gb`, `4000kb` or `512` (bytes) in bytes; `w` is for words.

    Raises
    ------
    ValueError
        If the text is not a size, or the size is over 2⁵³ bytes.

    Examples
    --------
    >>> parse_size("16gb"), parse_size("1kw")
    (17179869184, 8192)
    """
    match = _SIZE.fullmatch(text)
    if match is None:
        raise ValueError(f"expected an amount of memory such as 16gb, found {text!r}")
    size = int(match[1]) * _POWERS[match[2].lower()] * (_WORD if match[3].lower() == "w" else 1)
    if size > LARGEST:
        raise ValueError(f"expected at most {LARGEST} bytes, found {text!r}")
    return size


def parse_time(text: str) -> int | Fraction:
    """Return a time such as `12:00:00`, `1:00:00:00` (a day), `3600` or `0.5` in seconds.

    Raises
    ------
    ValueError
        If the text is not a time.
    """
    if not _TIME.fullmatch(text):
        raise ValueError(f"expected a time such as 12:00:00, found {text!r}")
    whole, _, rest = text.partition(".")
    parts = zip(reversed(whole.split(":")), _TIME_PARTS, strict=False)
    return sum(int(part) * of for part, of in parts) + exact_seconds(
        int(rest or 0), 10 ** len(rest)
    )
