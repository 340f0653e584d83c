"""Numbers of shapes."""

from hpcsched.dispatching.core.shape_table import ShapeTable
from hpcsched.system.request import Request
from tests.builders import one_type


def test_equal_shapes_have_one_number() -> None:
    """The number of units is no part of a shape; the amounts per unit are."""
    table = ShapeTable(one_type(4, 6))
    numbers = [table.number(Request(units, (cores,))) for units, cores in ((1, 2), (9, 2), (1, 3))]
    assert numbers == [0, 0, 1]


def test_arrays_are_replaced_for_new_shapes_only() -> None:
    """Shapes of 2 and 3 cores become rows once; the bound on units is 4 / 2 + 6 / 2 + 2."""
    table = ShapeTable(one_type(4, 6))
    table.number(Request(1, (2,)))
    table.number(Request(1, (3,)))
    assert table.write()
    assert table.shapes.asked.tolist() == [[2], [3]]
    assert table.most_units() == 7
    table.number(Request(5, (3,)))
    assert not table.write()


def test_the_cache_is_cleared_when_it_is_much_too_large() -> None:
    """With no jobs 1,024 shapes may stay; with one more, numbers begin at 0 again."""
    table = ShapeTable(one_type(2000))
    requests = [Request(1, (cores,)) for cores in range(1, 1026)]
    for request in requests[:1024]:
        table.number(request)
    table.make_room(0)
    assert table.number(requests[1024]) == 1024
    table.make_room(1)
    assert table.number(requests[1024]) == 1024
    table.make_room(0)
    assert table.number(requests[1024]) == 0
