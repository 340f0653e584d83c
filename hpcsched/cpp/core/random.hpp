#pragma once

#include <algorithm>
#include <cmath>

#include "core/portable_math.hpp"
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

    int64_t low() const { return std::min(first, second); }
    int64_t high() const { return std::max(first, second); }

    /// Draw a change of an order of jobs. `front_bias` is the exponent of the uniform number that
    /// selects the first position. A move to the adjacent position is a swap.
    static Change draw(int64_t count, double front_bias, int64_t& state)
    {
        const auto a = static_cast<int64_t>(static_cast<double>(count) *
                                            portable::power(uniform(state), front_bias));
        int64_t b = random_below(count - 1, state);
        if (b >= a) ++b;
        if (uniform(state) < 0.5 || std::max(a, b) - std::min(a, b) == 1)
            return {std::min(a, b), std::max(a, b), true};
        return {a, b, false};
    }

    /// Write the changed order into `trial`, from the first position that changes on.
    void apply(View<const int64_t> order, View<int64_t> trial) const
    {
        std::copy(order.begin() + low(), order.end(), trial.begin() + low());
        if (swaps)
            trial[first] = order[second];
        else if (first < second)
            std::copy(order.begin() + first + 1, order.begin() + second + 1,
                      trial.begin() + first);
        else
            std::copy(order.begin() + second, order.begin() + first, trial.begin() + second + 1);
        trial[second] = order[first];
    }
};

}  // namespace hpcsched
