#pragma once

#include <functional>
#include <optional>
#include <tuple>
#include <utility>

#include "core/views.hpp"

namespace hpcsched {

/// Predicted run time, sort keys in both orders, and the cause of a refusal or -1.
using Prediction = std::tuple<int64_t, Numbers, Numbers, int64_t>;

/// What a replay asks of Python at the points at which it is needed.
struct Hooks {
    /// Job of the batch that is submitted now.
    std::function<Prediction(int64_t)> predict;

    /// Estimated ends of running jobs that have outlived theirs, by row.
    std::function<Numbers(const Numbers&)> correct;

    /// Rows that are to be held back or released, and when that set changes by itself.
    std::function<std::pair<Numbers, int64_t>()> look;

    /// Whether a job is free that was held back in the last round, and the same time.
    std::function<std::pair<bool, int64_t>()> look_again;

    /// The decision of a round, which is written into the state.
    std::function<void()> decide;

    /// Simulated seconds of a decision, from the number of jobs shown and the real seconds.
    std::function<int64_t(int64_t, double)> charge;

    /// Observers are told of an instant; whether the replay goes on.
    std::function<bool()> pass_instant;
};

}  // namespace hpcsched
