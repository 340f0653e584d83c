#pragma once

#include "core/state.hpp"

namespace hpcsched {

/// Place units in rooms, spans with the units that fit on each node, in their order.
Placement fill_by_number(int64_t units, View<const Span> rooms);

/// Place units in rooms, which ascend, in ascending order of ranks, `[K, rooms]`, compared one
/// after the other, then by number. There must be room for the units.
Placement fill_by_rank(int64_t units, View<const Span> rooms, Matrix<const double> ranks);

/// Return the allocator's placement of units that ask for so much, given the free amounts of nodes
/// by runs and the units that fit on each node of each run. Python documents the allocators.
Placement place_units(Allocator allocator, const std::vector<bool>& scarce, Capacity capacity,
                      View<const int64_t> asked, int64_t units, const NodeRuns& runs,
                      View<const int64_t> fits, View<const double> pressure);

/// Return the allocator's placement of the job of a row, whose shape may be one of later starts,
/// and its devices.
Placement place_on(State& state, int64_t row, Allocator allocator, int64_t shape,
                   const NodeRuns& runs, const Numbers& fits, View<const double> pressure);

/// Return a placement of units of a shape with devices on nodes, given the free amounts of these.
/// Of equal nodes with one unit each, all take the same.
Placement with_devices(const State& state, int64_t shape, Placement placed, const NodeRuns& runs);

}  // namespace hpcsched
