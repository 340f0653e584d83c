#include "planning/start_time_costs.hpp"

#include <cmath>

#include "core/portable_math.hpp"

namespace hpcsched {

namespace {

/// Search range, in seconds, for the start at which a job's cost is least.
constexpr int64_t farthest = int64_t{1} << 40;

/// Return (wait + run_time)^power − wait^power, precise after long waits too.
double power_difference(double wait, double run_time, double power)
{
    const double response = wait + run_time;
    // A difference of large powers loses all digits; a product of sums loses none.
    if (power == std::floor(power)) {
        double total = 1.0, wait_power = 1.0;
        for (auto k = static_cast<int64_t>(power) - 1; k > 0; --k) {
            wait_power *= wait;
            total = total * response + wait_power;
        }
        return run_time * total;
    }
    if (response == 0.0) return 0.0;
    return -portable::power(response, power) *
           portable::expm1(power * portable::log1p(-run_time / response));
}

}  // namespace

double StartTimeCosts::cost_at(int64_t job, int64_t start) const
{
    double cost = 0.0;
    for (int64_t t = 0; t < weights.rows(); ++t) {
        double late = static_cast<double>(start) - free(t, job);
        if (!(late > 0.0)) continue;
        if (discount_time_constant > 0.0)
            late = -discount_time_constant * portable::expm1(-late / discount_time_constant);
        cost += weights(t, job) * late;
    }
    if (amounts[job] == 0.0) return cost;
    const double a = alpha + 1.0;
    const auto wait = static_cast<double>(start - submit[job]);
    const auto run_time = static_cast<double>(run_times[job]);
    const double high = power_difference(wait, run_time, a + 1.0);
    const double low = power_difference(wait, run_time, a);
    return cost + amounts[job] * (a / (a + 1.0) * high - dinkelbach_parameter * low);
}

int64_t StartTimeCosts::cheapest_start(int64_t job, int64_t low) const
{
    if (amounts[job] == 0.0 || dinkelbach_parameter <= 0.0) return low;
    const auto falls_at = [&](int64_t start) {
        return cost_at(job, start + 1) < cost_at(job, start);
    };
    const int64_t first = low;
    int64_t high = low + 1, step = 1;
    while (step < farthest && falls_at(high)) {
        // Doubling first: the minimum is mostly near, but can be days after a long wait.
        step *= 2;
        high = first + step;
    }
    while (low < high) {
        const int64_t middle = floor_divide(low + high, 2);
        if (falls_at(middle))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

}  // namespace hpcsched
