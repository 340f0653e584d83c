"""Division of a job's request into equal units, by hand."""

import pytest

from hpcsched.workload.readers.equal_units import (
    EqualUnits,
    largest_on_a_node,
    on_nodes,
    smallest,
)
from tests.builders import alike


def test_one_unit_for_each_node() -> None:
    """8 cores on 2 nodes are 4 each; 9 bytes are 5 each, which is no uneven division."""
    units = on_nodes({"core": 8, "mem": 9}, 2)
    assert units == EqualUnits(2, {"core": 4, "mem": 5}, uneven=False, per_node=True)


def test_cores_that_nodes_cannot_share_equally() -> None:
    """9 cores on 2 nodes are rounded up to 5 each, and told as uneven."""
    units = on_nodes({"core": 9}, 2)
    assert (units.amounts, units.uneven) == ({"core": 5}, True)


def test_smallest_units() -> None:
    """8 cores and 2 GPUs have the divisor 2; each half has 4 cores, 1 GPU and 50.5, so 51 bytes."""
    units = smallest({"core": 8, "gpu": 2, "mem": 101})
    assert units == EqualUnits(2, {"core": 4, "gpu": 1, "mem": 51})


def test_memory_alone_cannot_be_divided() -> None:
    """Memory has no smallest part that means anything."""
    with pytest.raises(ValueError, match="expected amounts of more than memory"):
        smallest({"mem": 100})


def test_largest_units_on_a_node() -> None:
    """Of 12 cores on nodes of 4, units of 12 and 6 do not fit and those of 4 do: 3 units."""
    assert largest_on_a_node({"core": 12}, alike(5, core=4)) == EqualUnits(3, {"core": 4})


def test_units_that_fit_nowhere_are_the_smallest() -> None:
    """2 cores with 60 bytes each are too much for a node of 50 bytes, whole or as halves."""
    units = largest_on_a_node({"core": 2, "mem": 120}, alike(5, core=4, mem=50))
    assert units == EqualUnits(2, {"core": 1, "mem": 60})
