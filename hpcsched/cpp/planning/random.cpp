#include "planning/random.hpp"

#include <algorithm>
#include <cstdlib>

#include "core/portable_math.hpp"

namespace hpcsched {

Change draw_change(int64_t count, double front_bias, int64_t& state)
{
    const auto a =
        static_cast<int64_t>(static_cast<double>(count) * portable::power(uniform(state), front_bias));
    int64_t b = random_below(count - 1, state);
    if (b >= a) ++b;
    if (uniform(state) < 0.5 || std::abs(a - b) == 1) return {std::min(a, b), std::max(a, b), true};
    return {a, b, false};
}

void apply(const Change& change, View<const int64_t> order, View<int64_t> trial)
{
    const auto [a, b, swaps] = change;
    std::copy(order.begin() + change.low(), order.end(), trial.begin() + change.low());
    if (swaps)
        trial[a] = order[b];
    else if (a < b)
        std::copy(order.begin() + a + 1, order.begin() + b + 1, trial.begin() + a);
    else
        std::copy(order.begin() + b, order.begin() + a, trial.begin() + b + 1);
    trial[b] = order[a];
}

}  // namespace hpcsched
