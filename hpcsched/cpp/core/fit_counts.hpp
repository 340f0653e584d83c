#pragma once

#include "core/state.hpp"

namespace hpcsched {

/// Units that fit on nodes: by runs of equal nodes, and their sums, which are kept up to date for
/// the shapes of waiting jobs.

/// Return the number of units of a shape that fit on a node with free amounts, `[R + D]`.
inline int64_t units_on_node(const State& state, int64_t node, int64_t shape,
                             View<const int64_t> free)
{
    return state.shapes.request(shape).units_that_fit(state.capacity(), node, free);
}

/// Return the number of units of a shape that fit on each node of a run.
inline int64_t units_on_run(const State& state, const NodeRuns& runs, int64_t run, int64_t shape)
{
    return units_on_node(state, runs.first(run), shape, runs.free(run));
}

/// Return the number of units of a shape that fit on each node of each run.
Numbers units_on_runs(const State& state, const NodeRuns& runs, int64_t shape);

/// Return the amount of a resource type, or of a part of a device, that units of a shape hold on a
/// node.
inline int64_t allocated_on_node(const State& state, int64_t node, Held units, int64_t type,
                                 int64_t shape)
{
    return state.shapes.request(shape).held(state.capacity(), node, units, type);
}

/// Call a function for each span of a list of cells.
template <class Function>
void for_each_span(const State& state, int64_t cell, Function function)
{
    while (cell != none) {
        Span span{state.cells[cell].node, state.cells[cell].node, state.cells[cell].units,
                  state.cells[cell].devices};
        for (; cell != none && state.cells[cell].node == span.end &&
               state.cells[cell].units == span.units && state.cells[cell].devices == span.devices;
             cell = state.cells[cell].next)
            ++span.end;
        function(span);
    }
}

/// Return the runs of nodes by what is free now, computed if they are out of date. To be called
/// before a job is taken out of the running ones.
NodeRuns& runs_of(State& state);

/// Tell nodes apart by the room that they have for a shape when they are idle.
void distinguish(State& state, int64_t shape);

/// Allocate units of a shape in a list of cells (sign 1), or release them (-1).
void change_places(State& state, int64_t cell, int64_t shape, int64_t sign);

/// Take units of a shape on each node of a run from its free amounts (sign 1), or add them (-1).
void take_from_run(const State& state, NodeRuns& runs, int64_t run, Held units, int64_t shape,
                   int64_t sign);

/// Count a waiting job of a shape; the first makes the shape active.
void add_waiting(State& state, int64_t shape);

/// Count a waiting job of a shape less; the last makes the shape inactive.
void remove_waiting(State& state, int64_t shape);

/// Compute runs of nodes and the fit counts of waiting shapes again, after free amounts have changed.
void recount(State& state);

/// Compute the fit counts of all waiting shapes.
void count_fits(State& state);

}  // namespace hpcsched
