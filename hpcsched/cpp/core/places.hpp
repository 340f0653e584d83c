#pragma once

#include <tuple>

#include "core/state.hpp"

namespace hpcsched {

/// Places of jobs: lists of cells, and intervals of free slots, which ascend and do not touch.

/// Return a new cell with these numbers and without a successor.
int64_t add_cell(State& state, int64_t first, int64_t second, int64_t devices = 0);

/// Nodes, units on each, and the devices of a unit, as parts; 0 for none.
using UnitPlaces = std::vector<std::tuple<int64_t, int64_t, int64_t>>;

/// Return the first of new cells that hold places in their order; -1 without any.
int64_t add_cells(State& state, const UnitPlaces& places);

/// Free a list of cells.
void drop_cells(State& state, int64_t first);

/// Take the lowest free slots; return the first cell of their intervals.
int64_t take_lowest_slots(State& state, int64_t units);

/// Free the slots of a list of cells, and the cells.
void give_slots_back(State& state, int64_t first);

/// Append the nodes of a list of cells and the units on each; units with devices one by one.
void write_places(const State& state, int64_t first, Places& places);

}  // namespace hpcsched
