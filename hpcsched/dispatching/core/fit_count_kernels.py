"""Compiled fit counts: units that fit on nodes, kept up to date for the waiting shapes."""

from hpcsched.dispatching.core.codes import ACTIVE_SHAPES, IN_PYTHON, QUEUED, SHAPE
from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.core.compiled_state import State
from hpcsched.dispatching.core.state import BoolArray
from hpcsched.system.system import IntArray


@compiled()
def units_on_node(
    node: int,
    shape: int,
    available: IntArray,
    asked: IntArray,
    on_idle: IntArray,
    exclusive: BoolArray,
    capacity: IntArray,
) -> int:
    """Return the number of units of a shape that fit on a node.

    Parameters
    ----------
    node
        Node.
    shape
        Shape.
    available
        Free amounts, `[R, N]`.
    asked
        Requested amounts per unit, `[S, R]`.
    on_idle
        Units that fit on each idle node, `[S, N]`.
    exclusive
        Whether units of each shape go on idle nodes only, `[S]`.
    capacity
        Capacity of each node, `[N, R]`.

    Returns
    -------
    int
        Number of units.
    """
    fits = on_idle[shape, node]
    if fits == 0:
        return 0
    for r in range(len(available)):
        free = available[r, node]
        if exclusive[shape]:
            if free != capacity[node, r]:
                return 0
        elif asked[shape, r]:
            if free < asked[shape, r]:
                return 0
            # Where at most one unit fits, the check above is enough, and the division is saved.
            if fits > 1:
                fits = min(fits, free // asked[shape, r])
    return fits


@compiled()
def allocated_on_node(
    node: int,
    units: int,
    r: int,
    shape: int,
    asked: IntArray,
    exclusive: BoolArray,
    capacity: IntArray,
) -> int:
    """Return the amount of a resource type allocated to units of a shape on a node.

    Parameters
    ----------
    node
        Node.
    units
        Number of units there.
    r
        Resource type.
    shape
        Shape.
    asked
        Requested amounts per unit, `[S, R]`.
    exclusive
        Whether units of each shape occupy whole nodes, `[S]`.
    capacity
        Capacity of each node, `[N, R]`.

    Returns
    -------
    int
        Amount.
    """
    if exclusive[shape]:
        return capacity[node, r]
    return units * asked[shape, r]


@compiled()
def change_node(node: int, units: int, shape: int, sign: int, state: State) -> None:
    """Allocate units of a shape on a node, or release them, and update the node's fit counts.

    Parameters
    ----------
    node
        Node.
    units
        Number of units.
    shape
        Shape.
    sign
        1 to allocate, -1 to release.
    """
    available, capacity, free = state.available, state.capacity, state.free_amounts
    asked, on_idle, exclusive = state.asked, state.on_idle, state.exclusive
    for r in range(len(available)):
        allocated = sign * allocated_on_node(node, units, r, shape, asked, exclusive, capacity)
        available[r, node] -= allocated
        free[r] -= allocated
    active, fits, fitting = state.active, state.fits, state.fitting
    # Only shapes that wait are counted; others are when their first job arrives.
    for k in range(state.counters[ACTIVE_SHAPES]):
        other = active[k]
        now = units_on_node(node, other, available, asked, on_idle, exclusive, capacity)
        fitting[other] += now - fits[other, node]
        fits[other, node] = now


@compiled()
def take_from(
    node: int, units: int, shape: int, sign: int, available: IntArray, state: State
) -> None:
    """Subtract units of a shape from the free amounts of a node at some other time.

    Parameters
    ----------
    node
        Node.
    units
        Number of units.
    shape
        Shape.
    sign
        1 to subtract, -1 to add.
    available
        Free amounts at that time, `[R, N]`; updated.
    """
    asked, exclusive, capacity = state.asked, state.exclusive, state.capacity
    for r in range(len(available)):
        allocated = allocated_on_node(node, units, r, shape, asked, exclusive, capacity)
        available[r, node] -= sign * allocated


@compiled()
def room_on(node: int, shape: int, available: IntArray, state: State) -> int:
    """Return the number of units of a shape that fit on a node, given free amounts `[R, N]`."""
    return units_on_node(
        node, shape, available, state.asked, state.on_idle, state.exclusive, state.capacity
    )


@compiled()
def add_waiting(shape: int, state: State) -> None:
    """Count one more waiting job of a shape; the first makes the shape active.

    With decisions by Python, nothing is counted here.
    """
    if state.rule == IN_PYTHON:
        return
    counters, fits = state.counters, state.fits
    state.shape_waiting[shape] += 1
    if state.shape_waiting[shape] == 1:
        state.active[counters[ACTIVE_SHAPES]] = shape
        counters[ACTIVE_SHAPES] += 1
        total = 0
        for node in range(fits.shape[1]):
            fits[shape, node] = room_on(node, shape, state.available, state)
            total += fits[shape, node]
        state.fitting[shape] = total


@compiled()
def count_fits(state: State) -> None:
    """Compute the fit counts of all waiting shapes."""
    for k in range(state.counters[QUEUED]):
        add_waiting(state.jobs[state.queue[k], SHAPE], state)


@compiled()
def remove_waiting(shape: int, state: State) -> None:
    """Count one waiting job of a shape less; the last makes the shape inactive."""
    if state.rule == IN_PYTHON:
        return
    counters, active = state.counters, state.active
    state.shape_waiting[shape] -= 1
    if state.shape_waiting[shape] == 0:
        last = counters[ACTIVE_SHAPES] - 1
        for k in range(last):
            if active[k] == shape:
                # The order of active shapes does not matter, so the last takes the place.
                active[k] = active[last]
                break
        counters[ACTIVE_SHAPES] = last
