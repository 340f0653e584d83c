"""Requests as PBS Professional (`select`) and TORQUE (`nodes`) write them into accounting logs.

Source: the reference guide of PBS Professional (Altair), chapter on resources, and the
administrator's guide of TORQUE (Adaptive Computing), on requesting resources.
"""

import re
from typing import NamedTuple

from hpcsched.parameters import LARGEST

_COUNT = re.compile(r"[0-9]{1,9}")
_SIZE = re.compile(r"([0-9]{1,15})([kmgtp]?)([bw]?)", re.IGNORECASE)
_POWERS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40, "p": 2**50}
_WORD = 8
_TIME = re.compile(r"[0-9]{1,10}(:[0-9]{1,4}){0,3}(\.[0-9]+)?")
_TIME_PARTS = 1, 60, 3600, 86_400
"""Seconds of each part of a time, from the last."""
SIZES = frozenset({"mem"})
"""The resources of chunks that are amounts of memory."""


class Chunk(NamedTuple):
    """So many of a part of a job, each with amounts of resources, by the names that PBS has."""

    number: int
    amounts: dict[str, int]


def parse_select(text: str, resources: frozenset[str]) -> list[Chunk]:
    """Return the chunks of a request such as `2:ncpus=8:mem=16gb:ngpus=1+1:ncpus=4`.

    Of `resources`, those that a chunk asks for; what else it says, such as `mpiprocs` or `host`,
    is left out. A chunk without `ncpus` asks for 1. Raises ValueError for a text that is no
    request.
    """
    return [_chunk(part, resources, cores="ncpus", names=False) for part in text.split("+")]


def parse_nodes(text: str, resources: frozenset[str]) -> list[Chunk]:
    """Return the chunks of a request such as `2:ppn=8:gpus=1+node07`.

    `ppn` becomes `ncpus`, and `gpus` and `mics` become `ngpus` and `nmics`. Properties of nodes,
    and names in the place of their number, are left out. Raises ValueError for a text that is no
    request.
    """
    # What follows '#' is about the whole request, such as '#excl'.
    body = text.partition("#")[0]
    return [_chunk(part, resources, cores="ppn", names=True) for part in body.split("+")]


_TORQUE = {"ppn": "ncpus", "gpus": "ngpus", "mics": "nmics"}


def _chunk(text: str, resources: frozenset[str], *, cores: str, names: bool) -> Chunk:
    first, *words = text.split(":")
    count = 1
    if _COUNT.fullmatch(first):
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
            amounts[name] = parse_size(value) if name in SIZES else parse_whole(value, key)
    return Chunk(count, amounts)


def parse_whole(text: str, what: str) -> int:
    """Return a whole number from 0 on; raises ValueError, which says of what, otherwise."""
    if not _COUNT.fullmatch(text):
        raise ValueError(f"expected a number of {what}, found {text!r}")
    return int(text)


def parse_size(text: str) -> int:
    """Return the bytes of a size such as `16gb`, `4000kb` or `512` (bytes); `w` is for words.

    Units are powers of 1024. Raises ValueError for any other text, and for more than 2⁵³.
    """
    match = _SIZE.fullmatch(text)
    if match is None:
        raise ValueError(f"expected an amount of memory such as 16gb, found {text!r}")
    size = int(match[1]) * _POWERS[match[2].lower()] * (_WORD if match[3].lower() == "w" else 1)
    if size > LARGEST:
        raise ValueError(f"expected at most {LARGEST} bytes, found {text!r}")
    return size


def parse_time(text: str) -> int:
    """Return the seconds of a time such as `12:00:00`, `1:00:00:00` (a day) or `3600`.

    Fractions of a second are cut off. Raises ValueError for any other text.
    """
    if not _TIME.fullmatch(text):
        raise ValueError(f"expected a time such as 12:00:00, found {text!r}")
    parts = text.partition(".")[0].split(":")
    return sum(int(part) * of for part, of in zip(reversed(parts), _TIME_PARTS, strict=False))
