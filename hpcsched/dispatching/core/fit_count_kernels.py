"""Compiled counts of the units that fit on nodes, kept up to date for the shapes that wait."""

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
    """Return how many units of a shape fit on a node of which `available`, `[R, N]`, is free."""
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
            if fits > 1:
                fits = min(fits, free // asked[shape, r])
    return fits


@compiled()
def held_on_node(
    node: int,
    units: int,
    r: int,
    shape: int,
    asked: IntArray,
    exclusive: BoolArray,
    capacity: IntArray,
) -> int:
    """Return how much of a resource type so many units of a shape hold of a node."""
    if exclusive[shape]:
        return capacity[node, r]
    return units * asked[shape, r]


@compiled()
def change_node(node: int, units: int, shape: int, sign: int, state: State) -> None:
    """Take so many units of a shape off a node (sign 1) or put them back (-1); count anew there."""
    available, capacity, free = state.available, state.capacity, state.free_amounts
    asked, on_idle, exclusive = state.asked, state.on_idle, state.exclusive
    for r in range(len(available)):
        held = sign * held_on_node(node, units, r, shape, asked, exclusive, capacity)
        available[r, node] -= held
        free[r] -= held
    active, fits, fitting = state.active, state.fits, state.fitting
    for k in range(state.counters[ACTIVE_SHAPES]):
        other = active[k]
        now = units_on_node(node, other, available, asked, on_idle, exclusive, capacity)
        fitting[other] += now - fits[other, node]
        fits[other, node] = now


@compiled()
def take_from(
    node: int, units: int, shape: int, sign: int, available: IntArray, state: State
) -> None:
    """Take so many units of a shape off what is free on a node, or with the sign -1 put them back.

    `available`, `[R, N]`, is of some other time than now.
    """
    asked, exclusive, capacity = state.asked, state.exclusive, state.capacity
    for r in range(len(available)):
        held = held_on_node(node, units, r, shape, asked, exclusive, capacity)
        available[r, node] -= sign * held


@compiled()
def room_on(node: int, shape: int, available: IntArray, state: State) -> int:
    """Return how many units of a shape fit on a node of which `available`, `[R, N]`, is free."""
    return units_on_node(
        node, shape, available, state.asked, state.on_idle, state.exclusive, state.capacity
    )


@compiled()
def add_waiting(shape: int, state: State) -> None:
    """Take note that one more job of a shape waits; Python counts what fits by itself."""
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
    """Count how many units fit on the nodes of each shape that waits."""
    for k in range(state.counters[QUEUED]):
        add_waiting(state.jobs[state.queue[k], SHAPE], state)


@compiled()
def remove_waiting(shape: int, state: State) -> None:
    """Take note that one job of a shape does not wait any more."""
    if state.rule == IN_PYTHON:
        return
    counters, active = state.counters, state.active
    state.shape_waiting[shape] -= 1
    if state.shape_waiting[shape] == 0:
        last = counters[ACTIVE_SHAPES] - 1
        for k in range(last):
            if active[k] == shape:
                active[k] = active[last]
                break
        counters[ACTIVE_SHAPES] = last
