#pragma once

#include "core/views.hpp"

namespace hpcsched {

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
    double cost_at(int64_t job, int64_t start) const;

    /// Return the start of least cost of a job, from `low` on. Lateness only grows. A ratio,
    /// linearised at λ, first falls, where waiting adds to the ratio's denominator by more, and
    /// then grows: the age of each second of the run is weighed by a function that falls up to one
    /// age and grows beyond it. The minimum is found by bisection.
    int64_t cheapest_start(int64_t job, int64_t low) const;
};

}  // namespace hpcsched
