#pragma once

#include "planning/list_plan.hpp"

namespace hpcsched {

/// Budget and moves of a search.
struct Effort {
    int64_t budget;  // segments looked through, in making plans, at which the search ends
    double front_bias;  // how much more often moves take a job from the front of the order
};

struct FoundOrder {
    double cost;
    bool is_proved;  // no order can cost less
};

/// Search for the order with the cheapest list plan, and write it.
///
/// The search begins with the best of `orders`, `[K, J]`. Up to 7 jobs are searched through whole:
/// all orders, but those that begin in a way that costs too much already. An order of more is
/// changed again and again, and what does not cost more is gone on from, until the budget is used
/// or every change of that order was tried.
FoundOrder search_orders(Matrix<const int64_t> orders, const ModelJobs& jobs,
                         const FreeResources& free, const StartTimeCosts& costs,
                         const Effort& effort, int64_t& random, View<int64_t> best_order);

}  // namespace hpcsched
