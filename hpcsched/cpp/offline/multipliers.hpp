#pragma once

#include "planning/start_time_costs.hpp"

namespace hpcsched {

/// Lagrangian multipliers of a resource type: the price of one unit for one second, by time.
struct Multipliers {
    View<const int64_t> edges;  // borders of the pieces of time; outside them the price is 0
    View<const double> rates;  // price within each piece
    View<const double> upto;  // price of one unit from the first edge up to each edge

    double paid_until(int64_t time, int64_t piece) const;
};

struct LeastCost {
    double total;
    double size;  // sum of the sizes of its terms
};

/// Return the least cost of jobs that pay multipliers for the resources they use, each by itself.
/// `demands` are the units that each job holds, `cheapest` the starts of least cost without
/// multipliers; `used` receives the use of each piece of time, in units × seconds.
LeastCost least_with_multipliers(View<const int64_t> demands, View<const int64_t> cheapest,
                                 const StartTimeCosts& costs, const Multipliers& multipliers,
                                 View<double> used);

}  // namespace hpcsched
