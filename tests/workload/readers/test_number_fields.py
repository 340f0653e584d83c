"""Numbers in lines of fields, many lines at a time, by hand."""

import numpy as np

from hpcsched.workload.readers.number_fields import distinct, number_fields


def test_numbers_in_fields() -> None:
    """Fields 0 and 2 of lines of three; white space of any kind and length separates them."""
    numbers, read = number_fields([b"1 2 -3", b"\t40  x\v500 "], 3, (0, 2))
    assert numbers.tolist() == [[1, 40], [-3, 500]]
    assert read.tolist() == [True, True]


def test_lines_that_are_left_to_others() -> None:
    """Too few fields, too many, a fraction, a sign alone, none at all, and 19 digits."""
    lines = [b"1", b"1 2 3", b"1 2.0", b"1 -", b"", b"1 1000000000000000000", b"1 2"]
    numbers, read = number_fields(lines, 2, (1,))
    assert read.tolist() == [False] * 6 + [True]
    assert numbers[0, 6] == 2


def test_the_largest_number_that_is_read() -> None:
    """Eighteen nines, above and below 0."""
    largest = 10**18 - 1
    numbers, read = number_fields([b"%d" % largest, b"%d" % -largest], 1, (0,))
    assert numbers.tolist() == [[largest, -largest]]
    assert read.all()


def test_a_field_that_is_not_used_may_be_anything() -> None:
    """Only used fields are looked at."""
    numbers, read = number_fields([b"word 7"], 2, (1,))
    assert (numbers.tolist(), read.tolist()) == ([[7]], [True])


def test_distinct_columns() -> None:
    """Of (1, 5), (1, 6), (1, 5), (2, 5) there are three, first seen in columns 0, 1 and 3."""
    columns = np.array([[1, 1, 1, 2], [5, 6, 5, 5]])
    first, which = distinct(columns)
    assert sorted(first.tolist()) == [0, 1, 3]
    assert columns[:, first[which]].tolist() == columns.tolist()
    assert which[0] == which[2]


def test_without_rows_all_columns_are_equal() -> None:
    """There is one of them."""
    first, which = distinct(np.empty((0, 3), dtype=np.int64))
    assert (first.tolist(), which.tolist()) == ([0], [0, 0, 0])
