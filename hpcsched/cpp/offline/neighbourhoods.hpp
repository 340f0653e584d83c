#pragma once

#include "planning/list_plan.hpp"

namespace hpcsched {

/// One pass of large neighbourhood search over jobs: each is planned anew, together with its
/// neighbourhood.
struct Pass {
    View<const int64_t> seeds;  // jobs to look around
    int64_t width;  // number of jobs that are planned anew together
    int64_t budget;  // number of segments that may be looked through
    int64_t& random;  // state of the random numbers
};

/// The plan of a whole trace.
struct TracePlan {
    View<int64_t> order;  // the jobs by start
    View<int64_t> starts;
    Matrix<int64_t> placed;  // [J, N]
};

/// Look for a better plan in the neighbourhood of each seed; return the rest of the budget.
///
/// All jobs but a few that start near each other keep their starts and nodes. The few are planned
/// anew, in many orders, beside the others and not before their submissions. What they cost
/// together is known exactly, so a change is kept just where it makes the whole plan better.
/// `least` is the least cost of each job.
int64_t search_neighbourhoods(const Pass& pass, const ModelJobs& jobs,
                              const StartTimeCosts& costs, View<const double> least,
                              const TracePlan& plan);

}  // namespace hpcsched
