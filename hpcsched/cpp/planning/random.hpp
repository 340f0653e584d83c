#pragma once

#include <cmath>

#include "core/views.hpp"

namespace hpcsched {

/// A uniform random number in [0, 1), by xorshift64*; the state, Python's, is never 0.
inline double uniform(int64_t& state)
{
    auto x = static_cast<uint64_t>(state);
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    state = static_cast<int64_t>(x);
    return static_cast<double>((x * 2685821657736338717U) >> 11) / 9007199254740992.0;
}

/// A random integer from 0 to `count` - 1.
inline int64_t random_below(int64_t count, int64_t& state)
{
    return static_cast<int64_t>(uniform(state) * static_cast<double>(count));
}

/// A change of an order: a swap of two jobs, the lower position first, or a move of one from the
/// first position to the second.
struct Change {
    int64_t first;
    int64_t second;
    bool swaps;

    int64_t low() const { return first < second ? first : second; }
    int64_t high() const { return first < second ? second : first; }
};

/// Draw a change of an order of jobs. `front_bias` is the exponent of the uniform number that
/// selects the first position. A move to the adjacent position is a swap.
Change draw_change(int64_t count, double front_bias, int64_t& state);

/// Write a changed order into `trial`, from the first position that changes on.
void apply(const Change& change, View<const int64_t> order, View<int64_t> trial);

}  // namespace hpcsched
