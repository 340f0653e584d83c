"""Vectorised reader of whole numbers in lines of fields between white space."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from hpcsched.system.system import IntArray

BoolArray = npt.NDArray[np.bool_]

_MOST_DIGITS = 18
"""Maximum number of digits that always fits into 64 bits."""

_MARGIN = b" " * _MOST_DIGITS
"""Padding before the first line, so that every field has enough bytes before its end."""


def number_fields(
    lines: Sequence[bytes], count: int, used: Sequence[int]
) -> tuple[IntArray, BoolArray]:
    """Return the numbers in some of the fields of each line, and which lines have them.

    Parameters
    ----------
    lines : sequence of bytes
        The lines, without their ends.
    count : int
        The number of fields that a line has.
    used : sequence of int
        The fields to read, from 0.

    Returns
    -------
    numbers : array of int, `[F, L]`
        The number in each used field of each line, where the line has numbers.
    read : array of bool, `[L]`
        Whether a line has `count` fields, and digits alone, after at most a minus, in each used
        one. A line without may still have numbers in another notation.
    """
    text = np.frombuffer(_MARGIN + b"\n".join((*lines, b"")), np.uint8)
    # The white space of bytes.split; below a tab, the difference wraps to a large number.
    is_space = (text == ord(" ")) | (text - np.uint8(ord("\t")) <= ord("\r") - ord("\t"))
    edges = np.flatnonzero(is_space[1:] != is_space[:-1]) + 1
    starts, ends = edges[::2], edges[1::2]
    past = np.searchsorted(starts, np.flatnonzero(text == ord("\n")))
    first = np.concatenate(([0], past[:-1]))
    read = past - first == count
    rows = np.flatnonzero(read)
    # int64: up to 18 digits fit, and longer numbers are left to `parse`.
    numbers = np.zeros((len(used), len(lines)), dtype=np.int64)
    for k, field in enumerate(used):
        at = first[rows] + field
        numbers[k, rows], whole = _numbers(text, starts[at], ends[at])
        read[rows] &= whole
    return numbers, read


def _numbers(
    text: npt.NDArray[np.uint8], starts: IntArray, ends: IntArray
) -> tuple[IntArray, BoolArray]:
    """Return the numbers between starts and ends in a text, and whether each is a number."""
    negative = text[starts] == ord("-")
    digits = ends - starts - negative
    whole = (digits > 0) & (digits <= _MOST_DIGITS)
    numbers = np.zeros(len(starts), dtype=np.int64)
    for place in range(min(int(digits.max(initial=0)), _MOST_DIGITS)):
        digit = text[ends - 1 - place] - np.uint8(ord("0"))  # below "0" it wraps, to above 9
        there = digits > place
        whole &= ~there | (digit <= 9)
        numbers += np.where(there, digit, np.int64(0)) * 10**place
    return np.where(negative, -numbers, numbers), whole


def distinct(columns: IntArray) -> tuple[IntArray, IntArray]:
    """Return the distinct columns of an array of numbers.

    Parameters
    ----------
    columns
        Numbers, `[A, L]`; with A = 0 all columns are equal.

    Returns
    -------
    tuple
        Index of the first occurrence of each distinct column, `[D]`, and the distinct column of
        each column, `[L]`.
    """
    which = np.zeros(columns.shape[1], dtype=np.int64)
    for numbers in columns:
        _, place = np.unique(numbers, return_inverse=True)
        which = np.unique(which * (len(numbers) + 1) + place, return_inverse=True)[1]
    _, first, place = np.unique(which, return_index=True, return_inverse=True)
    return first, place
