"""Numbers in lines of fields, read by the core, by hand."""

import numpy as np

from hpcsched._core import scan_lines

LARGEST = 2**53


def scan(text: bytes, count: int, used: tuple[int, ...]) -> tuple[list[list[int]], list[bool]]:
    """Return the numbers of the lines, and which are plain."""
    numbers, plain, *_ = scan_lines(text, count, count, np.array(used, dtype=np.int64), LARGEST)
    return numbers.tolist(), [bool(one) for one in plain]


def test_numbers_in_fields() -> None:
    """Fields 0 and 2 of lines of three; white space of any kind and length separates them."""
    assert scan(b"1 2 -3\n\t40  x\v500 ", 3, (0, 2)) == ([[1, 40], [-1, 500]], [True, True])


def test_lines_that_are_left_to_others() -> None:
    """Too few fields, too many, a fraction, a sign alone, 19 digits, `_`, and other letters."""
    text = b"1\n1 2 3\n1 2.0\n1 -\n1 1000000000000000000\n1_0 2\n\xff 2\n1 2\n"
    numbers, plain = scan(text, 2, (1,))
    assert plain == [False] * 7 + [True]
    assert numbers == [[-1] * 7 + [2]]


def test_the_largest_number_that_is_read() -> None:
    """2⁵³ is, one more is not; any number below 0 is one that is not given."""
    text = b"%d\n%d\n-%d\n" % (LARGEST, LARGEST + 1, 10**18 - 1)
    assert scan(text, 1, (0,)) == ([[LARGEST, -1, -1]], [True, False, True])


def test_a_field_that_is_not_used_may_be_anything() -> None:
    """Only used fields are looked at."""
    assert scan(b"word 7", 2, (1,)) == ([[7]], [True])


def test_separators_of_digits() -> None:
    """`_` in a number is not plain, also where it is not used; a name may have it."""
    used = np.array([0], dtype=np.int64)
    _, plain, *_ = scan_lines(b"1 2_0 a\n1 2 a_b\n", 3, 2, used, LARGEST)
    assert plain.tolist() == [0, 1]


def test_lines_that_are_left_out() -> None:
    """Blank lines and comments have a number, and no place among the lines."""
    text = b"; a\n1\n \t\n;\n22\n\n"
    _, _, begins, ends, line = scan_lines(text, 1, 1, np.array([0]), LARGEST)
    assert [text[a:b] for a, b in zip(begins, ends, strict=True)] == [b"1", b"22"]
    assert line.tolist() == [1, 4]
