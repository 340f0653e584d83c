"""Division of a job's request into equal units, by hand."""

from hpcsched.workload.readers.quantities import (
    EqualUnits,
    on_nodes,
    smallest,
)


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
