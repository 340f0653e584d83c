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

/// The same for units of a shape.
Placement place_units(const State& state, Allocator allocator, int64_t shape, int64_t units,
                      const NodeRuns& runs, View<const int64_t> fits,
                      View<const double> pressure);

}  // namespace hpcsched
