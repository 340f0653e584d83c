#pragma once

#include <algorithm>
#include <cmath>

#include "planning/start_time_costs.hpp"

namespace hpcsched {

/// Return the number of the first edge that is not before a time.
inline int64_t first_from(View<const int64_t> edges, int64_t time)
{
    return std::lower_bound(edges.begin(), edges.end(), time) - edges.begin();
}

/// Lagrangian multipliers of a resource type: the price of one unit for one second, by time.
struct Multipliers {
    View<const int64_t> edges;  // borders of the pieces of time; outside them the price is 0
    View<const double> rates;  // price within each piece
    View<const double> upto;  // price of one unit from the first edge up to each edge

    /// Return the price of one unit from the first edge until a time in a piece, from -1 on.
    double paid_until(int64_t time, int64_t piece) const
    {
        if (piece < 0) return 0.0;
        if (piece >= rates.size()) return upto[upto.size() - 1];
        return upto[piece] + rates[piece] * static_cast<double>(time - edges[piece]);
    }
};

struct Least {
    double cost;
    int64_t start;
};

/// Return a lower bound of a job's cost plus price, and a start that costs little more.
///
/// From one edge to the next, of its start or its end, the price of the job is linear in the start.
/// Its cost is linear too but for a turn at `free`, or, for a ratio, falls until `cheapest` and
/// then grows; so the least over such a piece is no less than the sum of the least of each.
inline Least least_of(int64_t job, int64_t demand, int64_t cheapest, const StartTimeCosts& costs,
                      const Multipliers& multipliers)
{
    const View<const int64_t> edges = multipliers.edges;
    const int64_t last = edges.size(), run_time = costs.run_times[job];
    int64_t begin = costs.submit[job];
    int64_t of_begin = first_from(edges, begin + 1);
    int64_t of_end = first_from(edges, begin + run_time + 1);
    const auto paid_at = [&](int64_t start) {
        return static_cast<double>(demand) *
               (multipliers.paid_until(start + run_time, of_end - 1) -
                multipliers.paid_until(start, of_begin - 1));
    };
    double paid = paid_at(begin), cost = costs.cost_at(job, begin);
    const bool is_curved = costs.amounts[job] != 0.0;
    Least least{cost + paid, begin};
    while (of_begin < last && !(begin >= cheapest && cost >= least.cost)) {
        int64_t following = edges[of_begin];
        // The price bends where the start passes an edge, and where the end does.
        if (of_end < last) following = std::min(following, edges[of_end] - run_time);
        for (int64_t t = 0; t < costs.term_count(); ++t) {
            const double free = costs.free(t, job);
            if (static_cast<double>(begin) < free && free < static_cast<double>(following))
                following = static_cast<int64_t>(free);
        }
        while (of_begin < last && edges[of_begin] <= following) ++of_begin;
        while (of_end < last && edges[of_end] <= following + run_time) ++of_end;
        const double later_paid = paid_at(following), later_cost = costs.cost_at(job, following);
        double found = later_cost + later_paid;
        if (is_curved) {
            double lowest = std::min(cost, later_cost);
            if (begin < cheapest && cheapest < following) lowest = costs.cost_at(job, cheapest);
            found = lowest + std::min(paid, later_paid);
        }
        if (found < least.cost) least = {found, following};
        begin = following;
        cost = later_cost;
        paid = later_paid;
    }
    if (begin < cheapest) {  // nothing is paid from here on
        const double found = costs.cost_at(job, cheapest);
        if (found < least.cost) least = {found, cheapest};
    }
    return least;
}

/// Return the least cost of jobs that pay multipliers for the resources they use, each by itself,
/// and the size of its terms. `demands` are the units that each job holds, `cheapest` the starts of
/// least cost without multipliers; `used` receives the use of each piece of time, in units ×
/// seconds.
inline std::pair<double, double> least_with_multipliers(View<const int64_t> demands,
                                                        View<const int64_t> cheapest,
                                                        const StartTimeCosts& costs,
                                                        const Multipliers& multipliers,
                                                        View<double> used)
{
    const View<const int64_t> edges = multipliers.edges;
    std::fill(used.begin(), used.end(), 0.0);
    double total = 0.0, size = 0.0;
    for (int64_t job = 0; job < demands.size(); ++job) {
        const Least least = least_of(job, demands[job], cheapest[job], costs, multipliers);
        total += least.cost;
        size += std::abs(least.cost);
        const int64_t begin = least.start, end = begin + costs.run_times[job];
        // Use before the first edge and after the last is free, and not counted.
        int64_t piece = std::max(first_from(edges, begin + 1) - 1, int64_t{0});
        for (; piece + 1 < edges.size() && edges[piece] < end; ++piece) {
            const int64_t overlap =
                std::min(end, edges[piece + 1]) - std::max(begin, edges[piece]);
            if (overlap > 0) used[piece] += static_cast<double>(demands[job] * overlap);
        }
    }
    return {total, size};
}

}  // namespace hpcsched
