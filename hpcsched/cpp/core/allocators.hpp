#pragma once

#include "core/state.hpp"

namespace hpcsched {

/// Place units on nodes in ascending order of numbers, as many on each as fit, `[N]`; added to.
void fill_by_number(int64_t units, View<const int64_t> fits, View<int64_t> placed);

/// Place units on nodes in ascending order of ranks, `[K, N]`, compared one after the other, then
/// by number. There must be room for the units.
void fill_by_rank(int64_t units, View<const int64_t> fits, Matrix<const double> ranks,
                  View<int64_t> placed);

/// Return the allocator's placement of units of a shape, `[N]`, given the units that fit on each
/// node and the free amounts, `[R, N]`. Python documents the allocators.
Numbers place_units(const State& state, Allocator allocator, int64_t shape, int64_t units,
                    View<const int64_t> fits, Matrix<const int64_t> available,
                    View<const double> pressure);

}  // namespace hpcsched
