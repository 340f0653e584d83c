#pragma once

#include "core/state.hpp"

namespace hpcsched {

/// Places of jobs: lists of cells, and intervals of free slots, which ascend and do not touch.

/// Return a new cell with two numbers and without a successor.
int64_t add_cell(State& state, int64_t first, int64_t second);

/// Free a list of cells.
void drop_cells(State& state, int64_t first);

/// Take the lowest free slots; return the first cell of their intervals.
int64_t take_lowest_slots(State& state, int64_t units);

/// Free the slots of a list of cells, and the cells.
void give_slots_back(State& state, int64_t first);

/// Write the nodes of a list of cells and the units on each, from position `at` on; return the
/// position behind the last.
int64_t write_places(const State& state, int64_t first, int64_t at, View<int32_t> nodes,
                     View<int32_t> units);

}  // namespace hpcsched
