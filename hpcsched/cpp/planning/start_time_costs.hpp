#pragma once

#include <cmath>

#include "core/portable_math.hpp"
#include "core/views.hpp"

namespace hpcsched {

/// Search range, in seconds, for the start at which a job's cost is least.
constexpr int64_t farthest = int64_t{1} << 40;

/// Return (wait + run_time)^power − wait^power, precise after long waits too.
inline double power_difference(double wait, double run_time, double power)
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

/// Start-time cost functions of `J` jobs, in seconds.
///
/// The cost of a job is Σ weights[t, j] · late[t] with late[t] = max(start − free[t, j], 0), and,
/// for a ratio of sums, amounts[j] · ((α+1)/(α+2) · (F^(α+2) − Q^(α+2)) − λ · (F^(α+1) − Q^(α+1)))
/// with Q = start − submit[j] and F = Q + run_times[j]. With a discount time constant τ, lateness
/// is discounted: τ · (1 − exp(−late / τ)). To the sum over jobs is added makespan · last end.
struct StartTimeCosts {
    Matrix<const double> weights;  // [T, J]
    Matrix<const double> free;  // [T, J]
    double makespan;
    double discount_time_constant;
    double alpha;
    double dinkelbach_parameter;
    View<const double> amounts;  // 0: the job's cost is its lateness alone
    View<const int64_t> submit;
    View<const int64_t> run_times;

    int64_t term_count() const { return weights.rows(); }

    /// Return the cost of a job at a start.
    double cost_at(int64_t job, int64_t start) const
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

    /// Return the start of least cost of a job, from `low` on. Lateness only grows. A ratio,
    /// linearised at λ, first falls, where waiting adds to the ratio's denominator by more, and
    /// then grows: the age of each second of the run is weighed by a function that falls up to one
    /// age and grows beyond it. The minimum is found by bisection.
    int64_t cheapest_start(int64_t job, int64_t low) const
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
};

/// Start-time cost functions with memory of their own.
struct OwnedCosts {
    Table<double> weights;
    Table<double> free;
    double makespan = 0.0;
    double discount_time_constant = 0.0;
    double alpha = 0.0;
    double dinkelbach_parameter = 0.0;
    std::vector<double> amounts;
    Numbers submit;
    Numbers run_times;

    /// Return the functions of some of the jobs.
    OwnedCosts of(View<const int64_t> jobs) const
    {
        const int64_t terms = weights.rows(), count = jobs.size();
        OwnedCosts found{Table<double>(terms, count), Table<double>(terms, count), makespan,
                         discount_time_constant, alpha, dinkelbach_parameter, {}, {}, {}};
        for (int64_t k = 0; k < count; ++k) {
            for (int64_t t = 0; t < terms; ++t) {
                found.weights(t, k) = weights(t, jobs[k]);
                found.free(t, k) = free(t, jobs[k]);
            }
            found.amounts.push_back(amounts[jobs[k]]);
            found.submit.push_back(submit[jobs[k]]);
            found.run_times.push_back(run_times[jobs[k]]);
        }
        return found;
    }

    operator StartTimeCosts() const
    {
        return {weights, free, makespan, discount_time_constant, alpha, dinkelbach_parameter,
                amounts, submit, run_times};
    }
};

}  // namespace hpcsched
