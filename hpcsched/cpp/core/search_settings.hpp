#pragma once

#include <optional>
#include <unordered_map>

#include "planning/start_time_costs.hpp"

namespace hpcsched {

/// What the wait of a job is weighed by: nothing, its area, or one over its run time.
enum class Weight { none, area, run_time };

/// A term of an objective: factor · weight · wait, the mean over jobs, or the sum over shares of
/// the area. Waiting costs nothing while the response time is less than `tau` seconds.
struct CostTerm {
    Weight weight;
    double factor;
    int64_t tau;
};

/// What `order_search` minimises, and how it searches. Python documents the settings.
struct SearchSettings {
    std::vector<CostTerm> terms;
    double makespan = 0.0;  // cost of a second of the last end
    std::optional<double> alpha;  // of a ratio of sums, which then stands for all terms
    double dinkelbach_parameter = 1.0;  // as a share of the ratio so far
    double discount_time_constant = 0.0;  // 0: waits count in full
    double area_exponent = 0.0;
    double front_bias = 1.0;
    double hold = 0.0;  // see `hold_large`; 0: no job is held
    bool warm_start = false;
    int64_t budget = 0;
    int64_t queue_length = 1;
    int64_t seed = 0;
};

/// What `order_search` knows of earlier rounds.
struct SearchMemory {
    int64_t random = 1;  // state of the random numbers, never 0
    double upper = 0.0;  // sums of the ratio over the jobs started so far
    double lower = 0.0;
    std::unordered_map<int64_t, int64_t> places;  // of jobs in the best order, by number
    Numbers ends;  // of the jobs that ran after the last round, ascending
    double pressure = 0.0;  // decayed mean of the weight that waits, and when it was computed
    int64_t pressed = 0;
    std::optional<OwnedCosts> given;  // by Python, for the queued jobs of this round, `[Q]`
    bool is_kept = false;  // whether that order is to be kept while all ends are as told
};

}  // namespace hpcsched
